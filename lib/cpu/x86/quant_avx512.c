/* quant_avx512.c - products with weights of block formats, with AVX-512 VNNI:
 * those with a scale each; and columns */
#include "cpu/x86/quant_avx512.h"

#include "cpu/gemm/quant_types_scaled.h"
#include "cpu/x86/column_avx512.h"
#include "cpu/x86/gemv_avx512.h"

GEMV_BY_FOUR(q8_0, FOUR, SIGNED_OFFSET, 0, false, q8_0)
GEMV_BY_FOUR(q4_0, FOUR, 8, 15, false, q4_0)
GEMV_BY_FOUR(q5_0, FOUR, 16, 31, false, q5_0)
GEMV_BY_FOUR(iq4_nl, FOUR, SIGNED_OFFSET, 0, false, q4_0)
GEMV_BY_FOUR(mxfp4, FOUR, FP4_OFFSET, 24, false, mxfp4)
GEMV_BY_FOUR(iq4_xs, 1, SIGNED_OFFSET, 0, false, iq4_xs)

void
cpu_avx512_group_products(struct cpu_kernels *k)
{
    cpu_fill_prepare(k, v_quantize_column);
    cpu_fill_scaled(k);
    FILL_GEMV_BY_FOUR(k, q8_0, GGML_TYPE_Q8_0);
    FILL_GEMV_BY_FOUR(k, q4_0, GGML_TYPE_Q4_0);
    FILL_GEMV_BY_FOUR(k, q5_0, GGML_TYPE_Q5_0);
    FILL_GEMV_BY_FOUR(k, iq4_nl, GGML_TYPE_IQ4_NL);
    FILL_GEMV_BY_FOUR(k, mxfp4, GGML_TYPE_MXFP4);
    FILL_GEMV_BY_FOUR(k, iq4_xs, GGML_TYPE_IQ4_XS);
    cpu_avx512_minima_products(k);
    cpu_avx512_codebook_products(k);
}
