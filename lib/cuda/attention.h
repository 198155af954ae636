/* attention.h - FLASH_ATTN_EXT: arguments of its kernels
 *
 * q [d, tokens, heads, batch], k [d, keys, KV heads, batch], v [e, keys, KV
 * heads, batch], mask [keys, >= tokens, ...] F16; dst [e, heads, tokens,
 * batch]. */
#ifndef CUDA_ATTENTION_H
#define CUDA_ATTENTION_H

#include "cuda/fused_ops.h"
#include "cuda/attention_scores.h"
#include "cuda/tensor_view.h"

#define CUDA_ATTENTION_MAX_WIDTH 640 /* values */

struct attention {
    struct view q, k, v, mask, sinks, dst;
    bool has_mask, has_sinks;
    float scale, max_bias, softcap;
    int64_t gqa_heads;              /* query heads of a KV head */
    struct cuda_fused_output fused; /* of dst */
};

/* Batched sequences: what differs between them; the rest is in struct
 * attention. Where there are several, each is one batch, and its mask one
 * matrix. */
#define SEQUENCES 32 /* of a launch; a power of two */

struct sequence {
    const char *q, *k, *v, *mask; /* mask NULL: all keys are visible */
    char *dst;
    int64_t tokens, keys, mask_stride;
    int64_t first_row;  /* of the concatenated results */
    int64_t first_item; /* of the launch */
    int64_t first_slot; /* of partial results, or of mask blocks */
    int64_t splits;     /* of its keys */
};

template <int N> struct sequences {
    int n; /* 0: there is one, as struct attention has it */
    struct sequence all[N];
};

static_assert(sizeof(struct attention) + sizeof(struct sequences<SEQUENCES>) <
                  4000,
              "a launch has 4 KiB of arguments");

/* The last sequence whose `first` is n or less: the one that item n of the
 * launch, or mask block n, belongs to. */
template <int64_t sequence::*first, int N>
DEVICE const struct sequence *
cuda_sequence_at(const struct sequences<N> *s, int64_t n)
{
    int i = 0;

    UNROLL for (int step = N / 2; step; step /= 2)
    {
        if (i + step < s->n && n >= s->all[i + step].*first)
            i += step;
    }
    return &s->all[i];
}

/* The byte offset of the matrix of keys or values that query head `head` of
 * batch `batch` attends to. */
DEVICE int64_t
cuda_kv_offset(const struct attention *a, const struct view *x, int64_t head,
               int64_t batch)
{
    return head / (a->q.ne[2] / x->ne[2]) * x->nb[2] +
           batch / (a->q.ne[3] / x->ne[3]) * x->nb[3];
}

/* The byte offset of the matrix of the mask for that head and batch. */
DEVICE int64_t
cuda_mask_offset(const struct attention *a, int64_t head, int64_t batch)
{
    return cuda_modulo(head, a->mask.ne[2]) * a->mask.nb[2] +
           cuda_modulo(batch, a->mask.ne[3]) * a->mask.nb[3];
}

DEVICE float
cuda_cap_score(const struct attention *a, float s)
{
    return a->softcap != 0 ? tanhf(s) * a->softcap : s;
}

DEVICE float
cuda_sink_of(const struct attention *a, int64_t head)
{
    return a->has_sinks ? cuda_load_element(&a->sinks, a->sinks.data, head)
                        : -INFINITY;
}

/* Whether keys or values are F16, aligned to 16 bytes, or can be converted: an
 * F32 cache keeps its precision, and a very long one is not copied. */
bool
cuda_kv_can_be_f16(const struct view *x);

/* Whether they are already. */
bool
cuda_kv_is_f16(const struct view *x);

/* Replaces the view x by one of contiguous F16 in scratch memory, unless it is
 * F16 already; false: there was no memory. */
bool
cuda_kv_to_f16(struct cuda_ctx *c, struct view *x);

/* Whether cuda_attention_mma() applies: enough queries; keys and values of some
 * widths that are F16 or can be converted. */
bool
cuda_attention_mma_supports(const struct cuda_ctx *c,
                            const struct attention *a);

/* Keys and values are as cuda_kv_to_f16() leaves them; s: one at least, of
 * which first_item and first_slot are not set yet. a->fused is of BF16. */
void
cuda_attention_mma(struct cuda_ctx *c, const struct attention *a,
                   struct sequences<SEQUENCES> *s);

#endif
