/* quant_dot4.h - v_dot_begin(), v_dot_step() and v_dot_end() of
 * quant_products.h, where an instruction adds four products of bytes to 32 bits
 * at once
 *
 * An instruction set gives
 *
 *     v_dot4(s, w, x)           s + the sums of four products each, of codes w
 *                               with bytes x, a lane each
 */
#ifndef CPU_GEMM_QUANT_DOT4_H
#define CPU_GEMM_QUANT_DOT4_H

#define DOT_CHAIN_WORDS(most) 8

INLINE vec_bits
v_dot_begin(vec_bits total)
{
    return total;
}

INLINE vec_bits
v_dot_step(vec_bits s, vec_bits w, int32_t x, int most)
{
    (void)most;
    return v_dot4(s, w, x);
}

INLINE vec_bits
v_dot_end(vec_bits total, vec_bits s, int most)
{
    (void)total, (void)most;
    return s;
}

#endif
