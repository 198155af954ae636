/* half.h - IEEE 754 binary16 and bfloat16, one value at a time
 *
 * Exact in both directions: rounds to nearest, ties to even; keeps
 * infinities; a NaN stays a NaN (quiet). */
#ifndef CORE_HALF_H
#define CORE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t
core_float_bits(float f)
{
    uint32_t u;

    memcpy(&u, &f, sizeof(u));
    return u;
}

static inline float
core_bits_float(uint32_t u)
{
    float f;

    memcpy(&f, &u, sizeof(f));
    return f;
}

static inline float
half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t rest = h & 0x7fff;
    float f;

    if (rest >= 0x7c00) /* infinity, NaN */
        return core_bits_float(sign | 0x7f800000 | (rest & 0x3ff) << 13);
    /* Exponent and mantissa in float's place are 2^112 too small, also where
     * they are subnormal. */
    f = core_bits_float(rest << 13) * 0x1p112f;
    return core_bits_float(sign | core_float_bits(f));
}

static inline uint16_t
half_from_float(float f)
{
    uint32_t u = core_float_bits(f), sign = u >> 16 & 0x8000,
             a = u & 0x7fffffff;

    if (a > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (a >> 13 & 0x3ff));
    if (a >= 0x477ff000) /* rounds to 2^16 or more */
        return (uint16_t)(sign | 0x7c00);
    if (a < 0x38800000) /* subnormal: the addition rounds at 2^-24 */
        return (uint16_t)(sign | (core_float_bits(core_bits_float(a) + 0.5f) -
                                  0x3f000000));
    a += 0xfff + (a >> 13 & 1);
    return (uint16_t)(sign | ((a - 0x38000000) >> 13));
}

static inline float
core_bf16_to_float(uint16_t h)
{
    return core_bits_float((uint32_t)h << 16);
}

static inline uint16_t
core_bf16_from_float(float f)
{
    uint32_t u = core_float_bits(f);

    if ((u & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(u >> 16 | 64);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

#endif
