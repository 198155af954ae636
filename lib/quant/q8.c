/* q8.c - blocks of values in eight bits each */
#include "quant/format.h"

#include <string.h>

#include "core/half.h"
#include "quant/blocks.h"
#include "quant/fit.h"
#include "quant/fit_loops_table.h"

void
quant_unpack_q8_0(const void *block, struct quant_values *v)
{
    const struct block_q8_0 *b = block;

    quant_one_scale(v, QUANT_BLOCK, half_to_float(b->d), 0);
    memcpy(v->q, b->qs, sizeof(b->qs));
}

/* Without the detour: caches of keys and values are read all the time. */
void
quant_dequant_q8_0(const void *x, float *y, int64_t n)
{
    const struct block_q8_0 *b = x;

    for (; n > 0; n -= QUANT_BLOCK, y += QUANT_BLOCK, b++) {
        float d = half_to_float(b->d);

        for (int j = 0; j < QUANT_BLOCK; j++)
            y[j] = (float)b->qs[j] * d;
    }
}

void
quant_q8_0(const float *x, void *y, int64_t n)
{
    const struct quant_fit_loops *loops = quant_fit_loops();
    struct block_q8_0 *b = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, b++)
        b->d = half_from_float(loops->round_bytes(QUANT_BLOCK, x, b->qs));
}

void
quant_q8_1(const float *x, void *y, int64_t n)
{
    const struct quant_fit_loops *loops = quant_fit_loops();
    struct block_q8_1 *b = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, b++) {
        float d = loops->round_bytes(QUANT_BLOCK, x, b->qs);
        int sum = 0;

        for (int j = 0; j < QUANT_BLOCK; j++)
            sum += b->qs[j];
        b->d = half_from_float(d);
        b->s = half_from_float((float)sum * d);
    }
}

/* The extreme becomes -127, so that nothing is clipped. */
void
quant_q8_k(const float *x, void *y, int64_t n)
{
    struct block_q8_k *b = y;

    for (; n > 0; n -= QUANT_SUPER, x += QUANT_SUPER, b++) {
        float max = quant_extreme(x, QUANT_SUPER);
        float inverse = max != 0 ? -127.0f / max : 0;

        memset(b, 0, sizeof(*b));
        b->d = max != 0 ? 1.0f / inverse : 0;
        for (int j = 0; j < QUANT_SUPER; j++) {
            b->qs[j] = (int8_t)quant_round(x[j] * inverse, -127, 127);
            b->sums[j / 16] = (int16_t)(b->sums[j / 16] + b->qs[j]);
        }
    }
}
