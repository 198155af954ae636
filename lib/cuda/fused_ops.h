/* fused_ops.h - several nodes of a graph as one launch: what fuse.c calls */
#ifndef CUDA_FUSED_OPS_H
#define CUDA_FUSED_OPS_H

#include "cuda/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_SIBLINGS 2

/* MUL_MAT of a small batch, see cuda_small_batch_columns(), with a fused
 * epilogue; each unless NULL: `add`, F32, of the product and a tensor of its
 * shape or a bias row; or `glu` of the product and `second`, a product with
 * weights of the same shape, type and strides; or siblings, products of the
 * same columns with other weights of the same row length and type (q, k and v),
 * and what is added to each. */
struct cuda_fused_matmul {
    struct ggml_tensor *mul_mat, *add, *second, *glu;
    struct {
        struct ggml_tensor *mul_mat, *add;
    } siblings[CUDA_SIBLINGS];
};

/* Where a launch stores its result a second time, in the type that the next
 * matrix product reads; data NULL: nowhere. See fused_output.h. */
struct cuda_fused_output {
    void *data;
    int type;       /* GGML_TYPE_Q8_1: see quantize.h; or GGML_TYPE_BF16 */
    int64_t k;      /* values of a column */
    int64_t stride; /* bytes */
};

/* Plans that for x, which the next launch writes, and the node after it, or
 * NULL. `bytes`: the launch can quantise to 8 bits, too, not only to BF16. */
struct cuda_fused_output
cuda_plan_fused_output(struct cuda_ctx *c, const struct ggml_tensor *x,
                       const struct ggml_tensor *next, bool bytes);

/* ROPE of keys, which SET_ROWS stores to the KV cache and nothing else reads;
 * SET_ROWS of values; ROPE of queries, at the same positions. One batch. */
struct cuda_fused_rope {
    struct ggml_tensor *keys, *set_keys, *set_values, *queries;
};

void
cuda_run_fused_rope(struct cuda_ctx *c, const struct cuda_fused_rope *t);

/* GLU, and FLASH_ATTN_EXT, with fused output for `next`, or NULL. `only`: no
 * other node reads the result. */
void
cuda_run_fused_glu(struct cuda_ctx *c, struct ggml_tensor *dst,
                   const struct ggml_tensor *next, bool only);
void
cuda_run_fused_attention(struct cuda_ctx *c, struct ggml_tensor *dst,
                         const struct ggml_tensor *next);

/* FLASH_ATTN_EXT of n sequences, of any numbers of tokens and keys, batched;
 * dst, contiguous and aligned to 16 bytes, receives their concatenated results,
 * and may overlap what they read. Whether a node can be batched, and how many
 * bytes of scratch memory it may need. */
bool
cuda_attention_batch_supports(const struct ggml_tensor *dst);
int64_t
cuda_attention_batch_bytes(const struct cuda_ctx *c,
                           const struct ggml_tensor *dst);
void
cuda_run_attention_batch(struct cuda_ctx *c, struct ggml_tensor *const *each,
                         int n, struct ggml_tensor *dst,
                         const struct ggml_tensor *next);

void
cuda_run_fused_matmul(struct cuda_ctx *c, const struct cuda_fused_matmul *p);

#ifdef __cplusplus
}
#endif

#endif
