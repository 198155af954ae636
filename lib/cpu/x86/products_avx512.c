/* products_avx512.c - products with float weights, with AVX-512 */
#include "cpu/x86/vector_avx512.h"
#include "cpu/vector_products.h"

void
cpu_avx512_float_products(struct cpu_kernels *k)
{
    fill_products(k);
}
