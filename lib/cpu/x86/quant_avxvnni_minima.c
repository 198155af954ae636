/* quant_avxvnni_minima.c - products with weights of block formats, with
 * AVX-VNNI: those with minima, or integers as scales */
#include "cpu/x86/quant_avxvnni.h"

#include "cpu/gemm/quant_types_minima.h"

void
cpu_avxvnni_minima_products(struct cpu_kernels *k)
{
    cpu_fill_minima(k);
}
