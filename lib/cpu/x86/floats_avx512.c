/* floats_avx512.c - rows of floats and products with float weights, with
 * AVX-512 */
#include "cpu/x86/vector_avx512.h"
#include "cpu/vector_few.h"
#include "cpu/vector_panels.h"
#include "cpu/vector_products.h"
#include "cpu/vector_rows.h"

void
cpu_fill_avx512(struct cpu_kernels *k)
{
    fill_rows(k);
    fill_panels(k);
    fill_few(k);
    fill_products(k);
    cpu_avx512_group_products(k);
}
