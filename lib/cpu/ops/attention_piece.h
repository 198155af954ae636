/* attention_piece.h - one piece of attention: some queries with all keys and
 * values */
#ifndef CPU_OPS_ATTENTION_PIECE_H
#define CPU_OPS_ATTENTION_PIECE_H

#include "cpu/ops/mask_summary.h"
#include "cpu/exec/task.h"
#include "tensor/sparse.h"

#define KEYS TENSOR_PART_KEYS /* in a block */

/* The scratch of one thread. */
struct attention_scratch {
    float *queries;             /* rows x d, scaled */
    float *scores;              /* rows x KEYS */
    float *sums;                /* rows x e */
    float *max, *total, *slope; /* of each row; slope: ALiBi's */
    mask_block *mask_block;     /* of each row, of the block */
    const uint16_t **masks;     /* of each row */
    const mask_block *
        *summaries; /* of each row, of all blocks, where they are known */
    float *floats;  /* KEYS x d or e */
    float *keys;    /* d x n_keys */
};

struct attention {
    const struct ggml_tensor *q, *k, *v, *mask, *sinks;
    /* Keys in parts: what was kept of those before, or NULL; and whether dst
     * keeps what it has for others. */
    const struct ggml_tensor *before;
    bool more;
    struct ggml_tensor *dst;
    float scale, max_bias, softcap;
    int64_t group;  /* heads that share keys and values */
    int64_t tokens; /* of a piece */
    int64_t blocks; /* of `tokens` tokens */
    size_t d, e;    /* floats between rows of q and k, of v, */
    size_t n_keys;  /* and of transposed keys: KEYS at least */
    /* The mask-block summaries of each row of the mask, rows so far apart;
     * or NULL. */
    mask_block *summaries;
    size_t summaries_row;
};

/* The queries of a piece. */
struct queries {
    int64_t head, n_heads, first, n_tokens, batch;
    int64_t rows;
    int64_t begin, end; /* rows to which any of the block is visible */
};

static inline const uint16_t *
cpu_attention_mask(const struct attention *a, struct cpu_row r)
{
    return (const uint16_t *)(const void *)cpu_row_data(a->mask, r);
}

/* Prefetches the keys and values that a token's piece reads first. */
void
cpu_attention_prefetch(const struct attention *a, const struct queries *qs);

/* Computes the rows of qs. `next`: what the thread goes on with, or NULL. */
void
cpu_attention_piece(const struct cpu_task *t, const struct attention *a,
                    struct queries *qs, const struct queries *next,
                    struct attention_scratch *scratch);

#endif
