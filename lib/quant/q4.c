/* q4.c - blocks of 32 values in four bits each */
#include "quant/format.h"

#include "core/half.h"
#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/fit.h"

void
quant_unpack_q4_0(const void *block, struct quant_values *v)
{
    const struct block_q4_0 *b = block;

    quant_one_scale(v, QUANT_BLOCK, half_to_float(b->d), 0);
    quant_nibbles_unpack(b->qs, v->q);
    for (int j = 0; j < QUANT_BLOCK; j++)
        v->q[j] = (int8_t)(v->q[j] - 8);
}

QUANT_DEQUANTIZE(q4_0)

void
quant_unpack_q4_1(const void *block, struct quant_values *v)
{
    const struct block_q4_1 *b = block;

    quant_one_scale(v, QUANT_BLOCK, half_to_float(b->d), -half_to_float(b->m));
    quant_nibbles_unpack(b->qs, v->q);
}

QUANT_DEQUANTIZE(q4_1)

/* The extreme maps to -8, since the range is -8 to 7. */
void
quant_q4_0(const float *x, void *y, int64_t n)
{
    struct block_q4_0 *b = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, b++) {
        float d = quant_extreme_or_nan(x, QUANT_BLOCK) / -8;
        float inverse = d != 0 ? 1.0f / d : 0;
        int8_t q[QUANT_BLOCK];

        b->d = half_from_float(d);
        quant_cut(x, QUANT_BLOCK, 0, inverse, 8.5f, 15, q);
        quant_nibbles_pack(q, b->qs);
    }
}

void
quant_q4_1(const float *x, void *y, int64_t n)
{
    struct block_q4_1 *b = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, b++) {
        struct quant_range r = quant_range(x, QUANT_BLOCK);
        float d = (r.max - r.min) / 15, inverse = d != 0 ? 1.0f / d : 0;
        int8_t q[QUANT_BLOCK];

        b->d = half_from_float(d);
        b->m = half_from_float(r.min);
        quant_cut(x, QUANT_BLOCK, r.min, inverse, 0.5f, 15, q);
        quant_nibbles_pack(q, b->qs);
    }
}

void
quant_weigh_q4_0(const float *x, void *y, int64_t n, const float *weights)
{
    static const struct quant_codes codes = { .lo = -8, .hi = 7 };
    struct block_q4_0 *b = y;

    for (int64_t i = 0; i < n; i += QUANT_BLOCK, b++) {
        int8_t q[QUANT_BLOCK];

        b->d = quant_fit_block(&codes, QUANT_BLOCK, x + i, weights + i, q);
        for (int j = 0; j < QUANT_BLOCK; j++)
            q[j] = (int8_t)(q[j] + 8);
        quant_nibbles_pack(q, b->qs);
    }
}

void
quant_weigh_q4_1(const float *x, void *y, int64_t n, const float *weights)
{
    struct block_q4_1 *b = y;

    for (int64_t i = 0; i < n; i += QUANT_BLOCK, b++) {
        int8_t q[QUANT_BLOCK];

        b->d = quant_fit_line_block(15, x + i, weights + i, q, &b->m);
        quant_nibbles_pack(q, b->qs);
    }
}
