/* fp4.c - blocks of four-bit floats, E2M1, with a scale of eight bits
 *
 * MXFP4 is of the OCP Microscaling Formats specification 1.0; NVFP4 has a
 * group of 16 and a scale with a fraction. Magnitudes are kept doubled, which
 * makes them integers; scales are halved for that. */
#include "quant/format.h"

#include <math.h>
#include <string.h>

#include "core/half.h"
#include "quant/bits.h"
#include "quant/blocks.h"
#include "quant/fit_loops_table.h"

enum {
    NV_BLOCK = 64,
    NV_GROUP = 16
};

/* 2^(e - 128) */
static float
half_e8m0(uint8_t e)
{
    return core_bits_float(e < 2 ? 0x200000u << e : (uint32_t)(e - 1) << 23);
}

/* Half of the value of a scale with four bits of exponent, three of mantissa
 * and no sign. 0x7f, a NaN elsewhere, is read as 0; the highest bit is not
 * looked at, but for that. */
static float
half_ue4m3(uint8_t u)
{
    int exponent = u >> 3 & 15, mantissa = u & 7;

    if (u == 0x7f)
        return 0;
    if (exponent == 0)
        return (float)mantissa * 0x1p-10f;
    return core_bits_float((uint32_t)(exponent - 8 + 127) << 23 |
                           (uint32_t)mantissa << 20);
}

/* The nearest scale, halves away from zero, of v >= 0; at most 448. */
static uint8_t
to_ue4m3(float v)
{
    uint32_t u;
    int code;

    if (!(v > 0))
        return 0;
    if (v < 0x1p-6f) { /* 2^-9 a step; 8 steps would be the next binade */
        code = (int)(v * 512 + 0.5f);
        return (uint8_t)(code > 7 ? 7 : code);
    }
    u = core_float_bits(v > 448 ? 448 : v);
    code = (int)((u + 0x80000) >> 20) - ((127 - 7) << 3);
    return (uint8_t)(code > 0x7e ? 0x7e : code);
}

void
quant_unpack_mxfp4(const void *block, struct quant_values *v)
{
    const struct block_mxfp4 *b = block;

    quant_one_scale(v, QUANT_BLOCK, half_e8m0(b->e), 0);
    quant_nibbles_unpack(b->qs, v->q);
    for (int j = 0; j < QUANT_BLOCK; j++)
        v->q[j] = quant_fp4_doubled[v->q[j]];
}

QUANT_DEQUANTIZE(mxfp4)

bool
quant_sound_mxfp4(const void *block)
{
    return *(const uint8_t *)block != 0xff; /* the NaN of E8M0 */
}

void
quant_unpack_nvfp4(const void *block, struct quant_values *v)
{
    const struct block_nvfp4 *b = block;

    v->n = NV_BLOCK;
    v->group = NV_GROUP;
    for (int g = 0; g < NV_BLOCK / NV_GROUP; g++) {
        v->scale[g] = half_ue4m3(b->d[g]);
        v->min[g] = 0;
    }
    for (int j = 0; j < NV_BLOCK; j++)
        v->q[j] = quant_fp4_doubled[quant_nibble_at(b->qs, j, NV_GROUP)];
}

QUANT_DEQUANTIZE(nvfp4)

/* The specification's conversion: the exponent of the largest value less
 * that of the largest E2M1 number. What is beyond 6 times the scale clips. */
static uint8_t
mx_exponent(const float *x)
{
    float most = fabsf(quant_extreme(x, QUANT_BLOCK));
    int exponent = (int)(core_float_bits(most) >> 23);

    return (uint8_t)quant_clamp(exponent - 2, 0, 254);
}

void
quant_mxfp4(const float *x, void *y, int64_t n)
{
    struct block_mxfp4 *b = y;

    for (; n > 0; n -= QUANT_BLOCK, x += QUANT_BLOCK, b++) {
        int8_t q[QUANT_BLOCK];

        b->e = mx_exponent(x);
        quant_fit_loops()->nearest_fp4(QUANT_BLOCK, x, half_e8m0(b->e), q);
        quant_nibbles_pack(q, b->qs);
    }
}

void
quant_nvfp4(const float *x, void *y, int64_t n)
{
    struct block_nvfp4 *b = y;

    for (; n > 0; n -= NV_BLOCK, x += NV_BLOCK, b++) {
        int8_t q[NV_BLOCK];

        memset(b, 0, sizeof(*b));
        for (int g = 0; g < NV_BLOCK / NV_GROUP; g++)
            b->d[g] =
                to_ue4m3(fabsf(quant_extreme(x + g * NV_GROUP, NV_GROUP)) / 6);
        for (int j = 0; j < NV_BLOCK; j += NV_GROUP)
            quant_fit_loops()->nearest_fp4(
                NV_GROUP, x + j, half_ue4m3(b->d[j / NV_GROUP]), q + j);
        for (int j = 0; j < NV_BLOCK; j++)
            quant_nibble_put(b->qs, j, NV_GROUP, q[j]);
    }
}
