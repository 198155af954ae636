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

/* Sequences that are computed together: what each has of its own; the rest is
 * as struct attention says. Where there are several, each is one batch, and its
 * mask one matrix. */
#define SEQUENCES 32 /* of a launch; a power of two */

struct sequence {
    const char *q, *k, *v, *mask; /* mask NULL: all is seen */
    char *dst;
    int64_t tokens, keys, mask_stride;
    int64_t first_row;   /* of all results, one behind the other */
    int64_t first_item;  /* of the launch */
    int64_t first_found; /* of parts of rows, or of looks */
    int64_t parts;       /* of the keys */
};

template <int N> struct sequences {
    int n; /* 0: there is one, as struct attention has it */
    struct sequence all[N];
};

static_assert(sizeof(struct attention) + sizeof(struct sequences<SEQUENCES>) <
                  4000,
              "a launch has 4 KiB of arguments");

/* The last sequence of which `first` is n or less: whose item of the launch, or
 * whose look, number n is. */
template <int64_t sequence::*first, int N>
DEVICE const struct sequence *
find_sequence(const struct sequences<N> *s, int64_t n)
{
    int i = 0;

    UNROLL for (int step = N / 2; step; step /= 2)
    {
        if (i + step < s->n && n >= s->all[i + step].*first)
            i += step;
    }
    return &s->all[i];
}

/* Where the matrix of keys or values that head `head` of batch `batch` sees
 * begins, in bytes behind the first. */
DEVICE int64_t
matrix_at(const struct attention *a, const struct view *x, int64_t head,
          int64_t batch)
{
    return head / (a->q.ne[2] / x->ne[2]) * x->nb[2] +
           batch / (a->q.ne[3] / x->ne[3]) * x->nb[3];
}

/* The same of the mask. */
DEVICE int64_t
mask_at(const struct attention *a, int64_t head, int64_t batch)
{
    return modulo(head, a->mask.ne[2]) * a->mask.nb[2] +
           modulo(batch, a->mask.ne[3]) * a->mask.nb[3];
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

/* Whether they are already. */
bool
cuda_are_halves(const struct view *x);

/* Puts x, as contiguous F16s, in its own place; false: there was no memory. */
bool
cuda_make_halves(struct cuda_ctx *c, struct view *x);

/* Whether tensor cores can: many queries; keys and values, of some widths,
 * that are F16 or can be made so. */
bool
cuda_can_attend_tiles(const struct cuda_ctx *c, const struct attention *a);

/* Keys and values are as cuda_make_halves() leaves them; s: one at least, of
 * which first_item and first_found are not set yet. a->also is of BF16. */
void
cuda_attend_tiles(struct cuda_ctx *c, const struct attention *a,
                  struct sequences<SEQUENCES> *s);

#endif
