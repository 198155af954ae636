/* vector.h - an instruction set's functions for vectors: loads by type, exp
 *
 * Functions on vectors begin with v_: each instruction set has its own of the
 * same names, and the templates use them. An instruction set is a
 * header, included before this one, that gives
 *
 *     vec, VEC                  a vector of VEC floats
 *     vec_bits                  VEC uint32_t, castable to vec and back
 *     vec_half                  VEC values of 16 bits
 *     REGISTERS                 how many vector registers there are
 *
 *     v_load_f32(p)             VEC floats, aligned or not
 *     v_load_f32_first(n, p)    n of them, fewer than VEC or all, and nothing
 *                               after them is read; other lanes are 0
 *     v_load_half(p), v_load_half_first(n, p)
 *     v_store_f32(p, v), v_store_f32_first(n, p, v)
 *     v_store_half_first(n, p, h)
 *     v_choose_first(n, a, b)   the first n lanes of a, the others of b
 *
 *     v_splat(s)                s in every lane
 *     v_fused(a, b, c)          a * b + c, rounded once
 *     v_larger(a, b), v_smaller(a, b)
 *                               b where one of them is NaN
 *     v_choose_where(bits, a, b)
 *                               a in the lanes whose bits are all ones, b else
 *     v_load_rows_of_4(p, stride)
 *                               four floats at p, then four at p + stride, ...
 *     v_interleave_low(a, b), v_interleave_high(a, b)
 *                               of each group of four lanes, the first (last)
 *                               two of a and b, in turn
 *     v_concat_low(a, b), v_concat_high(a, b)
 *                               ..., as two pairs, a's first
 *     v_swap_neighbours(v)      every lane's neighbour: the second, the first,
 *                               the fourth, the third ...
 *     v_load_int8(p)            VEC int8_t as int32_t
 *     v_from_int32(bits)        int32_t as floats
 *     v_nearest(v)              the integer, ties to even
 *     v_times_power(v, n)       v * 2^n, n integers from -151 to 129, so that
 *                               it underflows gradually
 *     v_from_f16(h), v_to_f16(v)
 *                               conversions; ties to even
 *     v_from_bf16(h)
 *     v_f16_to_float(bits)      an F16 as a float
 *     v_narrow(bits)            32 bits below 2^16 to 16
 *     v_add_lanes(v)            halves are added, then their halves, and so on;
 *                               or neighbours, then their sums, where
 *                               NEIGHBOURS_FIRST is defined
 *     v_largest_lane(v)
 *     v_store_sums(p, v)        v_add_lanes() of v[0] to v[3], in that order
 *     v_store_sums_4x4(p, stride, v)
 *                               v_add_lanes() of v[i][j] to p[i + j * stride],
 *                               i and j below 4; if HAS_STORE_SUMS_4X4 is
 *                               defined
 *
 * all of them INLINE. Lanes are computed with + - * / as floats are; nothing
 * is fused unless it says so. */
#ifndef CPU_VECTOR_H
#define CPU_VECTOR_H

#include <string.h>

#include "cpu/prefetch.h"
#include "quant/blocks.h"

/* Bytes of an F32, F16 or BF16; the type is known where this is inlined. */
INLINE size_t
cpu_value_size(enum ggml_type type)
{
    return type == GGML_TYPE_F32 ? 4 : 2;
}

/* Weights after which chains end, see float_sums.h; 0: they do not. */
INLINE int64_t
cpu_chain_values(enum ggml_type type)
{
    if (VEC < 8)
        return 128;
    return VEC == 8 && type != GGML_TYPE_F32 ? 512 : 0;
}

INLINE vec
v_from_half(enum ggml_type type, vec_half h)
{
    return type == GGML_TYPE_F16 ? v_from_f16(h) : v_from_bf16(h);
}

/* n values as floats, fewer than VEC or all. */
INLINE vec
v_load(enum ggml_type type, int64_t n, const void *p)
{
    if (type == GGML_TYPE_F32)
        return n >= VEC ? v_load_f32(p) : v_load_f32_first(n, p);
    return v_from_half(type,
                       n >= VEC ? v_load_half(p) : v_load_half_first(n, p));
}

/* Types of a KV cache that have blocks of 32 values with one scale. */
INLINE bool
cpu_has_blocks_of_32(enum ggml_type type)
{
    return type == GGML_TYPE_Q8_0 || type == GGML_TYPE_Q5_0 ||
           type == GGML_TYPE_Q4_0;
}

