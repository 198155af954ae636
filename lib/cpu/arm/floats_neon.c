/* floats_neon.c - rows of floats and products with float weights, with NEON */
#include "cpu/arm/vector_neon.h"
#include "cpu/vector_few.h"
#include "cpu/vector_panels.h"
#include "cpu/vector_products.h"
#include "cpu/vector_rows.h"

void
cpu_fill_neon(struct cpu_kernels *k)
{
    fill_rows(k);
    fill_panels(k);
    fill_few(k);
    fill_products(k);
    cpu_neon_group_products(k);
}
