/* attention.h - FLASH_ATTN_EXT, as its kernels see it
 *
 * q [d, tokens, heads, batch], k [d, keys, kv heads, batch], v [e, keys, kv
 * heads, batch], mask [keys, >= tokens, ...] F16; dst [e, heads, tokens,
 * batch]. */
#ifndef CUDA_ATTENTION_H
#define CUDA_ATTENTION_H

#include "cuda/multiply.h"
#include "cuda/scores.h"
#include "cuda/view.h"

#define CUDA_ATTEND_WIDEST 640 /* values */

struct attention {
    struct view q, k, v, mask, sinks, dst;
    bool has_mask, has_sinks;
    float scale, max_bias, softcap;
    int64_t group;         /* heads that share keys and values */
    struct cuda_also also; /* dst once more */
};

/* The matrix of keys or values that head `head` of batch `batch` sees. */
DEVICE const char *
matrix_of(const struct attention *a, const struct view *x, int64_t head,
          int64_t batch)
{
    return x->data + head / (a->q.ne[2] / x->ne[2]) * x->nb[2] +
           batch / (a->q.ne[3] / x->ne[3]) * x->nb[3];
}

DEVICE const uint16_t *
mask_row(const struct attention *a, struct row of_q)
{
    return (const uint16_t *)(const void *)row_data(&a->mask,
                                                    row_wrap(&a->mask, of_q));
}

DEVICE float
cap_score(const struct attention *a, float s)
{
    return a->softcap != 0 ? tanhf(s) * a->softcap : s;
}

DEVICE float
sink_of(const struct attention *a, int64_t head)
{
    return a->has_sinks ? load_element(&a->sinks, a->sinks.data, head)
                        : -INFINITY;
}

/* Whether keys or values are F16s that can be copied by 16 bytes, or can be
 * made so: what a cache of floats has of precision is left to it, and a very
 * long one is not held twice. */
bool
cuda_can_be_halves(const struct view *x);

/* Puts x, as contiguous F16s, in its own place; false: there was no memory. */
bool
cuda_make_halves(struct cuda_ctx *c, struct view *x);

/* With tensor cores: many queries; keys and values in F16, of some widths;
 * `next` is the node after dst, or NULL. False: others have to do it. */
bool
cuda_attend_tiles(struct cuda_ctx *c, const struct attention *a,
                  const struct ggml_tensor *dst,
                  const struct ggml_tensor *next);

#endif
