/* k.c - super-blocks of 256 values, two to six bits each
 *
 * Groups of 16 or 32 values have small integers as scales (and mins), which
 * are multiples of one F16 each. */
#include "quant/format.h"

#include <string.h>

#include "core/half.h"
#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/fit.h"

/* Eight scales and eight mins of six bits in twelve bytes: of the first four
 * in the low bits of bytes 0-3 and 4-7. Of the last four the low nibble in
 * bytes 8-11, low half scale and high half min, the rest above the others. */
static int
k_scale(const uint8_t *p, int g)
{
    return g < 4 ? p[g] & 63 : (p[g + 4] & 15) | p[g - 4] >> 6 << 4;
}

static int
k_min(const uint8_t *p, int g)
{
    return g < 4 ? p[g + 4] & 63 : p[g + 4] >> 4 | p[g] >> 6 << 4;
}

static void
put_k_scale_min(uint8_t *p, int g, int scale, int min)
{
    if (g < 4) {
        p[g] |= (uint8_t)scale;
        p[g + 4] |= (uint8_t)min;
    } else {
        p[g + 4] = (uint8_t)((scale & 15) | (min & 15) << 4);
        p[g - 4] |= (uint8_t)(scale >> 4 << 6);
        p[g] |= (uint8_t)(min >> 4 << 6);
    }
}

static int
q3_scale(const struct block_q3_k *b, int g)
{
    return (quant_nibble_at(b->scales, g, 16) |
            (b->scales[8 + g % 4] >> (g / 4 * 2) & 3) << 4) -
           32;
}

static void
groups_of(struct quant_values *v, int group)
{
    v->n = QUANT_SUPER;
    v->group = group;
}

/* The scale and min of group g, as codes and as numbers. */
static void
put_codes(struct quant_values *v, int g, int scale, int min)
{
    v->scale_code[g] = (int8_t)scale;
    v->min_code[g] = (int8_t)min;
    v->scale[g] = v->d * (float)scale;
    v->min[g] = v->dmin * (float)min;
}

void
quant_unpack_q2_k(const void *block, struct quant_values *v)
{
    const struct block_q2_k *b = block;

    groups_of(v, 16);
    v->d = half_to_float(b->d);
    v->dmin = half_to_float(b->dmin);
    for (int g = 0; g < 16; g++)
        put_codes(v, g, b->scales[g] & 15, b->scales[g] >> 4);
    for (int j = 0; j < QUANT_SUPER; j++)
        v->q[j] = (int8_t)quant_2bit_at(b->qs, j);
}

QUANT_DEQUANTIZE(q2_k)

#define PLANE 32 /* values whose bits lie in as many bytes, at one place */

/* Values from j on, without a look at each byte for every one of them. */
static void
open_q3_plane(const struct block_q3_k *b, int j, int8_t *q)
{
    uint8_t low[PLANE], high[PLANE];

    memcpy(low, b->qs + j / 128 * PLANE, PLANE);
    memcpy(high, b->qh, PLANE);
    for (int i = 0; i < PLANE; i++)
        q[i] = (int8_t)((low[i] >> (j % 128 / PLANE * 2) & 3) +
                        4 * (high[i] >> j / PLANE & 1) - 4);
}

void
quant_unpack_q3_k(const void *block, struct quant_values *v)
{
    const struct block_q3_k *b = block;

    groups_of(v, 16);
    v->d = half_to_float(b->d);
    v->dmin = 0;
    for (int g = 0; g < 16; g++)
        put_codes(v, g, q3_scale(b, g), 0);
    for (int j = 0; j < QUANT_SUPER; j += PLANE)
        open_q3_plane(b, j, v->q + j);
}

QUANT_DEQUANTIZE(q3_k)

static void
unpack_k_scales(const uint8_t *scales, uint16_t d, uint16_t dmin,
                struct quant_values *v)
{
    groups_of(v, 32);
    for (int g = 0; g < 8; g++) {
        v->scale[g] = half_to_float(d) * (float)k_scale(scales, g);
        v->min[g] = half_to_float(dmin) * (float)k_min(scales, g);
    }
}

void
quant_unpack_q4_k(const void *block, struct quant_values *v)
{
    const struct block_q4_k *b = block;

    unpack_k_scales(b->scales, b->d, b->dmin, v);
    for (int j = 0; j < QUANT_SUPER; j++)
        v->q[j] = (int8_t)quant_nibble_at(b->qs, j, 64);
}

QUANT_DEQUANTIZE(q4_k)

void
quant_unpack_q5_k(const void *block, struct quant_values *v)
{
    const struct block_q5_k *b = block;

    unpack_k_scales(b->scales, b->d, b->dmin, v);
    for (int j = 0; j < QUANT_SUPER; j++)
        v->q[j] = (int8_t)(quant_nibble_at(b->qs, j, 64) |
                           quant_bit_plane_at(b->qh, j) << 4);
}

QUANT_DEQUANTIZE(q5_k)

void
quant_unpack_q6_k(const void *block, struct quant_values *v)
{
    const struct block_q6_k *b = block;

    groups_of(v, 16);
    v->d = half_to_float(b->d);
    v->dmin = 0;
    for (int g = 0; g < 16; g++)
        put_codes(v, g, b->scales[g], 0);
    for (int j = 0; j < QUANT_SUPER; j++)
        v->q[j] = (int8_t)((quant_nibble_at(b->ql, j, 128) |
                            quant_2bit_at(b->qh, j) << 4) -
                           32);
}

QUANT_DEQUANTIZE(q6_k)

