/* quant_avx2.c - products with weights of block formats, with AVX2: those with
 * a scale each; and columns */
#include "cpu/x86/quant_avx2.h"

#include "cpu/gemm/quant_types_scaled.h"
#include "cpu/x86/column_avx2.h"
#include "cpu/x86/gemv_iq4_xs_avx2.h"

void
cpu_avx2_group_products(struct cpu_kernels *k)
{
    fill_prepare(k, prepare);
    fill_scaled(k);
    fill_iq4_xs(k);
    cpu_avx2_minima_products(k);
    cpu_avx2_codebook_products(k);
}
