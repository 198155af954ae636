/* attention_mma.h - tiling of tensor-core attention, and mask-block
 * summaries */
#ifndef CUDA_ATTENTION_MMA_H
#define CUDA_ATTENTION_MMA_H

#include "cuda/attention.h"

#define MMA_WARPS    4
#define BLOCK_TOKENS (MMA_WARPS * 16) /* of a block */

/* Summary of a mask block: all hidden, all visible (zero), or mixed. */
enum {
    MASK_HIDDEN = 0,
    MASK_VISIBLE = 1,
    MASK_MIXED = 2
};

DEVICE int64_t
cuda_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Blocks of a sequence's tokens. */
HOST_DEVICE int64_t
cuda_token_blocks(const struct sequence *s)
{
    return (s->tokens + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
}

/* Tiles of its keys, `keys` each. */
HOST_DEVICE int64_t
cuda_kv_tiles(const struct sequence *s, int keys)
{
    return (s->keys + keys - 1) / keys;
}

DEVICE uint16_t
cuda_load_f16_bits(const char *row, int64_t i)
{
    return ((const uint16_t *)(const void *)row)[i];
}

/* Summarises the masks of all sequences: one of the above for each block of
 * BLOCK_TOKENS rows and 32 or 64 keys of each matrix of each mask, n in all,
 * those of a sequence from its first_slot on. */
void
cuda_summarize_mask(struct cuda_ctx *c, const struct attention *a,
                    const struct sequences<SEQUENCES> *s, int keys,
                    uint8_t *mask_blocks, int64_t n);

#endif
