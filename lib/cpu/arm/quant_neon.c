/* quant_neon.c - products with weights of block formats, with NEON alone */
#include "cpu/arm/vector_neon.h"

/* Two products of signed bytes, at most 2 * 128 * 127, fit in 16 bits. */
INLINE int32x4_t
v_dot_fours(int32x4_t s, int8x16_t w, int8x16_t x)
{
    int16x8_t a = vmull_s8(vget_low_s8(w), vget_low_s8(x));
    int16x8_t b = vmull_high_s8(w, x);

    return vpadalq_s16(s, vpaddq_s16(a, b));
}

#include "cpu/arm/quant_neon.h"

void
cpu_neon_group_products(struct cpu_kernels *k)
{
    cpu_fill_group_products(k);
}
