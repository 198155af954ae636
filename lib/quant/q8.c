/* q8.c - blocks of 32 values in eight bits each */
#include "quant/format.h"

#include <math.h>

#include "core/half.h"
#include "quant/blocks.h"

/* Scales a block so that its extreme is 127; returns the scale. */
static float
quantize_block(const float *x, int8_t *qs)
{
    float amax = 0, d, inverse;

    for (int j = 0; j < QUANT_BLOCK; j++)
        amax = amax > fabsf(x[j]) ? amax : fabsf(x[j]);
    d = amax / 127;
    inverse = d != 0 ? 1.0f / d : 0;
    for (int j = 0; j < QUANT_BLOCK; j++)
        qs[j] = (int8_t)quant_to_int(roundf(x[j] * inverse));
    return d;
}

void
quant_q8_0(const float *x, void *y, int64_t n)
{
    struct block_q8_0 *block = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, block++)
        block->d = half_from_float(quantize_block(x, block->qs));
}

void
dequant_q8_0(const void *x, float *y, int64_t n)
{
    const struct block_q8_0 *block = x;

    for (; n > 0; n -= QUANT_BLOCK, y += QUANT_BLOCK, block++) {
        float d = half_to_float(block->d);

        for (int j = 0; j < QUANT_BLOCK; j++)
            y[j] = (float)block->qs[j] * d;
    }
}

void
quant_q8_1(const float *x, void *y, int64_t n)
{
    struct block_q8_1 *block = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, block++) {
        float d = quantize_block(x, block->qs);
        int sum = 0;

        for (int j = 0; j < QUANT_BLOCK; j++)
            sum += block->qs[j];
        block->d = half_from_float(d);
        block->s = half_from_float((float)sum * d);
    }
}
