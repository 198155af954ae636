/* quant_avx512_minima.c - products with weights of block formats, with AVX-512
 * VNNI: those with minima, or integers as scales */
#include "cpu/x86/quant_avx512.h"

#include "cpu/gemm/quant_types_minima.h"
#include "cpu/x86/gemv_avx512.h"
#include "cpu/x86/gemv_k_avx512.h"

GEMV_BY_FOUR(q4_1, FOUR, 0, 15, true, q4_1)
GEMV_BY_FOUR(q5_1, FOUR, 0, 31, true, q5_1)

void
cpu_avx512_minima_products(struct cpu_kernels *k)
{
    cpu_fill_minima(k);
    FILL_GEMV_BY_FOUR(k, q4_1, GGML_TYPE_Q4_1);
    FILL_GEMV_BY_FOUR(k, q5_1, GGML_TYPE_Q5_1);
    cpu_fill_k_gemv(k);
}
