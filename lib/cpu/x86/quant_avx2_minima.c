/* quant_avx2_minima.c - products with weights of block formats, with AVX2:
 * those with minima, or integers as scales */
#include "cpu/x86/quant_avx2.h"

#include "cpu/gemm/quant_types_minima.h"

void
cpu_avx2_minima_products(struct cpu_kernels *k)
{
    cpu_fill_minima(k);
}
