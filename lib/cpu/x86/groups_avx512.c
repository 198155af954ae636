/* groups_avx512.c - products with weights in groups, with AVX-512 VNNI: the
 * words of vector_groups.h */
#include "cpu/x86/vector_avx512.h"

/* A tile: 12 integer and 12 float sums, 4 for products. */
#define VECS          3
#define COLS          4
#define UNITS         8
#define TILE          12
#define SIGNED_OFFSET 128

INLINE vec_bits
load_words(const char *const *rows, size_t at)
{
    __m512i v[4];

    UNROLL for (int i = 0; i < 4; i++)
    {
        v[i] = _mm512_set1_epi32(four_bytes(rows[4 * i] + at));
        UNROLL for (int j = 1; j < 4; j++) v[i] =
            _mm512_mask_set1_epi32(v[i], (__mmask16)(1 << (4 * i + j)),
                                   four_bytes(rows[4 * i + j] + at));
    }
    v[0] = _mm512_mask_mov_epi32(v[0], 0x00f0, v[1]);
    v[2] = _mm512_mask_mov_epi32(v[2], 0xf000, v[3]);
    return (vec_bits)_mm512_mask_mov_epi32(v[0], 0xff00, v[2]);
}

/* Transposes 4 x 4 words in each quarter: w[i] = word i of four rows. */
INLINE void
transpose_quarters(const __m512i *r, vec_bits *w)
{
    __m512i a = _mm512_unpacklo_epi32(r[0], r[1]);
    __m512i b = _mm512_unpackhi_epi32(r[0], r[1]);
    __m512i c = _mm512_unpacklo_epi32(r[2], r[3]);
    __m512i d = _mm512_unpackhi_epi32(r[2], r[3]);

    w[0] = (vec_bits)_mm512_unpacklo_epi64(a, c);
    w[1] = (vec_bits)_mm512_unpackhi_epi64(a, c);
    w[2] = (vec_bits)_mm512_unpacklo_epi64(b, d);
    w[3] = (vec_bits)_mm512_unpackhi_epi64(b, d);
}

INLINE void
load_16(const char *const *rows, size_t at, vec_bits *w)
{
    __m512i r[4];

#define ROW(i) _mm_loadu_si128(AS(__m128i, rows[i] + at))
    UNROLL for (int i = 0; i < 4; i++)
    {
        r[i] = _mm512_castsi128_si512(ROW(i));
        r[i] = _mm512_mask_broadcast_i32x4(r[i], 0x00f0, ROW(i + 4));
        r[i] = _mm512_mask_broadcast_i32x4(r[i], 0x0f00, ROW(i + 8));
        r[i] = _mm512_mask_broadcast_i32x4(r[i], 0xf000, ROW(i + 12));
    }
#undef ROW
    transpose_quarters(r, w);
}

INLINE void
load_32(const char *const *rows, size_t at, vec_bits *w)
{
    load_16(rows, at, w);
    load_16(rows, at + 16, w + 4);
}

INLINE vec_bits
look_up(const int8_t *table, vec_bits w)
{
    __m512i t = _mm512_broadcast_i32x4(_mm_loadu_si128(AS(__m128i, table)));

    t = _mm512_xor_si512(t, _mm512_set1_epi8((char)SIGNED_OFFSET));
    return (vec_bits)_mm512_shuffle_epi8(t, (__m512i)w);
}

INLINE vec
as_floats(vec_bits w)
{
    return _mm512_cvtepi32_ps((__m512i)w);
}

/* Sums of four products are made in 32 bits. */
#define RUN(most) 8

INLINE vec_bits
run_begin(vec_bits total)
{
    return total;
}

INLINE vec_bits
run_step(vec_bits s, vec_bits w, int32_t x, int most)
{
    (void)most;
    return (vec_bits)_mm512_dpbusd_epi32((__m512i)s, (__m512i)w,
                                         _mm512_set1_epi32(x));
}

INLINE vec_bits
run_end(vec_bits total, vec_bits s, int most)
{
    (void)total, (void)most;
    return s;
}

#include "cpu/vector_formats.h"

void
cpu_avx512_group_products(struct cpu_kernels *k)
{
    fill_groups(k);
}
