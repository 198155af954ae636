/* also.h - a result in the form that the product behind it wants
 *
 * A kernel that has a value at hand stores it once more: in eight bits for
 * products of few columns, see quantize.h, or as BF16 for those of many. That
 * saves a launch which reads all of it again. */
#ifndef CUDA_ALSO_H
#define CUDA_ALSO_H

#include "cuda/multiply.h"
#include "cuda/quantize.h"

/* The greatest magnitude of the lanes' values, a NaN if any is. Magnitudes
 * are in the order of their bits. */
DEVICE float
greatest(float v)
{
    uint32_t most = bits_of(fabsf(v));

    UNROLL for (int m = LANES / 2; m; m /= 2)
    {
        uint32_t other = lane_xor(most, m);

        most = other > most ? other : most;
    }
    return float_of(most);
}

DEVICE int
clamp_byte(float v)
{
    return (int)fminf(fmaxf(v, -127), 127);
}

/* Stores a unit's values, the lane's is number i of a column of k. */
DEVICE void
store_bytes(char *column, int64_t k, int64_t i, float v)
{
    struct figures *f = (struct figures *)(void *)(column + k) + i / LANES;
    float most = greatest(v);
    int q = clamp_byte(rintf(v * (most > 0 ? 127 / most : 0))), sum = q;

    UNROLL for (int m = 8; m; m /= 2) sum += lane_xor(sum, m);
    column[i] = (char)q;
    if (lane_id() % 16 == 0)
        f->sums[lane_id() / 16] = (int16_t)sum;
    if (lane_id() == 0)
        f->d = most / 127;
}

/* Value `at` of all, in the order in which they lie. Lanes have consecutive
 * values, the first of them a multiple of 32, and all take part or none. */
DEVICE void
store_also(const struct cuda_also *a, int64_t at, float v)
{
    int64_t i, column;

    if (!a->data)
        return;
    if (a->type == GGML_TYPE_BF16) {
        ((uint16_t *)a->data)[at] = to_bf16(v);
        return;
    }
    column = divide(at, a->k, &i);
    store_bytes((char *)a->data + column * a->stride, a->k, i, v);
}

#endif
