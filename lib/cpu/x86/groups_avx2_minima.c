/* groups_avx2_minima.c - products with weights in groups, with AVX2: those with
 * minima, or integers as scales */
#include "cpu/x86/groups_avx2.h"

#include "cpu/vector_types_minima.h"

void
cpu_avx2_minima_products(struct cpu_kernels *k)
{
    fill_minima(k);
}
