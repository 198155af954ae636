/* groups_avx2.c - products with weights in groups, with AVX2: the words of
 * vector_groups.h */
#include "cpu/x86/vector_avx2.h"

/* A tile: three registers an element, 4 for products. */
#define VECS          1
#define COLS          4
#define UNITS         32
#define TILE          4
#define SIGNED_OFFSET 0

INLINE vec_bits
load_words(const char *const *rows, size_t at)
{
    vec_bits w;

    UNROLL for (int i = 0; i < VEC; i++) w[i] =
        (uint32_t)four_bytes(rows[i] + at);
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
load_16(const char *const *rows, size_t at, vec_bits *w)
{
    __m256i r[4];

    UNROLL for (int i = 0; i < 4; i++) r[i] = _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(AS(__m128i, rows[i] + at))),
        _mm_loadu_si128(AS(__m128i, rows[i + 4] + at)), 1);
    transpose_halves(r, w);
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
    __m128i t = _mm_loadu_si128(AS(__m128i, table));

    return (vec_bits)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(t),
                                         (__m256i)w);
}

INLINE vec
as_floats(vec_bits w)
{
    return _mm256_cvtepi32_ps((__m256i)w);
}

/* Products of pairs, of at most 2 * most * 127, are added in 16 bits as long
 * as they fit; those of signed bytes, of two times 127 * 127, at once in 32. */
#define RUN(most) ((most) == 0 || (most) <= 15 ? 8 : (most) <= 31 ? 4 : 2)

INLINE vec_bits
run_begin(vec_bits total)
{
    (void)total;
    return (vec_bits){ 0 };
}

INLINE __m256i
add_pairs(__m256i pairs)
{
    return _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
}

/* vpmaddubsw wants one side unsigned: |w|, and x with the sign of w. */
INLINE vec_bits
run_step(vec_bits s, vec_bits w, int32_t x, int most)
{
    __m256i c = (__m256i)w, v = _mm256_set1_epi32(x);

    if (most)
        return (vec_bits)_mm256_add_epi16((__m256i)s,
                                          _mm256_maddubs_epi16(c, v));
    return (vec_bits)_mm256_add_epi32(
        (__m256i)s, add_pairs(_mm256_maddubs_epi16(_mm256_sign_epi8(c, c),
                                                   _mm256_sign_epi8(v, c))));
}

INLINE vec_bits
run_end(vec_bits total, vec_bits s, int most)
{
    return total + (most ? (vec_bits)add_pairs((__m256i)s) : s);
}

#include "cpu/vector_formats.h"

void
cpu_avx2_group_products(struct cpu_kernels *k)
{
    fill_groups(k);
}
