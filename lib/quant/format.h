/* format.h - the row functions of each family, for the table
 *
 * All work on n values, whole blocks; the `quant_X` of a type is its reference
 * quantiser (the bytes do not depend on the machine), the `dequant_X` exact
 * but for one rounding of each product. Values that are not finite never
 * trap; what comes out of their block is unspecified. */
#ifndef QUANT_FORMAT_H
#define QUANT_FORMAT_H

#include <stdint.h>

void
quant_f32(const float *x, void *y, int64_t n);
void
dequant_f32(const void *x, float *y, int64_t n);
void
quant_f16(const float *x, void *y, int64_t n);
void
dequant_f16(const void *x, float *y, int64_t n);
void
quant_bf16(const float *x, void *y, int64_t n);
void
dequant_bf16(const void *x, float *y, int64_t n);

void
quant_q4_0(const float *x, void *y, int64_t n);
void
dequant_q4_0(const void *x, float *y, int64_t n);

void
quant_q8_0(const float *x, void *y, int64_t n);
void
dequant_q8_0(const void *x, float *y, int64_t n);
void
quant_q8_1(const float *x, void *y, int64_t n);

/* Truncates; what does not fit an int32 becomes 0, as no cast may. */
static inline int32_t
quant_to_int(float v)
{
    return v > -0x1p31f && v < 0x1p31f ? (int32_t)v : 0;
}

#endif
