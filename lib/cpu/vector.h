/* vector.h - from an instruction set's words for vectors: loads by type, exp
 *
 * An instruction set is a header, included before this one, that gives
 *
 *     vec, VEC                  a vector of VEC floats
 *     vec_bits                  VEC uint32_t, castable to vec and back
 *     vec_half                  VEC values of 16 bits
 *     REGISTERS                 how many vector registers there are
 *
 *     load_f32(p)               VEC floats, aligned or not
 *     load_f32_first(n, p)      n of them, fewer than VEC or all, and nothing
 *                               after them is read; other lanes are 0
 *     load_half(p), load_half_first(n, p)
 *     store_f32(p, v), store_f32_first(n, p, v), store_half_first(n, p, h)
 *     choose_first(n, a, b)     the first n lanes of a, the others of b
 *
 *     splat(s)                  s in every lane
 *     fused(a, b, c)            a * b + c, rounded once
 *     larger(a, b), smaller(a, b)     b where one of them is NaN
 *     choose_where(bits, a, b)  a in the lanes whose bits are all ones, b else
 *     load_rows_of_4(p, stride)     four floats at p, then four at p + stride,
 * ... interleave_low(a, b), interleave_high(a, b)    of each group of four
 * lanes, the first (last) two of a and b, in turn concat_low(a, b),
 * concat_high(a, b)    ..., as two pairs, a's first swap_neighbours(v) every
 * lane's neighbour: the second, the first, the fourth, the third ...
 *     load_bytes(p)             VEC int8_t as floats
 *     nearest(v)                the integer, ties to even
 *     times_power(v, n)         v * 2^n, n integers from -151 to 129, so that
 *                               it underflows gradually
 *     from_f16(h), to_f16(v)    conversions; ties to even
 *     from_bf16(h)
 *     one_half(bits)            an F16 as a float
 *     narrow(bits)              32 bits below 2^16 to 16
 *     add_lanes(v)              halves are added, then their halves, and so on;
 *                               or neighbours, then their sums, where
 *                               NEIGHBOURS_FIRST is defined
 *     largest_lane(v)
 *     store_sums(p, v)          add_lanes() of v[0] to v[3], in that order
 *     store_sums_4x4(p, stride, v)     add_lanes() of v[i][j] to p[i + j *
 *                               stride], i and j below 4; if HAS_STORE_SUMS_4X4
 * is defined
 *
 * all of them INLINE. Lanes are computed with + - * / as floats are; nothing
 * is fused unless it says so. */
#ifndef CPU_VECTOR_H
#define CPU_VECTOR_H

#include "cpu/prefetch.h"
#include "quant/blocks.h"

/* Of F32, F16 and BF16; the type is known where this is inlined. */
INLINE size_t
width(enum ggml_type type)
{
    return type == GGML_TYPE_F32 ? 4 : 2;
}

/* Weights after which chains end, see float_sums.h; 0: they do not. */
INLINE int64_t
chain_of(enum ggml_type type)
{
    if (VEC < 8)
        return 128;
    return VEC == 8 && type != GGML_TYPE_F32 ? 512 : 0;
}

INLINE vec
from_half(enum ggml_type type, vec_half h)
{
    return type == GGML_TYPE_F16 ? from_f16(h) : from_bf16(h);
}

/* n values as floats, fewer than VEC or all. */
INLINE vec
load(enum ggml_type type, int64_t n, const void *p)
{
    if (type == GGML_TYPE_F32)
        return n >= VEC ? load_f32(p) : load_f32_first(n, p);
    return from_half(type, n >= VEC ? load_half(p) : load_half_first(n, p));
}

/* Values that are read together: of Q8_0 a block, which has one scale. */
INLINE int64_t
step_of(enum ggml_type type)
{
    return type == GGML_TYPE_Q8_0 ? 32 : VEC;
}

/* Bytes of k values; of Q8_0 down to whole blocks. */
INLINE size_t
size_of(enum ggml_type type, int64_t k)
{
    return type == GGML_TYPE_Q8_0 ? (size_t)k / 32 * sizeof(struct block_q8_0)
                                  : (size_t)k * width(type);
}

/* n values, at most VEC, from value i on of what lies at p. */
INLINE vec
load_values(enum ggml_type type, int64_t n, const char *p, int64_t i)
{
    const struct block_q8_0 *block =
        (const struct block_q8_0 *)(const void *)p + i / 32;

    if (type != GGML_TYPE_Q8_0)
        return load(type, n, p + size_of(type, i));
    return splat(one_half(block->d)) * load_bytes(block->qs + i % 32);
}

INLINE vec
load_floats(int64_t n, const float *p)
{
    return load(GGML_TYPE_F32, n, p);
}

INLINE void
store(int64_t n, float *p, vec v)
{
    if (n >= VEC)
        store_f32(p, v);
    else
        store_f32_first(n, p, v);
}

/* exp(x) = 2^n * exp(r), n the integer nearest to x / ln 2, so |r| is at most
 * ln 2 / 2; the high part of ln 2 has few enough bits that n times it is
 * exact. exp(r) is the Taylor series up to r^7. Within 1 ulp or so; underflows
 * gradually; NaN stays. */
INLINE vec
exp_lanes(vec x)
{
    vec n, r, p;

    x = larger(splat(-104), x); /* rounds to 0 */
    x = smaller(splat(89), x);  /* becomes infinity */
    n = nearest(x * splat(0x1.715476p+0f));
    r = fused(n, splat(-0x1.62e4p-1f), x);
    r = fused(n, splat(-0x1.7f7d1cp-20f), r);
    p = fused(splat(1.0f / 5040), r, splat(1.0f / 720));
    p = fused(p, r, splat(1.0f / 120));
    p = fused(p, r, splat(1.0f / 24));
    p = fused(p, r, splat(1.0f / 6));
    p = fused(p, r, splat(0.5f));
    p = fused(p, r, splat(1));
    p = fused(p, r, splat(1));
    return times_power(p, n);
}

#endif
