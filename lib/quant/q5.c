/* q5.c - blocks of 32 values in five bits each */
#include "quant/format.h"

#include <string.h>

#include "core/half.h"
#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/fit.h"

/* The fifth bit of each of eight values in their byte. */
static const uint8_t in_byte[8] = { 1, 2, 4, 8, 16, 32, 64, 128 };

static void
five_bits_open(const uint8_t *qh, const uint8_t *qs, int8_t *q)
{
    quant_nibbles_unpack(qs, q);
    for (int i = 0; i < QUANT_BLOCK; i += 8) {
        unsigned byte = qh[i / 8];
        int8_t high[8];

        for (int j = 0; j < 8; j++)
            high[j] = (int8_t)((byte & in_byte[j]) != 0 ? 16 : 0);
        for (int j = 0; j < 8; j++)
            q[i + j] |= high[j];
    }
}

static void
five_bits_pack(const int8_t *q, uint8_t *qh, uint8_t *qs)
{
    quant_nibbles_pack(q, qs);
    for (int i = 0; i < QUANT_BLOCK; i += 8) {
        uint8_t high[8];
        uint64_t all;

        for (int j = 0; j < 8; j++)
            high[j] = (uint8_t)((q[i + j] & 16) != 0 ? in_byte[j] : 0);
        memcpy(&all, high, sizeof(all));
        all |= all >> 32;
        all |= all >> 16;
        qh[i / 8] = (uint8_t)(all | all >> 8);
    }
}

void
quant_unpack_q5_0(const void *block, struct quant_values *v)
{
    const struct block_q5_0 *b = block;

    quant_one_scale(v, QUANT_BLOCK, half_to_float(b->d), 0);
    five_bits_open(b->qh, b->qs, v->q);
    for (int j = 0; j < QUANT_BLOCK; j++)
        v->q[j] = (int8_t)(v->q[j] - 16);
}

QUANT_DEQUANTIZE(q5_0)

void
quant_unpack_q5_1(const void *block, struct quant_values *v)
{
    const struct block_q5_1 *b = block;

    quant_one_scale(v, QUANT_BLOCK, half_to_float(b->d), -half_to_float(b->m));
    five_bits_open(b->qh, b->qs, v->q);
}

QUANT_DEQUANTIZE(q5_1)

void
quant_q5_0(const float *x, void *y, int64_t n)
{
    struct block_q5_0 *b = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, b++) {
        float d = quant_extreme_or_nan(x, QUANT_BLOCK) / -16;
        float inverse = d != 0 ? 1.0f / d : 0;
        int8_t q[QUANT_BLOCK];

        b->d = half_from_float(d);
        quant_cut(x, QUANT_BLOCK, 0, inverse, 16.5f, 31, q);
        five_bits_pack(q, b->qh, b->qs);
    }
}

void
quant_q5_1(const float *x, void *y, int64_t n)
{
    struct block_q5_1 *b = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, b++) {
        struct quant_range r = quant_range(x, QUANT_BLOCK);
        float d = (r.max - r.min) / 31, inverse = d != 0 ? 1.0f / d : 0;
        int8_t q[QUANT_BLOCK];

        b->d = half_from_float(d);
        b->m = half_from_float(r.min);
        quant_cut(x, QUANT_BLOCK, r.min, inverse, 0.5f, 31, q);
        five_bits_pack(q, b->qh, b->qs);
    }
}

void
quant_weigh_q5_0(const float *x, void *y, int64_t n, const float *weights)
{
    static const struct quant_codes codes = { .lo = -16, .hi = 15 };
    struct block_q5_0 *b = y;

    for (int64_t i = 0; i < n; i += QUANT_BLOCK, b++) {
        int8_t q[QUANT_BLOCK];

        b->d = quant_fit_block(&codes, QUANT_BLOCK, x + i, weights + i, q);
        for (int j = 0; j < QUANT_BLOCK; j++)
            q[j] = (int8_t)(q[j] + 16);
        five_bits_pack(q, b->qh, b->qs);
    }
}

void
quant_weigh_q5_1(const float *x, void *y, int64_t n, const float *weights)
{
    struct block_q5_1 *b = y;

    for (int64_t i = 0; i < n; i += QUANT_BLOCK, b++) {
        int8_t q[QUANT_BLOCK];

        b->d = quant_fit_line_block(31, x + i, weights + i, q, &b->m);
        five_bits_pack(q, b->qh, b->qs);
    }
}
