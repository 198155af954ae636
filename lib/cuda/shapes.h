/* shapes.h - shapes of launches, and how work is cut: plain functions
 *
 * Without CUDA, so that tests of the host cover them. Sizes are 64 bits wide
 * throughout; a grid is capped, and kernels loop over what is left. */
#ifndef CUDA_SHAPES_H
#define CUDA_SHAPES_H

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
 * as are of use. */
static inline unsigned
cuda_row_threads(int64_t n)
{
    return n <= 64 ? 32 : n <= 512 ? 128 : n <= 2048 ? 256 : 512;
}

/* -- Products -- */
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

/* -- Attention: keys are cut into parts, each a whole number of KEYS -- */
#define CUDA_KEYS       64 /* keys that are looked at together */
#define CUDA_MOST_PARTS 64

/* Keys of a part, by their number alone: what a query's answer is must not
 * depend on the device, nor on the queries beside it. */
static inline int64_t
cuda_part_keys(int64_t n_keys)
{
    int64_t each = 4 * CUDA_KEYS;

    while (cuda_pieces(n_keys, each) > CUDA_MOST_PARTS)
        each *= 2;
    return each;
}

#endif
