/* groups_avx512.c - products with weights in groups, with AVX-512 VNNI */
#include "cpu/x86/groups_avx512.h"

#include "cpu/vector_types.h"
#include "cpu/x86/column_avx512.h"
#include "cpu/x86/fours_avx512.h"
#include "cpu/x86/super_avx512.h"

void
cpu_avx512_group_products(struct cpu_kernels *k)
{
    fill_groups(k, prepare);
    fill_fours(k);
    fill_halves(k);
}
