/* shapes.h - shapes of launches, and how work is cut: plain functions
 *
 * Without CUDA, so that tests of the host cover them. Sizes are 64 bits wide
 * throughout; a grid is capped, and kernels loop over what is left. */
#ifndef CUDA_SHAPES_H
#define CUDA_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUDA_THREADS     256       /* of most blocks */
#define CUDA_MOST_BLOCKS (1 << 20) /* far below the limit of 2^31 - 1 */

/* Blocks for `items`, an item a block. */
static inline unsigned
cuda_blocks(int64_t items)
{
    return items < 1                  ? 1
           : items > CUDA_MOST_BLOCKS ? CUDA_MOST_BLOCKS
                                      : (unsigned)items;
}

static inline int64_t
cuda_pieces(int64_t n, int64_t each)
{
    return (n + each - 1) / each;
}

/* Threads of a block that goes over rows of n elements: whole warps, as many
 * as are of use. Kernels that are given so many must be compiled for the most:
 * their registers have to suffice. */
#define CUDA_MOST_THREADS 1024
static inline unsigned
cuda_row_threads(int64_t n)
{
    return n <= 64     ? 32
           : n <= 512  ? 128
           : n <= 2048 ? 256
           : n <= 4096 ? 512
                       : 1024;
}

/* The same where a row is waited for: two elements a thread, if that can be. */
static inline unsigned
cuda_norm_threads(int64_t n)
{
    return n >= 2 * CUDA_MOST_THREADS ? CUDA_MOST_THREADS
                                      : (unsigned)((n + 63) / 64 * 32);
}

/* -- Products -- */
/* How many columns go to the kernels for few: they read a byte or less a
 * weight from memory, and again from the cache for each 8 or 32 columns; cuBLAS
 * wants blocks opened first, at five to nine bytes a weight. */
static inline int64_t
cuda_few_columns(bool blocks)
{
    return blocks ? 64 : 8;
}

/* How many of `rows` rows of k weights are opened at a time, two or four bytes
 * a weight, within about `bytes`: all, or a multiple of 64. */
static inline int64_t
cuda_open_tile(int64_t k, int64_t rows, int64_t bytes)
{
    int64_t n = bytes / 4 / (k < 1 ? 1 : k) / 64 * 64;

    n = n < 64 ? 64 : n;
    return n < rows ? n : rows;
}

/* At most so many tiles of `each` columns hold `pairs` columns of which each
 * meets one of `matrices`. */
static inline int
cuda_most_tiles(int pairs, int matrices, int each)
{
    int whole = pairs / each;

    return whole + (matrices < pairs ? matrices : pairs);
}

/* -- Attention -- */
/* Into how many parts a token's heads are cut, of `each` heads or more: blocks
 * of many tokens do more for the angles that they work out. */
static inline int64_t
cuda_turn_parts(int64_t n_tokens, int64_t heads, int64_t each, int64_t n_sm)
{
    return n_tokens >= 4 * n_sm ? 1 : cuda_pieces(heads, each);
}

/* Keys of a part; parts are fixed, so that what a query is answered does not
 * depend on how many hidden keys follow those that it sees. */
#define CUDA_PART 64

/* Parts that are computed side by side and combined in order; one that has
 * all keys where there are enough queries to keep a device busy. Fewer may be
 * of as many sequences, of which each sees few of the keys. */
static inline int64_t
cuda_parts(int64_t n_keys, int64_t n_tokens)
{
    return n_tokens >= 64 || n_keys < 1 ? 1 : cuda_pieces(n_keys, CUDA_PART);
}

/* Tokens from which on tensor cores are of use. */
#define CUDA_TILE_TOKENS 16

/* Bytes of what is found of all parts; beyond this keys are not cut, or fewer
 * sequences are computed together. */
#define CUDA_FOUND ((int64_t)256 << 20)

/* Keys that are made floats together, 1 to 32, so that rows of d fit in
 * `bytes`. */
static inline int
cuda_tile_keys(int64_t d, int64_t bytes)
{
    int n = 32;

    while (n > 1 && (d + 4) * 4 * n > bytes)
        n /= 2;
    return n;
}

#endif
