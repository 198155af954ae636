/* float_gemm_avx512.c - GEMV and GEMM with float weights, with AVX-512 */
#include "cpu/x86/vector_avx512.h"
#include "cpu/gemm/float_gemm.h"

void
cpu_avx512_float_products(struct cpu_kernels *k)
{
    cpu_fill_float_products(k);
}
