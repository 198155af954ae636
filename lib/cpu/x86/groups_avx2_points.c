/* groups_avx2_points.c - products with weights in groups, with AVX2: those of
 * one or two bits, and the points of grids */
#include "cpu/x86/groups_avx2.h"

#include "cpu/vector_points_types.h"
#include "cpu/vector_types_small.h"

void
cpu_avx2_point_products(struct cpu_kernels *k)
{
    fill_small(k);
    fill_points(k);
}
