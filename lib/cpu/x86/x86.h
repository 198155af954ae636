/* x86.h - what the x86 kernels share */
#ifndef CPU_X86_X86_H
#define CPU_X86_X86_H

#include "cpu/kernels.h"

/* Loops over the registers of a tile must be gone after compiling. */
#define UNROLL       _Pragma("GCC unroll 16")
#define INLINE       static inline __attribute__((always_inline))
#define AS(T, p)     ((const T *)(const void *)(p))
#define AS_OUT(T, p) ((T *)(void *)(p))

/* exp(x) = 2^n * exp(r), n the integer nearest to x / ln 2. The high part of
 * ln 2 has few enough bits that n times it is exact. */
#define EXP_LOG2E    0x1.715476p+0f
#define EXP_LN2_HIGH 0x1.62e4p-1f
#define EXP_LN2_LOW  0x1.7f7d1cp-20f
#define EXP_LOWEST   (-104.0f) /* rounds to 0 */
#define EXP_HIGHEST  89.0f     /* becomes infinity */

/* The parts of cpu_fill_avx2() and cpu_fill_avx512(). */
void
cpu_avx2_float_products(struct cpu_kernels *k);
void
cpu_avx2_block_products(struct cpu_kernels *k);
void
cpu_avx512_float_products(struct cpu_kernels *k);
void
cpu_avx512_block_products(struct cpu_kernels *k);

#endif
