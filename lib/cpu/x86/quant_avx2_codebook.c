/* quant_avx2_codebook.c - products with weights of block formats, with AVX2:
 * those of one or two bits, and the entries of codebooks */
#include "cpu/x86/quant_avx2.h"

#include "cpu/gemm/codebook_types.h"
#include "cpu/gemm/quant_types_lowbit.h"

void
cpu_avx2_codebook_products(struct cpu_kernels *k)
{
    cpu_fill_lowbit(k);
    cpu_fill_codebook(k);
}
