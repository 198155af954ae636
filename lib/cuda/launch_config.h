/* launch_config.h - launch configurations and partitioning: plain functions
 *
 * Without CUDA, so that tests of the host cover them. Sizes are 64 bits wide
 * throughout; a grid is capped, and kernels loop over what is left. */
#ifndef CUDA_LAUNCH_CONFIG_H
#define CUDA_LAUNCH_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUDA_THREADS    256       /* of most blocks */
#define CUDA_MAX_BLOCKS (1 << 20) /* far below the limit of 2^31 - 1 */

/* Blocks of a grid for `items` work items, one item a block. */
static inline unsigned
cuda_blocks(int64_t items)
{
    return items < 1                 ? 1
           : items > CUDA_MAX_BLOCKS ? CUDA_MAX_BLOCKS
                                     : (unsigned)items;
}

static inline int64_t
cuda_ceil_div(int64_t n, int64_t each)
{
    return (n + each - 1) / each;
}

/* Threads of a block that reduces rows of n elements: whole warps, as many as
 * are of use. Kernels launched so must be compiled for CUDA_MAX_THREADS (launch
 * bounds), so that their registers suffice. */
#define CUDA_MAX_THREADS 1024
static inline unsigned
cuda_row_threads(int64_t n)
{
    return n <= 64     ? 32
           : n <= 512  ? 128
           : n <= 2048 ? 256
           : n <= 4096 ? 512
                       : 1024;
}

/* Threads of such a block where latency counts: two elements a thread, if
 * possible. */
static inline unsigned
cuda_norm_threads(int64_t n)
{
    return n >= 2 * CUDA_MAX_THREADS ? CUDA_MAX_THREADS
                                     : (unsigned)((n + 63) / 64 * 32);
}

/* -- Matrix products -- */
/* Up to how many columns the GEMV and small-batch GEMM kernels compute: they
 * read a byte or less a weight from memory, and again from L2 cache for each 8
 * or 32 columns; cuBLAS needs quantised weights dequantised first, at five to
 * nine bytes a weight. */
static inline int64_t
cuda_small_batch_columns(bool blocks)
{
    return blocks ? 64 : 8;
}

/* How many of `rows` rows of k weights are dequantised at a time, to two or
 * four bytes a weight, within about `bytes`: all, or a multiple of 64. */
static inline int64_t
cuda_dequantized_rows(int64_t k, int64_t rows, int64_t bytes)
{
    int64_t n = bytes / 4 / (k < 1 ? 1 : k) / 64 * 64;

    n = n < 64 ? 64 : n;
    return n < rows ? n : rows;
}

/* An upper bound for the tiles of `each` columns that `pairs` (token, expert)
 * pairs need, where a tile's columns share one of `matrices` experts. */
static inline int
cuda_max_expert_tiles(int pairs, int matrices, int each)
{
    int whole = pairs / each;

    return whole + (matrices < pairs ? matrices : pairs);
}

/* -- Attention -- */
/* Into how many work items a token's heads are split, of `each` heads or more;
 * with many tokens a block does more heads for the angles it computes. */
static inline int64_t
cuda_rope_splits(int64_t n_tokens, int64_t heads, int64_t each, int64_t n_sm)
{
    return n_tokens >= 4 * n_sm ? 1 : cuda_ceil_div(heads, each);
}

/* Keys of a split (split-KV, as in flash decoding); its size is fixed, so that
 * a query's result does not depend on how many hidden keys follow the visible
 * ones. */
#define CUDA_KV_SPLIT 64

/* Splits of the keys, computed in parallel and combined in order; a single one
 * where there are enough queries to occupy a device. */
static inline int64_t
cuda_kv_splits(int64_t n_keys, int64_t n_tokens)
{
    return n_tokens >= 64 || n_keys < 1 ? 1
                                        : cuda_ceil_div(n_keys, CUDA_KV_SPLIT);
}

/* Tokens from which on attention uses tensor cores. */
#define CUDA_MMA_MIN_TOKENS 16

/* Bytes of partial results of all splits; beyond this keys are not split, or
 * fewer sequences are batched. */
#define CUDA_MAX_PARTIALS ((int64_t)256 << 20)

/* Keys of a tile that is converted to floats, 1 to 32, so that rows of d fit in
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
