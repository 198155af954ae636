/* quant_i8mm.c - products with weights of block formats, with the matrix
 * products of bytes of Armv8.6: of two rows and two columns, eight values at
 * once */
#include "cpu/arm/vector_neon.h"

#define HAS_DOT8

INLINE int32x4_t
v_dot_fours(int32x4_t s, int8x16_t w, int8x16_t x)
{
    return vdotq_s32(s, w, x);
}

/* Two words of four rows, as both words of two rows and of the other two. */
INLINE void
v_join_words(vec_bits *w)
{
    vec_bits a = vzip1q_u32(w[0], w[1]), b = vzip2q_u32(w[0], w[1]);

    w[0] = a;
    w[1] = b;
}

/* s[0] is of the first two rows: of the first x, y, of the second x, y. */
INLINE void
v_dot8(vec_bits *s, const vec_bits *w, const char *x, const char *y)
{
    int8x16_t xy = vcombine_s8(vld1_s8(AS(int8_t, x)), vld1_s8(AS(int8_t, y)));

    UNROLL for (int i = 0; i < 2; i++) s[i] = vreinterpretq_u32_s32(vmmlaq_s32(
        vreinterpretq_s32_u32(s[i]), vreinterpretq_s8_u32(w[i]), xy));
}

INLINE void
v_split_dot8(vec_bits *s)
{
    vec_bits x = vuzp1q_u32(s[0], s[1]), y = vuzp2q_u32(s[0], s[1]);

    s[0] = x;
    s[1] = y;
}

#include "cpu/arm/quant_neon.h"

void
cpu_fill_i8mm(struct cpu_kernels *k)
{
    cpu_fill_group_products(k);
}
