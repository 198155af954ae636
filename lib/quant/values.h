/* values.h - a block of any type, unpacked: integers, and scales over groups
 *
 * x[j] = scale[g] * q[j] - min[g], g = j / group. What is exact in this form
 * and what is rounded is part of a type: dequantisation computes it in floats
 * as written, without fused operations. */
#ifndef QUANT_VALUES_H
#define QUANT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#define QUANT_MOST_VALUES 256
#define QUANT_MOST_GROUPS 16

struct quant_values {
    int n, group; /* values in the block, and in a group: 16 or 32 */
    float scale[QUANT_MOST_GROUPS];
    float min[QUANT_MOST_GROUPS]; /* +0 in types without */
    /* Q2_K, Q3_K, Q6_K, IQ2_XS, IQ2_S and IQ1_M have these: scale[g] = d *
     * scale_code[g], min[g] = dmin * min_code[g]. */
    float d, dmin;
    int8_t scale_code[QUANT_MOST_GROUPS], min_code[QUANT_MOST_GROUPS];
    int8_t q[QUANT_MOST_VALUES];
};

/* Opens one block. */
typedef void (*quant_unpack_fn)(const void *block, struct quant_values *v);

/* Rows of n values, blocks of `size` bytes, to floats. */
void
quant_open_row(quant_unpack_fn unpack, size_t size, const void *x, float *y,
               int64_t n);

/* Defines dequant_X of a type with unpack_X and struct block_X. */
#define QUANT_DEQUANTIZE(name)                                                 \
    void quant_dequant_##name(const void *x, float *y, int64_t n)              \
    {                                                                          \
        quant_open_row(quant_unpack_##name, sizeof(struct block_##name), x, y, \
                       n);                                                     \
    }

/* For types with one scale in the block. */
static inline void
quant_one_scale(struct quant_values *v, int n, float scale, float min)
{
    v->n = n;
    v->group = 32;
    for (int g = 0; g < n / 32; g++) {
        v->scale[g] = scale;
        v->min[g] = min;
    }
}

#endif
