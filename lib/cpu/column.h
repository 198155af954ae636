/* column.h - a column of activations in eight bits
 *
 * For products with block-quantised weights: blocks of 32 values, each block
 * with its scale and the sum of its integers, which corrects for weights that
 * are stored with an offset. All three lie in runs of their own:
 *
 *     int8_t  q[k]          x = d * q, q from -127 to 127
 *     float   d[k / 32]
 *     int32_t sum[k / 32]   of q over the block
 *
 * Every kernel makes the same bytes: nearest, ties to even. An element of a
 * product is, in every kernel and block after block,
 *
 *     acc = acc + (float)(integer sum of w * q) * (dw * d)
 *
 * without fused operations, so that all machines agree to the bit. */
#ifndef CPU_COLUMN_H
#define CPU_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#define COLUMN_BLOCK 32

static inline size_t
column_size(int64_t k)
{
    size_t n = (size_t)(k + k / COLUMN_BLOCK * 8);

    return (n + 63) & ~(size_t)63;
}

static inline const float *
column_scales(const char *column, int64_t k)
{
    return (const float *)(const void *)(column + k);
}

static inline const int32_t *
column_sums(const char *column, int64_t k)
{
    return (const int32_t *)(const void *)(column + k + k / COLUMN_BLOCK * 4);
}

#endif
