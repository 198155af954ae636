/* floats_neon.c - rows of floats and products with float weights, with NEON */
#include "cpu/arm/vector_neon.h"
#include "cpu/gemm/attention_small_batch.h"
#include "cpu/gemm/attention_panels.h"
#include "cpu/gemm/float_gemm.h"
#include "cpu/vector_elementwise.h"
#include "cpu/vector_recurrence.h"

void
cpu_fill_neon(struct cpu_kernels *k)
{
    cpu_fill_rows(k);
    cpu_fill_recurrences(k);
    cpu_fill_panel_kernels(k);
    cpu_fill_small_batch(k);
    cpu_fill_float_products(k);
    cpu_neon_group_products(k);
}
