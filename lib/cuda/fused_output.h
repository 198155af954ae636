/* fused_output.h - fused output quantisation: results in the next GEMM's type
 *
 * A kernel's epilogue stores its result a second time, as the matrix product
 * that reads it next wants its activations: as 8-bit integers with scales for a
 * GEMV or small batch, see quantize.h, or as BF16 for cuBLAS. That saves a
 * launch that would read the result again to convert it. */
#ifndef CUDA_FUSED_OUTPUT_H
#define CUDA_FUSED_OUTPUT_H

#include "cuda/fused_ops.h"
#include "cuda/quantize.h"

/* The largest absolute value over the lanes, a NaN if any lane has one: for
 * magnitudes the order of the bits is that of the values. */
DEVICE float
cuda_warp_absmax(float v)
{
    uint32_t most = cuda_float_bits(fabsf(v));

    UNROLL for (int m = LANES / 2; m; m /= 2)
    {
        uint32_t other = cuda_lane_xor(most, m);

        most = other > most ? other : most;
    }
    return cuda_bits_float(most);
}

DEVICE int
cuda_clamp_s8(float v)
{
    return (int)fminf(fmaxf(v, -127), 127);
}

/* Quantises 32 values, a sub-block; the lane's is value i of a column of k. */
DEVICE void
cuda_quantize_lane(char *column, int64_t k, int64_t i, float v)
{
    struct q8_scale *f = (struct q8_scale *)(void *)(column + k) + i / LANES;
    float most = cuda_warp_absmax(v);
    int q = cuda_clamp_s8(rintf(v * (most > 0 ? 127 / most : 0))), sum = q;

    UNROLL for (int m = 8; m; m /= 2) sum += cuda_lane_xor(sum, m);
    column[i] = (char)q;
    if (cuda_lane_id() % 16 == 0)
        f->sums[cuda_lane_id() / 16] = (int16_t)sum;
    if (cuda_lane_id() == 0)
        f->d = most / 127 + (most - most); /* NaN, if most is not finite */
}

/* Value `at` of the result, by its offset in elements. Lanes have consecutive
 * values, the first a multiple of 32, and all take part or none. */
DEVICE void
cuda_store_fused_output(const struct cuda_fused_output *a, int64_t at, float v)
{
    int64_t i, column;

    if (!a->data)
        return;
    if (a->type == GGML_TYPE_BF16) {
        ((uint16_t *)a->data)[at] = cuda_to_bf16(v);
        return;
    }
    column = cuda_divide(at, a->k, &i);
    cuda_quantize_lane((char *)a->data + column * a->stride, a->k, i, v);
}

#endif
