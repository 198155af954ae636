/* floats_avx2.c - rows of floats, and what attention multiplies, with AVX2 */
#include "cpu/x86/vector_avx2.h"
#include "cpu/gemm/attention_small_batch.h"
#include "cpu/gemm/attention_panels.h"
#include "cpu/vector_elementwise.h"
#include "cpu/vector_recurrence.h"

void
cpu_fill_avx2(struct cpu_kernels *k)
{
    cpu_fill_rows(k);
    cpu_fill_recurrences(k);
    cpu_fill_panel_kernels(k);
    cpu_fill_small_batch(k);
    cpu_avx2_float_products(k);
    cpu_avx2_group_products(k);
}
