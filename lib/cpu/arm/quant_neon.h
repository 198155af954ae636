/* quant_neon.h - products with weights of block formats, on Arm: the functions
 * of quant_products.h, and columns in eight bits
 *
 * The file that includes this one gives
 *
 *     v_dot_fours(s, w, x)        s + the sums of four products each of signed
 *                               bytes w and x
 */
#ifndef CPU_ARM_QUANT_NEON_H
#define CPU_ARM_QUANT_NEON_H

#include "cpu/arm/vector_neon.h"
#include "cpu/gemm/lane_rows.h"

/* A tile: 8 integer and 8 float sums, 8 for products. */
#define VECS(most)    2
#define COLS(most)    4
#define MAX_VECS      2
#define UNITS         32
#define TILE          8
#define CHAINS        1
#define SMALL_BATCH   1
#define SIGNED_OFFSET 0

INLINE int8x16_t
bytes_at(const char *p)
{
    return vld1q_s8(AS(int8_t, p));
}

INLINE vec_bits
v_load_words(const struct rows *r, size_t at)
{
    vec_bits w;

    UNROLL for (int i = 0; i < VEC; i++) w[i] =
        (uint32_t)cpu_load_int32(cpu_weight_row(r, i) + at);
    return w;
}

/* Transposes 4 x 4 words: w[i] = word i of four rows. */
INLINE void
v_load_16(const struct rows *r, size_t at, vec_bits *w)
{
    uint32x4_t v[4];
    uint64x2_t a, b, c, d;

    UNROLL for (int i = 0; i < 4; i++) v[i] =
        vreinterpretq_u32_s8(bytes_at(cpu_weight_row(r, i) + at));
    a = vreinterpretq_u64_u32(vzip1q_u32(v[0], v[1]));
    b = vreinterpretq_u64_u32(vzip2q_u32(v[0], v[1]));
    c = vreinterpretq_u64_u32(vzip1q_u32(v[2], v[3]));
    d = vreinterpretq_u64_u32(vzip2q_u32(v[2], v[3]));
    w[0] = vreinterpretq_u32_u64(vzip1q_u64(a, c));
    w[1] = vreinterpretq_u32_u64(vzip2q_u64(a, c));
    w[2] = vreinterpretq_u32_u64(vzip1q_u64(b, d));
    w[3] = vreinterpretq_u32_u64(vzip2q_u64(b, d));
}

INLINE vec
v_load_f16(const struct rows *r, size_t at)
{
    return v_from_f16(v_narrow(v_load_words(r, at) & 0xffff));
}

INLINE vec_bits
v_look_up(const int8_t *table, int offset, vec_bits w)
{
    int8x16_t t = vaddq_s8(vld1q_s8(table), vdupq_n_s8((int8_t)offset));

    return vreinterpretq_u32_s8(vqtbl1q_s8(t, vreinterpretq_u8_u32(w)));
}

INLINE vec_bits
v_spread_bits(vec_bits w, int i, int to)
{
    /* byte i / 2 of each word for its four bytes, each of which wants a bit */
    const vec_bits byte = (v_lane_starts() + (uint32_t)i / 2) * 0x01010101;
    const vec_bits bit = vdupq_n_u32(i % 2 ? 0x80402010 : 0x08040201);
    uint8x16_t b =
        vqtbl1q_u8(vreinterpretq_u8_u32(w), vreinterpretq_u8_u32(byte));

    return vreinterpretq_u32_u8(vtstq_u8(b, vreinterpretq_u8_u32(bit))) &
           0x01010101u << to;
}

INLINE vec_bits
v_bytes_as_int16_pairs(vec_bits w, int i, int j)
{
    return vreinterpretq_u32_u8(vqtbl1q_u8(
        vreinterpretq_u8_u32(w), vreinterpretq_u8_u32(v_two_bytes(i, j))));
}

INLINE vec_bits
v_dot2_int16(vec_bits a, vec_bits b)
{
    int16x8_t x = vreinterpretq_s16_u32(a), y = vreinterpretq_s16_u32(b);

    return vreinterpretq_u32_s32(vpaddq_s32(
        vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y)));
}

INLINE vec
v_as_floats(vec_bits w)
{
    return vcvtq_f32_s32(vreinterpretq_s32_u32(w));
}

/* No code is larger than 127, so that all are signed bytes. */
INLINE vec_bits
v_dot4(vec_bits s, vec_bits w, int32_t x)
{
    return vreinterpretq_u32_s32(
        v_dot_fours(vreinterpretq_s32_u32(s), vreinterpretq_s8_u32(w),
                    vreinterpretq_s8_s32(vdupq_n_s32(x))));
}

#include "cpu/gemm/quant_dot4.h"
#include "cpu/gemm/codebook_types.h"
#include "cpu/gemm/quant_types_minima.h"
#include "cpu/gemm/quant_types_scaled.h"
#include "cpu/gemm/quant_types_lowbit.h"

/* The largest magnitude of 32 floats; a NaN, if there is one. */
INLINE float
largest_magnitude(const float32x4_t *v)
{
    float32x4_t a = vdupq_n_f32(0);

    UNROLL for (int j = 0; j < 8; j++) a = vmaxq_f32(vabsq_f32(v[j]), a);
    return vmaxvq_f32(a);
}

/* Sixteen integers as bytes. */
INLINE int8x16_t
to_bytes(const int32x4_t *q)
{
    int16x8_t a = vcombine_s16(vqmovn_s32(q[0]), vqmovn_s32(q[1]));
    int16x8_t b = vcombine_s16(vqmovn_s32(q[2]), vqmovn_s32(q[3]));

    return vcombine_s8(vqmovn_s16(a), vqmovn_s16(b));
}

/* Two of cpu_column_block_sums(), of half of a block. */
INLINE void
sum_half(int8x16_t bytes, int16_t *sums)
{
    int16x8_t pairs = vpaddlq_s8(bytes);
    int16x4_t s = vadd_s16(vget_low_s16(pairs), vget_high_s16(pairs));

    s = vadd_s16(s, vext_s16(s, s, 2));
    sums[0] = vget_lane_s16(s, 0);
    sums[1] = vget_lane_s16(s, 1);
}

/* See cpu_prepare_column(): the same bytes. */
static void
v_quantize_column(const float *x, void *column, int64_t k)
{
    struct column_arrays runs = cpu_column_arrays(column, k);
    int8_t *q = column;

    for (int64_t b = 0; b < k / COLUMN_BLOCK; b++, x += COLUMN_BLOCK) {
        float32x4_t v[8];
        int32x4_t i[8];
        int8x16_t low, high;
        float amax, inverse;
        int16_t sums[4];

        UNROLL for (int j = 0; j < 8; j++) v[j] = vld1q_f32(x + 4 * j);
        amax = largest_magnitude(v);
        inverse = amax > 0 ? 127 / amax : 0;
        UNROLL for (int j = 0; j < 8; j++) i[j] =
            vcvtnq_s32_f32(vmulq_n_f32(v[j], inverse));
        low = to_bytes(i);
        high = to_bytes(i + 4);
        vst1q_s8(q + b * COLUMN_BLOCK, low);
        vst1q_s8(q + b * COLUMN_BLOCK + 16, high);
        sum_half(low, sums);
        sum_half(high, sums + 2);
        cpu_column_set_block(&runs, b, amax, sums);
    }
}

static void
cpu_fill_group_products(struct cpu_kernels *k)
{
    cpu_fill_prepare(k, v_quantize_column);
    cpu_fill_scaled(k);
    cpu_fill_minima(k);
    cpu_fill_lowbit(k);
    cpu_fill_codebook(k);
}

#endif
