/* vector_neon.h - four floats at a time: the functions of vector.h
 *
 * Every AArch64 processor has these, F16 conversions included. */
#ifndef CPU_ARM_VECTOR_NEON_H
#define CPU_ARM_VECTOR_NEON_H

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#include "cpu/prefetch.h"

#define VEC       4
#define REGISTERS 32
#define NEIGHBOURS_FIRST
typedef float32x4_t vec;
typedef uint32x4_t vec_bits;
typedef uint16x4_t vec_half;

/* The part of cpu_fill_neon() that is in quant_neon.c. */
void
cpu_neon_group_products(struct cpu_kernels *k);

/* Bytes of the first n of four values, `size` bytes each. */
INLINE size_t
first_bytes(int64_t n, size_t size)
{
    return n >= 4 ? 4 * size : n > 0 ? (size_t)n * size : 0;
}

INLINE vec
v_load_f32(const void *p)
{
    return vld1q_f32(p);
}

INLINE vec
v_load_f32_first(int64_t n, const void *p)
{
    float part[4] = { 0 };

    memcpy(part, p, first_bytes(n, sizeof(*part)));
    return vld1q_f32(part);
}

INLINE vec_half
v_load_half(const void *p)
{
    return vld1_u16(p);
}

INLINE vec_half
v_load_half_first(int64_t n, const void *p)
{
    uint16_t part[4] = { 0 };

    memcpy(part, p, first_bytes(n, sizeof(*part)));
    return vld1_u16(part);
}

INLINE void
v_store_f32(float *p, vec v)
{
    vst1q_f32(p, v);
}

INLINE void
v_store_f32_first(int64_t n, float *p, vec v)
{
    float part[4];

    vst1q_f32(part, v);
    memcpy(p, part, first_bytes(n, sizeof(*part)));
}

INLINE void
v_store_half_first(int64_t n, void *p, vec_half h)
{
    uint16_t part[4];

    if (n >= 4) {
        vst1_u16(p, h);
        return;
    }
    vst1_u16(part, h);
    memcpy(p, part, first_bytes(n, sizeof(*part)));
}

INLINE vec
v_choose_first(int64_t n, vec a, vec b)
{
    const int32x4_t lanes = { 0, 1, 2, 3 };
    int32_t first = n >= 4 ? 4 : (int32_t)n;

    return vbslq_f32(vcltq_s32(lanes, vdupq_n_s32(first)), a, b);
}

INLINE vec
v_choose_where(vec_bits bits, vec a, vec b)
{
    return vbslq_f32(bits, a, b);
}

INLINE vec
v_load_rows_of_4(const float *p, size_t stride)
{
    (void)stride; /* there are no second four */
    return vld1q_f32(p);
}

INLINE vec
v_interleave_low(vec a, vec b)
{
    return vzip1q_f32(a, b);
}

INLINE vec
v_interleave_high(vec a, vec b)
{
    return vzip2q_f32(a, b);
}

INLINE vec
v_swap_neighbours(vec v)
{
    return vrev64q_f32(v);
}

INLINE vec
v_concat_low(vec a, vec b)
{
    return vcombine_f32(vget_low_f32(a), vget_low_f32(b));
}

INLINE vec
v_concat_high(vec a, vec b)
{
    return vcombine_f32(vget_high_f32(a), vget_high_f32(b));
}

INLINE vec_bits
v_load_int8(const int8_t *p)
{
    int8x8_t four =
        vreinterpret_s8_s32(vdup_n_s32(cpu_load_int32((const char *)p)));

    return vreinterpretq_u32_s32(vmovl_s16(vget_low_s16(vmovl_s8(four))));
}

INLINE vec
v_from_int32(vec_bits bits)
{
    return vcvtq_f32_s32(vreinterpretq_s32_u32(bits));
}

INLINE vec
v_splat(float s)
{
    return vdupq_n_f32(s);
}

INLINE vec
v_fused(vec a, vec b, vec c)
{
    return vfmaq_f32(c, a, b);
}

/* FMAX would hand on a NaN of either. */
INLINE vec
v_larger(vec a, vec b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

INLINE vec
v_smaller(vec a, vec b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

INLINE vec
v_nearest(vec v)
{
    return vrndnq_f32(v);
}

/* 2^n, n from -126 to 127. */
INLINE vec
power_of_two(int32x4_t n)
{
    return vreinterpretq_f32_s32(
        vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
}

/* In two factors, so that 2^n need not be a float. */
INLINE vec
v_times_power(vec v, vec n)
{
    int32x4_t whole = vcvtq_s32_f32(n), half = vshrq_n_s32(whole, 1);

    return v * power_of_two(half) * power_of_two(vsubq_s32(whole, half));
}

INLINE vec
v_from_f16(vec_half h)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(h));
}

INLINE vec_half
v_to_f16(vec v)
{
    return vreinterpret_u16_f16(vcvt_f16_f32(v));
}

INLINE float
v_f16_to_float(uint16_t bits)
{
    return vgetq_lane_f32(v_from_f16(vdup_n_u16(bits)), 0);
}

INLINE vec
v_from_bf16(vec_half h)
{
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(h), 16));
}

INLINE vec_half
v_narrow(vec_bits bits)
{
    return vmovn_u32(bits);
}

/* The first two and the last two are added, then both sums. */
INLINE float
v_add_lanes(vec v)
{
    return vaddvq_f32(v);
}

INLINE void
v_store_sums(float *p, const vec *v)
{
    vst1q_f32(p, vpaddq_f32(vpaddq_f32(v[0], v[1]), vpaddq_f32(v[2], v[3])));
}

INLINE float
v_largest_lane(vec v)
{
    return vmaxvq_f32(v);
}

#endif
