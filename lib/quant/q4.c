/* q4.c - blocks of 32 values in four bits each */
#include "quant/format.h"

#include <math.h>

#include "core/half.h"
#include "quant/blocks.h"

/* The value of largest magnitude, with its sign; the first of equals. */
static float
extreme(const float *x)
{
    float amax = 0, max = 0;

    for (int j = 0; j < QUANT_BLOCK; j++) {
        if (amax < fabsf(x[j])) {
            amax = fabsf(x[j]);
            max = x[j];
        }
    }
    return max;
}

/* The extreme maps to -8, since the range is -8 to 7. */
static uint8_t
nibble(float scaled)
{
    int32_t q = quant_to_int(scaled + 8.5f);

    return (uint8_t)(q > 15 ? 15 : q);
}

void
quant_q4_0(const float *x, void *y, int64_t n)
{
    struct block_q4_0 *block = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, block++) {
        float d = extreme(x) / -8, inverse = d != 0 ? 1.0f / d : 0;

        block->d = half_from_float(d);
        for (int j = 0; j < QUANT_BLOCK / 2; j++)
            block->qs[j] =
                (uint8_t)(nibble(x[j] * inverse) |
                          nibble(x[j + QUANT_BLOCK / 2] * inverse) << 4);
    }
}

void
dequant_q4_0(const void *x, float *y, int64_t n)
{
    const struct block_q4_0 *block = x;

    for (; n > 0; n -= QUANT_BLOCK, y += QUANT_BLOCK, block++) {
        float d = half_to_float(block->d);

        for (int j = 0; j < QUANT_BLOCK / 2; j++) {
            y[j] = (float)((block->qs[j] & 15) - 8) * d;
            y[j + QUANT_BLOCK / 2] = (float)((block->qs[j] >> 4) - 8) * d;
        }
    }
}
