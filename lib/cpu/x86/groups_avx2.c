/* groups_avx2.c - products with weights in groups, with AVX2 */
#include "cpu/x86/vector_avx2.h"
#include "cpu/vector_tile.h"

/* A tile: 9 integer sums in registers, or 8 where products of signed bytes take
 * more; the float sums, needed once in 8 words, are left to the cache. */
#define VECS(most)    ((most) ? 3 : 2)
#define COLS(most)    ((most) ? 3 : 4)
#define MOST_VECS     3
#define TILE          9
#define UNITS         16
#define CHAINS        1
#define FEW           1
#define SIGNED_OFFSET 0

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

/* vpmaddubsw wants one side unsigned: |w|, and x with the sign of w. A compiler
 * that put off additions ran out of registers. */
INLINE vec_bits
run_step(vec_bits s, vec_bits w, int32_t x, int most)
{
    __m256i c = (__m256i)w, v = _mm256_set1_epi32(x);

    if (most)
        s = (vec_bits)_mm256_add_epi16((__m256i)s, _mm256_maddubs_epi16(c, v));
    else
        s += (vec_bits)add_pairs(
            _mm256_maddubs_epi16(_mm256_abs_epi8(c), _mm256_sign_epi8(v, c)));
    IN_REGISTER(s);
    return s;
}

/* Unlike vpsignb, the complement of x, -x - 1, takes no multiplier's time. */
#define BY_SIGNS

INLINE vec_bits
add_signed(vec_bits s, vec_bits w, int32_t x)
{
    __m256i c = (__m256i)w;
    __m256i negative = _mm256_cmpgt_epi8(_mm256_setzero_si256(), c);
    __m256i v = _mm256_xor_si256(_mm256_set1_epi32(x), negative);

    s += (vec_bits)add_pairs(_mm256_maddubs_epi16(_mm256_abs_epi8(c), v));
    IN_REGISTER(s);
    return s;
}

/* The magnitudes of what is negative; those of a group fit in 16 bits. */
INLINE vec_bits
start_signed(const vec_bits *w, int n)
{
    __m256i s = _mm256_setzero_si256();

    UNROLL for (int i = 0; i < n; i++)
    {
        __m256i below = _mm256_min_epi8((__m256i)w[i], _mm256_setzero_si256());

        s = _mm256_add_epi16(s,
                             _mm256_maddubs_epi16(_mm256_set1_epi8(1), below));
    }
    return (vec_bits)_mm256_madd_epi16(s, _mm256_set1_epi16(-1));
}

INLINE vec_bits
run_end(vec_bits total, vec_bits s, int most)
{
    return total + (most ? (vec_bits)add_pairs((__m256i)s) : s);
}

#include "cpu/x86/groups.h"

void
cpu_avx2_group_products(struct cpu_kernels *k)
{
    fill_groups(k, prepare);
}
