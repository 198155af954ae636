/* groups_avxvnni.c - products with weights in groups, with AVX2 and its dot
 * products of four bytes (AVX-VNNI) */
#include "cpu/x86/vector_avx2.h"
#include "cpu/vector_tile.h"

/* A tile: 9 integer sums in registers; the float sums, needed once in 8 words,
 * are left to the cache. */
#define VECS(most)    3
#define COLS(most)    3
#define MOST_VECS     3
#define TILE          9
#define UNITS         16
#define CHAINS        2
#define SIGNED_OFFSET 128

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
#ifdef __AVXVNNI__
    return (vec_bits)_mm256_dpbusd_avx_epi32((__m256i)s, (__m256i)w,
                                             _mm256_set1_epi32(x));
#else /* the same of AVX-512, for tests */
    return (vec_bits)_mm256_dpbusd_epi32((__m256i)s, (__m256i)w,
                                         _mm256_set1_epi32(x));
#endif
}

INLINE vec_bits
run_end(vec_bits total, vec_bits s, int most)
{
    (void)total, (void)most;
    return s;
}

#include "cpu/x86/groups.h"

void
cpu_fill_avxvnni(struct cpu_kernels *k)
{
    fill_groups(k, prepare);
}
