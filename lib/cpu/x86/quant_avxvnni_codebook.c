/* quant_avxvnni_codebook.c - products with weights of block formats, with
 * AVX-VNNI: those of one or two bits, and the entries of codebooks */
#include "cpu/x86/quant_avxvnni.h"

#include "cpu/gemm/codebook_types.h"
#include "cpu/gemm/quant_types_lowbit.h"

void
cpu_avxvnni_codebook_products(struct cpu_kernels *k)
{
    cpu_fill_lowbit(k);
    cpu_fill_codebook(k);
}
