/* iq4.c - four bits that stand for levels which are denser around zero */
#include "quant/format.h"

#include <string.h>

#include "core/half.h"
#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/fit.h"

/* Part of the format: what the codes 0 to 15 stand for. */
const int8_t quant_iq4_levels[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
};

static const struct quant_codes codes = {
    .lo = -127, .hi = 113, .levels = quant_iq4_levels, .n = 16
};
static const struct quant_shape shape_xs = {
    .group = 32,
    .codes = { .lo = -127, .hi = 113, .levels = quant_iq4_levels, .n = 16 },
    .scales = { .lo = -32, .hi = 31 }
};

static int
code_of(int level)
{
    int code = 0;

    while (quant_iq4_levels[code] < level)
        code++;
    return code;
}

void
quant_unpack_iq4_nl(const void *block, struct quant_values *v)
{
    const struct block_iq4_nl *b = block;

    quant_one_scale(v, QUANT_BLOCK, half_to_float(b->d), 0);
    for (int j = 0; j < QUANT_BLOCK; j++)
        v->q[j] = quant_iq4_levels[quant_nibble_at(b->qs, j, QUANT_BLOCK)];
}

QUANT_DEQUANTIZE(iq4_nl)

static int
xs_scale(const struct block_iq4_xs *b, int g)
{
    return ((b->scales_l[g / 2] >> (g % 2 * 4) & 15) |
            (b->scales_h >> (g * 2) & 3) << 4) -
           32;
}

void
quant_unpack_iq4_xs(const void *block, struct quant_values *v)
{
    const struct block_iq4_xs *b = block;
    float d = half_to_float(b->d);

    v->n = QUANT_SUPER;
    v->group = 32;
    for (int g = 0; g < 8; g++) {
        v->scale[g] = d * (float)xs_scale(b, g);
        v->min[g] = 0;
    }
    for (int j = 0; j < QUANT_SUPER; j++)
        v->q[j] = quant_iq4_levels[quant_nibble_at(b->qs, j, QUANT_BLOCK)];
}

QUANT_DEQUANTIZE(iq4_xs)

void
quant_weigh_iq4_nl(const float *x, void *y, int64_t n, const float *weights)
{
    struct block_iq4_nl *b = y;

    for (int64_t i = 0; i < n; i += QUANT_BLOCK, b++) {
        int8_t q[QUANT_BLOCK];

        memset(b, 0, sizeof(*b));
        b->d = quant_fit_block(&codes, QUANT_BLOCK, x + i,
                               weights ? weights + i : NULL, q);
        for (int j = 0; j < QUANT_BLOCK; j++)
            quant_nibble_put(b->qs, j, QUANT_BLOCK, code_of(q[j]));
    }
}

void
quant_iq4_nl(const float *x, void *y, int64_t n)
{
    quant_weigh_iq4_nl(x, y, n, NULL);
}

void
quant_weigh_iq4_xs(const float *x, void *y, int64_t n, const float *weights)
{
    struct block_iq4_xs *b = y;

    for (int64_t i = 0; i < n; i += QUANT_SUPER, b++) {
        struct quant_super s;

        quant_fit_super(&shape_xs, x + i, weights ? weights + i : NULL, &s);
        memset(b, 0, sizeof(*b));
        b->d = s.d;
        for (int g = 0; g < 8; g++) {
            int scale = s.scale[g] + 32;

            b->scales_l[g / 2] |= (uint8_t)((scale & 15) << (g % 2 * 4));
            b->scales_h |= (uint16_t)(scale >> 4 << (g * 2));
        }
        for (int j = 0; j < QUANT_SUPER; j++)
            quant_nibble_put(b->qs, j, QUANT_BLOCK, code_of(s.q[j]));
    }
}

void
quant_iq4_xs(const float *x, void *y, int64_t n)
{
    quant_weigh_iq4_xs(x, y, n, NULL);
}
