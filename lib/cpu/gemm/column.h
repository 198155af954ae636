/* column.h - a column of activations in eight bits
 *
 * For products with block-quantised weights: blocks of 32 values, each block
 * with its scale and the sum of its integers, which corrects for weights that
 * are stored with an offset, or have a minimum. Each of these is an array:
 *
 *     int8_t  q[k]                      x = d * q, q from -127 to 127
 *     float   d[k / 32]
 *     int32_t neg_sums[k / 32]          minus the sum of q over the block
 *     float   scaled_neg_sums[k / 32]   d * neg_sums
 *     int16_t neg_int16_pairs[k / 8]    minus sums: of 16 values, the first two
 *                                       of every four, then the last two
 *     int16_t neg_sums_16[k / 16]       of 16 values
 *
 * Every kernel makes the same bytes: nearest, ties to even. An element of a
 * product is, in every kernel and group of weights after group (of 32, or of
 * 16 where the type's scales change there),
 *
 *     acc = acc + (float)(integer sum of w * q) * (dw * d)
 *     acc = acc - min * (d * (float)sum of q)      in types with minima
 *
 * or, where scales of 16 and their minima are integers, times a block's dw and
 * dmin, block after block, of which `part` are 32 weights after 32, from 0 on
 *
 *     part = part + (float)(sum of scale * w * q) * d
 *     part = part + ((float)(sum of scale * w * q) -
 *                    (float)(sum of min * q) * (dmin / dw)) * d
 *     acc = acc + part * dw
 *
 * (with minima, where dw is 0, it is taken for 1, and scales for 0),
 * without fused operations, so that all machines agree to the bit. */
#ifndef CPU_GEMM_COLUMN_H
#define CPU_GEMM_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#define COLUMN_BLOCK 32

static inline const float *
cpu_column_scales(const char *column, int64_t k)
{
    return (const float *)(const void *)(column + k);
}

static inline const int32_t *
cpu_column_neg_sums(const char *column, int64_t k)
{
    return (const int32_t *)(const void *)(column + k + k / COLUMN_BLOCK * 4);
}

static inline const float *
cpu_column_scaled_neg_sums(const char *column, int64_t k)
{
    return (const float *)(const void *)(column + k + k / COLUMN_BLOCK * 8);
}

static inline const int16_t *
cpu_column_neg_int16_pairs(const char *column, int64_t k)
{
    return (const int16_t *)(const void *)(column + k + k / COLUMN_BLOCK * 12);
}

static inline const int16_t *
cpu_column_neg_sums_16(const char *column, int64_t k)
{
    return (const int16_t *)(const void *)(column + k + k / COLUMN_BLOCK * 20);
}

/* Where a kernel that prepares a column writes the arrays after q. */
struct column_arrays {
    float *d, *scaled_neg_sums;
    int32_t *neg_sums;
    int16_t *neg_int16_pairs, *neg_sums_16;
};

static inline struct column_arrays
cpu_column_arrays(void *column, int64_t k)
{
    char *p = (char *)column + k;
    int64_t run = k / COLUMN_BLOCK * 4;

    return (struct column_arrays){
        .d = (float *)(void *)p,
        .neg_sums = (int32_t *)(void *)(p + run),
        .scaled_neg_sums = (float *)(void *)(p + 2 * run),
        .neg_int16_pairs = (int16_t *)(void *)(p + 3 * run),
        .neg_sums_16 = (int16_t *)(void *)(p + 5 * run)
    };
}

/* Four sums of a block's integers, as they are in neg_int16_pairs. */
static inline void
cpu_column_block_sums(const int8_t *q, int16_t *sums)
{
    for (int i = 0; i < 4; i++)
        sums[i] = 0;
    for (int i = 0; i < COLUMN_BLOCK; i++) {
        int16_t *sum = &sums[i / 16 * 2 + i / 2 % 2];

        *sum = (int16_t)(*sum + q[i]);
    }
}

/* A block's scale from its largest magnitude; NaN, if that is not finite: all
 * products with the block are NaN then, whatever its integers are. */
#define COLUMN_SCALE(amax) ((amax) / 127 + ((amax) - (amax)))

/* The figures of block b, from those sums. */
static inline void
cpu_column_set_block(const struct column_arrays *r, int64_t b, float amax,
                     const int16_t *sums)
{
    float d = COLUMN_SCALE(amax);
    int32_t minus = 0;

    for (int i = 0; i < 2; i++) {
        int32_t half = -sums[2 * i] - sums[2 * i + 1];

        r->neg_int16_pairs[4 * b + 2 * i] = (int16_t)-sums[2 * i];
        r->neg_int16_pairs[4 * b + 2 * i + 1] = (int16_t)-sums[2 * i + 1];
        r->neg_sums_16[2 * b + i] = (int16_t)half;
        minus += half;
    }
    r->d[b] = d;
    r->neg_sums[b] = minus;
    r->scaled_neg_sums[b] = d * (float)minus;
}

#endif
