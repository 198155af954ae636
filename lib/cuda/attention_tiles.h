/* attention_tiles.h - blocks of tokens, tiles of keys, and what is seen of them
 */
#ifndef CUDA_ATTENTION_TILES_H
#define CUDA_ATTENTION_TILES_H

#include "cuda/attention.h"

#define WARPS  4
#define TOKENS (WARPS * 16) /* of a block */

/* What some tokens see of a tile: nothing, all as it is, or what a mask says.
 */
enum {
    HIDDEN = 0,
    SEEN = 1,
    MASKED = 2
};

DEVICE int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Blocks of a sequence's tokens. */
HOST_DEVICE int64_t
blocks_of(const struct sequence *s)
{
    return (s->tokens + TOKENS - 1) / TOKENS;
}

/* Tiles of its keys, `keys` each. */
HOST_DEVICE int64_t
tiles_of(const struct sequence *s, int keys)
{
    return (s->keys + keys - 1) / keys;
}

DEVICE uint16_t
load_half(const char *row, int64_t i)
{
    return ((const uint16_t *)(const void *)row)[i];
}

/* Looks at the masks of all sequences, in tiles of 32 or 64 keys: a number of
 * the above for each tile of each TOKENS rows of each matrix of each mask, n in
 * all, those of a sequence from its first_found on. */
void
cuda_look(struct cuda_ctx *c, const struct attention *a,
          const struct sequences<SEQUENCES> *s, int keys, uint8_t *looks,
          int64_t n);

#endif
