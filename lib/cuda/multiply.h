/* multiply.h - a product of a few columns with what stands behind it */
#ifndef CUDA_MULTIPLY_H
#define CUDA_MULTIPLY_H

#include "cuda/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_SIBLINGS 2

/* mul_mat, of few columns, see cuda_few_columns(), and, unless NULL: `add`,
 * F32, of the product and a tensor of its shape or one row; or `glu` of the
 * product and `second`, another of the same shapes, types and strides; or
 * siblings, products of the same columns with other matrices, of as long rows
 * of the same type, and what is added to each. */
struct cuda_product {
    struct ggml_tensor *mul_mat, *add, *second, *glu;
    struct {
        struct ggml_tensor *mul_mat, *add;
    } siblings[CUDA_SIBLINGS];
};

/* Where a launch stores its result once more, as the product behind it wants
 * it; data NULL: nowhere. See also.h. */
struct cuda_also {
    void *data;
    int type;       /* GGML_TYPE_Q8_1: see quantize.h; or GGML_TYPE_BF16 */
    int64_t k;      /* values of a column */
    int64_t stride; /* bytes */
};

/* For x, which a launch is about to write, and the node that comes after it, or
 * NULL. `bytes`: it can make eight bits, too. */
struct cuda_also
cuda_also_for(struct cuda_ctx *c, const struct ggml_tensor *x,
              const struct ggml_tensor *next, bool bytes);

/* ROPE of keys, which SET_ROWS puts into a cache and nothing else reads;
 * SET_ROWS of values; ROPE of queries, by the same positions. One batch. */
struct cuda_turns {
    struct ggml_tensor *keys, *set_keys, *set_values, *queries;
};

void
cuda_run_turns(struct cuda_ctx *c, const struct cuda_turns *t);

/* GLU, and FLASH_ATTN_EXT, before `next` or NULL. `only`: nothing else reads
 * the result. */
void
cuda_run_gate(struct cuda_ctx *c, struct ggml_tensor *dst,
              const struct ggml_tensor *next, bool only);
void
cuda_run_attend(struct cuda_ctx *c, struct ggml_tensor *dst,
                const struct ggml_tensor *next);

/* FLASH_ATTN_EXT of n sequences, of any numbers of tokens and keys; dst, in one
 * piece and at a multiple of 16, has their results one behind the other, and
 * may lie over what they read. Whether a node can be one of them, and how many
 * bytes of scratch memory it may need. */
bool
cuda_can_attend_each(const struct ggml_tensor *dst);
int64_t
cuda_each_bytes(const struct cuda_ctx *c, const struct ggml_tensor *dst);
void
cuda_run_each(struct cuda_ctx *c, struct ggml_tensor *const *each, int n,
              struct ggml_tensor *dst, const struct ggml_tensor *next);

void
cuda_run_product(struct cuda_ctx *c, const struct cuda_product *p);

#ifdef __cplusplus
}
#endif

#endif
