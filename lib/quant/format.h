/* format.h - the row functions of each family, for the table
 *
 * All work on n values, whole blocks; the `quant_X` of a type is its reference
 * quantiser (the bytes do not depend on the machine), the `dequant_X` exact
 * but for one rounding of each product. `weigh_X` quantises with a weight,
 * not negative, for the squared error of each value. `unpack_X` opens one
 * block. Values that are not finite never trap; what comes out of their block
 * is unspecified, but not finite in Q8_0, of whose blocks caches are. */
#ifndef QUANT_FORMAT_H
#define QUANT_FORMAT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quant/values.h"

#define QUANT_READ(name)                                                       \
    void quant_dequant_##name(const void *x, float *y, int64_t n);             \
    void quant_unpack_##name(const void *block, struct quant_values *v)
#define QUANT_WRITE(name) void quant_##name(const float *x, void *y, int64_t n)
#define QUANT_WEIGH(name)                                                      \
    void quant_weigh_##name(const float *x, void *y, int64_t n,                \
                            const float *weights)

QUANT_WRITE(f32);
QUANT_WRITE(f16);
QUANT_WRITE(bf16);
void
quant_dequant_f32(const void *x, float *y, int64_t n);
void
quant_dequant_f16(const void *x, float *y, int64_t n);
void
quant_dequant_bf16(const void *x, float *y, int64_t n);

QUANT_READ(q4_0);
QUANT_WRITE(q4_0);
QUANT_WEIGH(q4_0);
QUANT_READ(q4_1);
QUANT_WRITE(q4_1);
QUANT_WEIGH(q4_1);
QUANT_READ(q5_0);
QUANT_WRITE(q5_0);
QUANT_WEIGH(q5_0);
QUANT_READ(q5_1);
QUANT_WRITE(q5_1);
QUANT_WEIGH(q5_1);
QUANT_READ(q8_0);
QUANT_WRITE(q8_0);
QUANT_WRITE(q8_1);
QUANT_WRITE(q8_k);

QUANT_READ(q2_k);
QUANT_WRITE(q2_k);
QUANT_WEIGH(q2_k);
QUANT_READ(q3_k);
QUANT_WRITE(q3_k);
QUANT_WEIGH(q3_k);
QUANT_READ(q4_k);
QUANT_WRITE(q4_k);
QUANT_WEIGH(q4_k);
QUANT_READ(q5_k);
QUANT_WRITE(q5_k);
QUANT_WEIGH(q5_k);
QUANT_READ(q6_k);
QUANT_WRITE(q6_k);
QUANT_WEIGH(q6_k);

QUANT_READ(q1_0);
QUANT_WRITE(q1_0);
QUANT_READ(q2_0);
QUANT_WRITE(q2_0);
QUANT_READ(tq1_0);
QUANT_WRITE(tq1_0);
QUANT_READ(tq2_0);
QUANT_WRITE(tq2_0);
QUANT_READ(mxfp4);
QUANT_WRITE(mxfp4);
QUANT_READ(nvfp4);
QUANT_WRITE(nvfp4);

QUANT_READ(iq4_nl);
QUANT_WRITE(iq4_nl);
QUANT_WEIGH(iq4_nl);
QUANT_READ(iq4_xs);
QUANT_WRITE(iq4_xs);
QUANT_WEIGH(iq4_xs);
QUANT_READ(iq2_xxs);
QUANT_WEIGH(iq2_xxs);
QUANT_READ(iq2_xs);
QUANT_WEIGH(iq2_xs);
QUANT_READ(iq2_s);
QUANT_WRITE(iq2_s);
QUANT_WEIGH(iq2_s);
QUANT_READ(iq3_xxs);
QUANT_WRITE(iq3_xxs);
QUANT_WEIGH(iq3_xxs);
QUANT_READ(iq3_s);
QUANT_WRITE(iq3_s);
QUANT_WEIGH(iq3_s);
QUANT_READ(iq1_s);
QUANT_WEIGH(iq1_s);
QUANT_READ(iq1_m);
QUANT_WEIGH(iq1_m);

/* Whether a block's scales are finite, for types where that is not told by
 * the places of F16 scales. */
bool
quant_sound_f32(const void *block);
bool
quant_sound_f64(const void *block);
bool
quant_sound_f16(const void *block);
bool
quant_sound_bf16(const void *block);
bool
quant_sound_mxfp4(const void *block);
bool
quant_sound_iq1_m(const void *block);

/* The values of the codes of IQ4_NL and IQ4_XS, and twice those of the codes
 * of E2M1. */
extern const int8_t quant_iq4_levels[16], quant_fp4_doubled[16];

/* Truncates; what does not fit an int32 becomes 0, as no cast may. */
static inline int32_t
quant_to_int(float v)
{
    return v > -0x1p31f && v < 0x1p31f ? (int32_t)v : 0;
}

/* The larger of amax and |v|; NaN if one is. */
static inline float
quant_larger_magnitude(float amax, float v)
{
    v = fabsf(v);
    return v > amax || isnan(v) ? v : amax;
}

/* v within [lo, hi] */
static inline int
quant_clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

#endif
