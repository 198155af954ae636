/* quant_dotprod.c - products with weights of block formats, with the dot
 * products of Armv8.2 */
#include "cpu/arm/vector_neon.h"

INLINE int32x4_t
v_dot_fours(int32x4_t s, int8x16_t w, int8x16_t x)
{
    return vdotq_s32(s, w, x);
}

#include "cpu/arm/quant_neon.h"

void
cpu_fill_dotprod(struct cpu_kernels *k)
{
    cpu_fill_group_products(k);
}
