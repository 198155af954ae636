/* q5.c - blocks of 32 values in five bits each */
#include "quant/format.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/half.h"
#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/fit.h"

static int
five_bits(const uint8_t *qh, const uint8_t *qs, int j)
{
    return nibble_at(qs, j, QUANT_BLOCK) | bit_at(qh, j) << 4;
}

static void
put_five_bits(uint8_t *qh, uint8_t *qs, int j, int v)
{
    nibble_put(qs, j, QUANT_BLOCK, v);
    bit_put(qh, j, v >> 4);
}

void
unpack_q5_0(const void *block, struct quant_values *v)
{
    const struct block_q5_0 *b = block;

    quant_one_scale(v, QUANT_BLOCK, half_to_float(b->d), 0);
    for (int j = 0; j < QUANT_BLOCK; j++)
        v->q[j] = (int8_t)(five_bits(b->qh, b->qs, j) - 16);
}

QUANT_DEQUANTIZE(q5_0)

void
unpack_q5_1(const void *block, struct quant_values *v)
{
    const struct block_q5_1 *b = block;

    quant_one_scale(v, QUANT_BLOCK, half_to_float(b->d), -half_to_float(b->m));
    for (int j = 0; j < QUANT_BLOCK; j++)
        v->q[j] = (int8_t)five_bits(b->qh, b->qs, j);
}

QUANT_DEQUANTIZE(q5_1)

void
quant_q5_0(const float *x, void *y, int64_t n)
{
    struct block_q5_0 *b = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, b++) {
        float d = quant_extreme(x, QUANT_BLOCK) / -16;
        float inverse = d != 0 ? 1.0f / d : 0;

        memset(b, 0, sizeof(*b));
        b->d = half_from_float(d);
        for (int j = 0; j < QUANT_BLOCK; j++) {
            int q = quant_to_int(x[j] * inverse + 16.5f);

            put_five_bits(b->qh, b->qs, j, quant_clamp(q, 0, 31));
        }
    }
}

void
quant_q5_1(const float *x, void *y, int64_t n)
{
    struct block_q5_1 *b = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, b++) {
        struct quant_range r = quant_range(x, QUANT_BLOCK);
        float d = (r.max - r.min) / 31, inverse = d != 0 ? 1.0f / d : 0;

        memset(b, 0, sizeof(*b));
        b->d = half_from_float(d);
        b->m = half_from_float(r.min);
        for (int j = 0; j < QUANT_BLOCK; j++) {
            int q = quant_to_int((x[j] - r.min) * inverse + 0.5f);

            put_five_bits(b->qh, b->qs, j, quant_clamp(q, 0, 31));
        }
    }
}

void
weigh_q5_0(const float *x, void *y, int64_t n, const float *weights)
{
    static const struct quant_codes codes = { .lo = -16, .hi = 15 };
    struct block_q5_0 *b = y;

    for (int64_t i = 0; i < n; i += QUANT_BLOCK, b++) {
        int8_t q[QUANT_BLOCK];

        memset(b, 0, sizeof(*b));
        b->d = quant_fit_block(&codes, QUANT_BLOCK, x + i, weights + i, q);
        for (int j = 0; j < QUANT_BLOCK; j++)
            put_five_bits(b->qh, b->qs, j, q[j] + 16);
    }
}

void
weigh_q5_1(const float *x, void *y, int64_t n, const float *weights)
{
    struct block_q5_1 *b = y;

    for (int64_t i = 0; i < n; i += QUANT_BLOCK, b++) {
        int8_t q[QUANT_BLOCK];

        memset(b, 0, sizeof(*b));
        b->d = quant_fit_line_block(31, x + i, weights + i, q, &b->m);
        for (int j = 0; j < QUANT_BLOCK; j++)
            put_five_bits(b->qh, b->qs, j, q[j]);
    }
}
