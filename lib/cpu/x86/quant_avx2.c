/* quant_avx2.c - products with weights of block formats, with AVX2: those with
 * a scale each; and columns */
#include "cpu/x86/quant_avx2.h"

#include "cpu/gemm/quant_types_scaled.h"
#include "cpu/x86/column_avx2.h"
#include "cpu/x86/gemv_iq4_xs_avx2.h"

void
cpu_avx2_group_products(struct cpu_kernels *k)
{
    cpu_fill_prepare(k, v_quantize_column);
    cpu_fill_scaled(k);
    cpu_fill_iq4_xs_gemv(k);
    cpu_avx2_minima_products(k);
    cpu_avx2_codebook_products(k);
}
