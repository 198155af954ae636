/* groups_avx512_points.c - products with weights in groups, with AVX-512 VNNI:
 * those of one or two bits, and the points of grids */
#include "cpu/x86/groups_avx512.h"

#include "cpu/vector_points_types.h"
#include "cpu/vector_types_small.h"

void
cpu_avx512_point_products(struct cpu_kernels *k)
{
    fill_small(k);
    fill_points(k);
}