/* Bytes of such a block. */
INLINE size_t
cpu_block_of_32_size(enum ggml_type type)
{
    return type == GGML_TYPE_Q8_0   ? sizeof(struct block_q8_0)
           : type == GGML_TYPE_Q5_0 ? sizeof(struct block_q5_0)
                                    : sizeof(struct block_q4_0);
}

/* Values that are read together: a block. */
INLINE int64_t
cpu_values_step(enum ggml_type type)
{
    return cpu_has_blocks_of_32(type) ? 32 : VEC;
}

/* Bytes of k values; down to whole blocks. */
INLINE size_t
cpu_values_size(enum ggml_type type, int64_t k)
{
    return cpu_has_blocks_of_32(type)
               ? (size_t)k / 32 * cpu_block_of_32_size(type)
               : (size_t)k * cpu_value_size(type);
}

/* VEC codes of four bits, from code i of 32 on: the low halves of sixteen
 * bytes, and then the high ones. */
INLINE vec_bits
v_load_nibbles(const uint8_t *qs, int i)
{
    return v_load_int8((const int8_t *)qs + i % 16) >> i / 16 * 4 & 15;
}

/* VEC values from value i of a block on. */
INLINE vec
v_load_q4_0(const struct block_q4_0 *block, int i)
{
    return v_splat(v_f16_to_float(block->d)) *
           v_from_int32(v_load_nibbles(block->qs, i) - 8);
}

/* VEC values from value i on; bit i of qh is the fifth of code i. */
INLINE vec
v_load_q5_0(const struct block_q5_0 *block, int i)
{
    vec_bits lanes, fifth = { 0 };
    uint32_t high;

    memcpy(&high, block->qh, sizeof(high));
    UNROLL for (int j = 0; j < VEC; j++) lanes[j] = (uint32_t)j;
    fifth = ((fifth + (high >> i)) >> lanes & 1) << 4;
    return v_splat(v_f16_to_float(block->d)) *
           v_from_int32((v_load_nibbles(block->qs, i) | fifth) - 16);
}

/* n values, at most VEC, from value i on of what lies at p. */
INLINE vec
v_load_values(enum ggml_type type, int64_t n, const char *p, int64_t i)
{
    const struct block_q8_0 *block;

    if (!cpu_has_blocks_of_32(type))
        return v_load(type, n, p + cpu_values_size(type, i));
    p += cpu_values_size(type, i);
    if (type == GGML_TYPE_Q4_0)
        return v_load_q4_0((const void *)p, (int)(i % 32));
    if (type == GGML_TYPE_Q5_0)
        return v_load_q5_0((const void *)p, (int)(i % 32));
    block = (const void *)p;
    return v_splat(v_f16_to_float(block->d)) *
           v_from_int32(v_load_int8(block->qs + i % 32));
}

INLINE vec
v_load_floats(int64_t n, const float *p)
{
    return v_load(GGML_TYPE_F32, n, p);
}

INLINE void
v_store(int64_t n, float *p, vec v)
{
    if (n >= VEC)
        v_store_f32(p, v);
    else
        v_store_f32_first(n, p, v);
}

/* exp(x) = 2^n * exp(r), n the integer nearest to x / ln 2, so |r| is at most
 * ln 2 / 2; the high part of ln 2 has few enough bits that n times it is
 * exact. exp(r) is the Taylor series up to r^7. Within 1 ulp or so; underflows
 * gradually; NaN stays. */
INLINE vec
v_exp(vec x)
{
    vec n, r, p;

    x = v_larger(v_splat(-104), x); /* rounds to 0 */
    x = v_smaller(v_splat(89), x);  /* becomes infinity */
    n = v_nearest(x * v_splat(0x1.715476p+0f));
    r = v_fused(n, v_splat(-0x1.62e4p-1f), x);
    r = v_fused(n, v_splat(-0x1.7f7d1cp-20f), r);
    p = v_fused(v_splat(1.0f / 5040), r, v_splat(1.0f / 720));
    p = v_fused(p, r, v_splat(1.0f / 120));
    p = v_fused(p, r, v_splat(1.0f / 24));
    p = v_fused(p, r, v_splat(1.0f / 6));
    p = v_fused(p, r, v_splat(0.5f));
    p = v_fused(p, r, v_splat(1));
    p = v_fused(p, r, v_splat(1));
    return v_times_power(p, n);
}

#endif