static void
pack_q2_k(const struct quant_super *s, void *block)
{
    struct block_q2_k *b = block;

    b->d = s->d;
    b->dmin = s->dmin;
    for (int g = 0; g < 16; g++)
        b->scales[g] = (uint8_t)(s->scale[g] | s->min[g] << 4);
    for (int j = 0; j < QUANT_SUPER; j++)
        quant_2bit_put(b->qs, j, s->q[j]);
}

static void
put_q3_plane(struct block_q3_k *b, int j, const int8_t *q)
{
    uint8_t low[PLANE], high[PLANE];

    memcpy(low, b->qs + j / 128 * PLANE, PLANE);
    memcpy(high, b->qh, PLANE);
    for (int i = 0; i < PLANE; i++) {
        int code = q[i] + 4;

        low[i] |= (uint8_t)((code & 3) << (j % 128 / PLANE * 2));
        high[i] |= (uint8_t)(code >> 2 << j / PLANE);
    }
    memcpy(b->qs + j / 128 * PLANE, low, PLANE);
    memcpy(b->qh, high, PLANE);
}

static void
pack_q3_k(const struct quant_super *s, void *block)
{
    struct block_q3_k *b = block;

    b->d = s->d;
    for (int g = 0; g < 16; g++) {
        quant_nibble_put(b->scales, g, 16, s->scale[g] + 32);
        b->scales[8 + g % 4] |=
            (uint8_t)((s->scale[g] + 32) >> 4 << (g / 4 * 2));
    }
    for (int j = 0; j < QUANT_SUPER; j += PLANE)
        put_q3_plane(b, j, s->q + j);
}

static void
pack_q4_k(const struct quant_super *s, void *block)
{
    struct block_q4_k *b = block;

    b->d = s->d;
    b->dmin = s->dmin;
    for (int g = 0; g < 8; g++)
        put_k_scale_min(b->scales, g, s->scale[g], s->min[g]);
    for (int j = 0; j < QUANT_SUPER; j++)
        quant_nibble_put(b->qs, j, 64, s->q[j]);
}

static void
pack_q5_k(const struct quant_super *s, void *block)
{
    struct block_q5_k *b = block;

    b->d = s->d;
    b->dmin = s->dmin;
    for (int g = 0; g < 8; g++)
        put_k_scale_min(b->scales, g, s->scale[g], s->min[g]);
    for (int j = 0; j < QUANT_SUPER; j++) {
        quant_nibble_put(b->qs, j, 64, s->q[j]);
        quant_bit_plane_put(b->qh, j, s->q[j] >> 4);
    }
}

static void
pack_q6_k(const struct quant_super *s, void *block)
{
    struct block_q6_k *b = block;

    b->d = s->d;
    memcpy(b->scales, s->scale, sizeof(b->scales));
    for (int j = 0; j < QUANT_SUPER; j++) {
        quant_nibble_put(b->ql, j, 128, s->q[j] + 32);
        quant_2bit_put(b->qh, j, (s->q[j] + 32) >> 4);
    }
}

static const struct quant_shape shape_q2_k = { .group = 16,
                                               .codes = { .lo = 0, .hi = 3 },
                                               .scales = { .lo = 0, .hi = 15 },
                                               .max_min = 15 };
static const struct quant_shape shape_q3_k = { .group = 16,
                                               .codes = { .lo = -4, .hi = 3 },
                                               .scales = { .lo = -32,
                                                           .hi = 31 } };
static const struct quant_shape shape_q4_k = { .group = 32,
                                               .codes = { .lo = 0, .hi = 15 },
                                               .scales = { .lo = 0, .hi = 63 },
                                               .max_min = 63 };
static const struct quant_shape shape_q5_k = { .group = 32,
                                               .codes = { .lo = 0, .hi = 31 },
                                               .scales = { .lo = 0, .hi = 63 },
                                               .max_min = 63 };
static const struct quant_shape shape_q6_k = { .group = 16,
                                               .codes = { .lo = -32, .hi = 31 },
                                               .scales = { .lo = -128,
                                                           .hi = 127 } };

/* Defines what quantises a row with weights, or without (NULL). */
#define WEIGH(name)                                                            \
    void quant_weigh_##name(const float *x, void *y, int64_t n,                \
                            const float *w)                                    \
    {                                                                          \
        struct block_##name *b = y;                                            \
        struct quant_super s;                                                  \
        for (int64_t i = 0; i < n; i += QUANT_SUPER, b++) {                    \
            quant_fit_super(&shape_##name, x + i, w ? w + i : NULL, &s);       \
            memset(b, 0, sizeof(*b));                                          \
            pack_##name(&s, b);                                                \
        }                                                                      \
    }
#define QUANTIZE(name)                                                         \
    WEIGH(name)                                                                \
    void quant_##name(const float *x, void *y, int64_t n)                      \
    {                                                                          \
        quant_weigh_##name(x, y, n, NULL);                                     \
    }
WEIGH(q2_k)
QUANTIZE(q3_k)
QUANTIZE(q4_k)
QUANTIZE(q5_k)
QUANTIZE(q6_k)

/* A least squares fit makes values smaller, and products with what resembles
 * them, by as much as its error; with four levels that shows. So large values
 * weigh more. */
void
quant_q2_k(const float *x, void *y, int64_t n)
{
    struct block_q2_k *b = y;
    float w[QUANT_SUPER];

    for (; n > 0; n -= QUANT_SUPER, x += QUANT_SUPER, b++) {
        float sum = 0;

        for (int j = 0; j < QUANT_SUPER; j++)
            sum += fabsf(x[j]);
        for (int j = 0; j < QUANT_SUPER; j++)
            w[j] = sum / QUANT_SUPER + fabsf(x[j]);
        quant_weigh_q2_k(x, b, QUANT_SUPER, w);
    }
}
