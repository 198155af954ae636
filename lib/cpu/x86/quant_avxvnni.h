/* quant_avxvnni.h - the functions of quant_products.h with AVX2 and its dot
 * products of four bytes (AVX-VNNI) */
#ifndef CPU_X86_QUANT_AVXVNNI_H
#define CPU_X86_QUANT_AVXVNNI_H

#include "cpu/x86/vector_avx2.h"
#include "cpu/gemm/lane_rows.h"

/* A tile: 9 integer sums in registers; the float sums, needed once in 8 words,
 * are left to the cache. */
#define VECS(most)    3
#define COLS(most)    3
#define MAX_VECS      3
#define TILE          9
#define UNITS         16
#define CHAINS        2
#define SMALL_BATCH   4
#define SIGNED_OFFSET 128

INLINE vec_bits
v_dot4(vec_bits s, vec_bits w, int32_t x)
{
#ifdef __AVXVNNI__
    return (vec_bits)_mm256_dpbusd_avx_epi32((__m256i)s, (__m256i)w,
                                             _mm256_set1_epi32(x));
#else /* the same of AVX-512, for tests */
    return (vec_bits)_mm256_dpbusd_epi32((__m256i)s, (__m256i)w,
                                         _mm256_set1_epi32(x));
#endif
}

#define UNSIGNED_DOTS
#include "cpu/gemm/quant_dot4.h"
#include "cpu/x86/quant_avx.h"

/* Products that other files of this set have. */
void
cpu_avxvnni_minima_products(struct cpu_kernels *k);
void
cpu_avxvnni_codebook_products(struct cpu_kernels *k);

#endif
