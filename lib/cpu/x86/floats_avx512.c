/* floats_avx512.c - rows of floats, attention's products, with AVX-512 */
#include "cpu/x86/vector_avx512.h"
#include "cpu/gemm/attention_small_batch.h"
#include "cpu/gemm/attention_panels.h"
#include "cpu/vector_elementwise.h"
#include "cpu/vector_recurrence.h"

void
cpu_fill_avx512(struct cpu_kernels *k)
{
    cpu_fill_rows(k);
    cpu_fill_recurrences(k);
    cpu_fill_panel_kernels(k);
    cpu_fill_small_batch(k);
    cpu_avx512_float_products(k);
    cpu_avx512_group_products(k);
}
