/* quant_avxvnni.c - products with weights of block formats, with AVX-VNNI:
 * those with a scale each; columns are those of AVX2 */
#include "cpu/x86/quant_avxvnni.h"

#include "cpu/gemm/quant_types_scaled.h"

void
cpu_fill_avxvnni(struct cpu_kernels *k)
{
    cpu_fill_scaled(k);
    cpu_avxvnni_minima_products(k);
    cpu_avxvnni_codebook_products(k);
}
