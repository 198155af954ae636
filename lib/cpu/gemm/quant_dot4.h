/* quant_dot4.h - dot_begin(), dot_step() and dot_end() of quant_products.h,
 * where an instruction adds four products of bytes to 32 bits at once
 *
 * An instruction set gives
 *
 *     dot4(s, w, x)             s + the sums of four products each, of codes w
 *                               with bytes x, a lane each
 */
#ifndef CPU_GEMM_QUANT_DOT4_H
#define CPU_GEMM_QUANT_DOT4_H

#define DOT_CHAIN_WORDS(most) 8

INLINE vec_bits
dot_begin(vec_bits total)
{
    return total;
}

INLINE vec_bits
dot_step(vec_bits s, vec_bits w, int32_t x, int most)
{
    (void)most;
    return dot4(s, w, x);
}

INLINE vec_bits
dot_end(vec_bits total, vec_bits s, int most)
{
    (void)total, (void)most;
    return s;
}

#endif
