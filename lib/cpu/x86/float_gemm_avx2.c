/* float_gemm_avx2.c - GEMV and GEMM with float weights, with AVX2 */
#include "cpu/x86/vector_avx2.h"
#include "cpu/gemm/float_gemm.h"

void
cpu_avx2_float_products(struct cpu_kernels *k)
{
    cpu_fill_float_products(k);
}
