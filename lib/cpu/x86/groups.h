/* groups.h - products with weights in groups, with AVX2: the words of
 * vector_groups.h, but for a tile and the sums of products
 *
 * A file that includes it has those words first, and may have them from later
 * instructions. */
#ifndef CPU_X86_GROUPS_H
#define CPU_X86_GROUPS_H

INLINE vec_bits
load_words(const struct rows *r, size_t at)
{
    vec_bits w = { 0 };

    UNROLL for (int i = 0; i < VEC; i++) w[i] =
        (uint32_t)four_bytes(row_at(r, i) + at);
    return w;
}

/* Transposes 4 x 4 words in each half: w[i] = word i of four rows. */
INLINE void
transpose_halves(const __m256i *r, vec_bits *w)
{
    __m256i a = _mm256_unpacklo_epi32(r[0], r[1]);
    __m256i b = _mm256_unpackhi_epi32(r[0], r[1]);
    __m256i c = _mm256_unpacklo_epi32(r[2], r[3]);
    __m256i d = _mm256_unpackhi_epi32(r[2], r[3]);

    w[0] = (vec_bits)_mm256_unpacklo_epi64(a, c);
    w[1] = (vec_bits)_mm256_unpackhi_epi64(a, c);
    w[2] = (vec_bits)_mm256_unpacklo_epi64(b, d);
    w[3] = (vec_bits)_mm256_unpackhi_epi64(b, d);
}

INLINE void
load_16(const struct rows *r, size_t at, vec_bits *w)
{
    __m256i v[4];

#define ROW(i) _mm_loadu_si128(AS(__m128i, row_at(r, i) + at))
    UNROLL for (int i = 0; i < 4; i++) v[i] =
        _mm256_inserti128_si256(_mm256_castsi128_si256(ROW(i)), ROW(i + 4), 1);
#undef ROW
    transpose_halves(v, w);
}

INLINE vec
load_f16(const struct rows *r, size_t at)
{
    __m128i v[4];

#define ROW(i) _mm_loadu_si128(AS(__m128i, row_at(r, i) + at))
    UNROLL for (int i = 0; i < 4; i++) v[i] =
        _mm_unpacklo_epi16(ROW(2 * i), ROW(2 * i + 1));
#undef ROW
    return from_f16(_mm_unpacklo_epi64(_mm_unpacklo_epi32(v[0], v[1]),
                                       _mm_unpacklo_epi32(v[2], v[3])));
}

INLINE vec_bits
look_up(const int8_t *table, int offset, vec_bits w)
{
    __m256i t =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(AS(__m128i, table)));

    t = _mm256_add_epi8(t, _mm256_set1_epi8((char)offset));
    return (vec_bits)_mm256_shuffle_epi8(t, (__m256i)w);
}

INLINE vec_bits
spread_bits(vec_bits w, int i, int to)
{
    /* byte i / 2 of each word for its four bytes, each of which wants a bit */
    const vec_bits byte = (lane_starts() + (uint32_t)i / 2) * 0x01010101;
    const __m256i bit = _mm256_set1_epi32(i % 2 ? (int)0x80402010 : 0x08040201);
    __m256i b = _mm256_shuffle_epi8((__m256i)w, (__m256i)byte);

    return (vec_bits)_mm256_cmpeq_epi8(_mm256_and_si256(b, bit), bit) &
           0x01010101u << to;
}

INLINE vec_bits
bytes_as_pairs(vec_bits w, int i, int j)
{
    return (vec_bits)_mm256_shuffle_epi8((__m256i)w,
                                         (__m256i)two_bytes_of(i, j));
}

INLINE vec_bits
multiply_pairs(vec_bits a, vec_bits b)
{
    return (vec_bits)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

INLINE vec
as_floats(vec_bits w)
{
    return _mm256_cvtepi32_ps((__m256i)w);
}

#define LONE_POINTS
#include "cpu/x86/points.h"

/* Rows 0 to 3, then 4 to 7. */
INLINE vec_bits
group_sums(const row_words *s, int g)
{
    __m256i a = (__m256i)s[0], b = (__m256i)s[1];

    return (vec_bits)(g ? _mm256_permute2x128_si256(a, b, 0x31)
                        : _mm256_permute2x128_si256(a, b, 0x20));
}

#include "cpu/vector_types.h"

/* The largest magnitude of 32 floats. */
INLINE float
largest(const __m256 *v)
{
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 a = _mm256_max_ps(_mm256_andnot_ps(sign, v[0]),
                             _mm256_andnot_ps(sign, v[1]));
    __m256 b = _mm256_max_ps(_mm256_andnot_ps(sign, v[2]),
                             _mm256_andnot_ps(sign, v[3]));
    __m128 q;

    a = _mm256_max_ps(a, b);
    q = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    q = _mm_max_ss(q, _mm_movehdup_ps(q));
    return _mm_cvtss_f32(q);
}

/* Four times eight integers as bytes, in order; what overflowed is none less
 * than the others. */
INLINE __m256i
to_bytes(const __m256i *q)
{
    __m256i v = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]),
                                   _mm256_packs_epi32(q[2], q[3]));

    v = _mm256_max_epi8(v, _mm256_set1_epi8(-127));
    return _mm256_permutevar8x32_epi32(
        v, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}

/* See column_sums(). */
INLINE void
sum_block(__m256i bytes, int16_t *sums)
{
    __m256i s = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes);

    s = _mm256_add_epi16(s, _mm256_shuffle_epi32(s, 0x4e));
    s = _mm256_add_epi16(s, _mm256_shuffle_epi32(s, 0xb1));
    _mm_storel_epi64(AS_OUT(__m128i, sums),
                     _mm_unpacklo_epi32(_mm256_castsi256_si128(s),
                                        _mm256_extracti128_si256(s, 1)));
}

/* See cpu_prepare_column(): the same bytes. */
static void
prepare(const float *x, void *column, int64_t k)
{
    struct column_runs runs = column_runs(column, k);
    char *q = column;

    for (int64_t b = 0; b < k / COLUMN_BLOCK; b++, x += COLUMN_BLOCK) {
        __m256 v[4], inverse;
        __m256i i[4], bytes;
        float amax;
        int16_t sums[4];

        UNROLL for (int j = 0; j < 4; j++) v[j] = _mm256_loadu_ps(x + 8 * j);
        amax = largest(v);
        inverse = _mm256_set1_ps(amax > 0 ? 127 / amax : 0);
        UNROLL for (int j = 0; j < 4; j++) i[j] =
            _mm256_cvtps_epi32(_mm256_mul_ps(v[j], inverse));
        bytes = to_bytes(i);
        _mm256_storeu_si256(AS_OUT(__m256i, q + b * COLUMN_BLOCK), bytes);
        sum_block(bytes, sums);
        column_put(&runs, b, amax / 127, sums);
    }
}

#endif
