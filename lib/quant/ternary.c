/* ternary.c - blocks of one and two bits a value, and of ternary digits
 *
 * For models that were trained with such values: the scale is what the
 * largest value (Q1_0: the average) has, and the others are expected to be
 * near a multiple of it. */
#include "quant/format.h"

#include <math.h>
#include <string.h>

#include "core/half.h"
#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/fit.h"

enum {
    ONE_BIT = 128, /* values in a block of Q1_0 */
    TWO_BITS = 64  /* of Q2_0 */
};

void
quant_unpack_q1_0(const void *block, struct quant_values *v)
{
    const struct block_q1_0 *b = block;

    quant_one_scale(v, ONE_BIT, half_to_float(b->d), 0);
    for (int j = 0; j < ONE_BIT; j++)
        v->q[j] = (int8_t)(2 * quant_bit_at(b->qs, j) - 1);
}

QUANT_DEQUANTIZE(q1_0)

void
quant_unpack_q2_0(const void *block, struct quant_values *v)
{
    const struct block_q2_0 *b = block;

    quant_one_scale(v, TWO_BITS, half_to_float(b->d), 0);
    for (int j = 0; j < TWO_BITS; j++)
        v->q[j] = (int8_t)((b->qs[j / 4] >> (j % 4 * 2) & 3) - 1);
}

QUANT_DEQUANTIZE(q2_0)

void
quant_unpack_tq2_0(const void *block, struct quant_values *v)
{
    const struct block_tq2_0 *b = block;

    quant_one_scale(v, QUANT_SUPER, half_to_float(b->d), 0);
    for (int j = 0; j < QUANT_SUPER; j++)
        v->q[j] = (int8_t)(quant_2bit_at(b->qs, j) - 1);
}

QUANT_DEQUANTIZE(tq2_0)

/* Where the digits of a TQ1_0 block are: three runs of bytes. */
static const struct {
    int first_value, first_byte, n_bytes, n_digits;
} runs[] = { { 0, 0, 32, 5 }, { 160, 32, 16, 5 }, { 240, 48, 4, 4 } };

static const uint8_t powers[] = { 1, 3, 9, 27, 81 };

void
quant_unpack_tq1_0(const void *block, struct quant_values *v)
{
    const struct block_tq1_0 *b = block;
    uint8_t bytes[52];

    quant_one_scale(v, QUANT_SUPER, half_to_float(b->d), 0);
    memcpy(bytes, b->qs, sizeof(b->qs));
    memcpy(bytes + sizeof(b->qs), b->qh, sizeof(b->qh));
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < runs[r].n_digits; k++) {
            int8_t *q = v->q + runs[r].first_value + k * runs[r].n_bytes;

            for (int i = 0; i < runs[r].n_bytes; i++) {
                int byte = bytes[runs[r].first_byte + i];

                q[i] = (int8_t)(((byte * powers[k] & 255) * 3 >> 8) - 1);
            }
        }
}

QUANT_DEQUANTIZE(tq1_0)

void
quant_q1_0(const float *x, void *y, int64_t n)
{
    struct block_q1_0 *b = y;

    for (; n > 0; n -= ONE_BIT, x += ONE_BIT, b++) {
        float sum = 0;

        memset(b, 0, sizeof(*b));
        for (int j = 0; j < ONE_BIT; j++) {
            sum += fabsf(x[j]);
            quant_bit_put(b->qs, j, x[j] >= 0);
        }
        b->d = half_from_float(sum / ONE_BIT);
    }
}

/* -1, 0 or 1 times the largest magnitude, which is returned. */
static float
ternary(const float *x, int8_t *q, int n)
{
    float amax = fabsf(quant_extreme(x, n));
    float inverse = amax != 0 ? 1.0f / amax : 0;

    for (int j = 0; j < n; j++) {
        float v = x[j] * inverse; /* infinite if amax is tiny */

        q[j] = (int8_t)((v >= 0.5f && v < 2) - (v <= -0.5f && v > -2));
    }
    return amax;
}

void
quant_q2_0(const float *x, void *y, int64_t n)
{
    struct block_q2_0 *b = y;

    for (; n > 0; n -= TWO_BITS, x += TWO_BITS, b++) {
        int8_t q[TWO_BITS];

        memset(b, 0, sizeof(*b));
        b->d = half_from_float(ternary(x, q, TWO_BITS));
        for (int j = 0; j < TWO_BITS; j++)
            b->qs[j / 4] |= (uint8_t)((q[j] + 1) << (j % 4 * 2));
    }
}

void
quant_tq2_0(const float *x, void *y, int64_t n)
{
    struct block_tq2_0 *b = y;

    for (; n > 0; n -= QUANT_SUPER, x += QUANT_SUPER, b++) {
        int8_t q[QUANT_SUPER];

        memset(b, 0, sizeof(*b));
        b->d = half_from_float(ternary(x, q, QUANT_SUPER));
        for (int j = 0; j < QUANT_SUPER; j++)
            quant_2bit_put(b->qs, j, q[j] + 1);
    }
}

void
quant_tq1_0(const float *x, void *y, int64_t n)
{
    struct block_tq1_0 *b = y;

    for (; n > 0; n -= QUANT_SUPER, x += QUANT_SUPER, b++) {
        int8_t digits[QUANT_SUPER], *q = digits;
        int number[52] = { 0 };

        b->d = half_from_float(ternary(x, digits, QUANT_SUPER));
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < runs[r].n_digits; k++, q += runs[r].n_bytes)
                for (int i = 0; i < runs[r].n_bytes; i++)
                    number[runs[r].first_byte + i] +=
                        (q[i] + 1) * powers[4 - k];
        for (int j = 0; j < 48; j++)
            b->qs[j] = (uint8_t)((number[j] * 256 + 242) / 243);
        for (int j = 0; j < 4; j++)
            b->qh[j] = (uint8_t)((number[48 + j] * 256 + 242) / 243);
    }
}
