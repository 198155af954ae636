/* float_gemm_avx512bf16.c - GEMV and GEMM with weights of BF16, or rounded to
 * that, with AVX-512 BF16: columns are rounded to BF16, too, which leaves half
 * of a unit in the eighth bit */
#include "cpu/x86/vector_avx512.h"

#define DOT_BF16
typedef __m512i bf16_pairs;

INLINE bf16_pairs
v_load_bf16_pairs(int64_t n, const char *p)
{
    if (n >= 2 * VEC)
        return _mm512_loadu_si512(p);
    return _mm512_maskz_loadu_epi16((__mmask32)((1ull << n) - 1), p);
}

INLINE void
v_store_bf16_pairs(int64_t n, char *p, bf16_pairs v)
{
    if (n >= 2 * VEC)
        _mm512_storeu_si512(p, v);
    else
        _mm512_mask_storeu_epi16(p, (__mmask32)((1ull << n) - 1), v);
}

INLINE bf16_pairs
v_round_to_bf16_pairs(vec a, vec b)
{
    return (bf16_pairs)_mm512_cvtne2ps_pbh(b, a);
}

INLINE vec
v_dot2_bf16(vec s, bf16_pairs a, bf16_pairs b)
{
    return _mm512_dpbf16_ps(s, (__m512bh)a, (__m512bh)b);
}

/* To the nearest, ties to even, as from_float does it; but what is not normal
 * becomes zero. */
INLINE void
v_put_bf16(int64_t n, char *y, const float *x)
{
    for (; n > 0; n -= VEC, x += VEC, y += 2 * VEC) {
        vec v = n >= VEC ? v_load_f32(x) : v_load_f32_first(n, x);

        v_store_half_first(n, y, (vec_half)_mm512_cvtneps_pbh(v));
    }
}

#include "cpu/gemm/float_gemm.h"

void
cpu_fill_avx512bf16(struct cpu_kernels *k)
{
    cpu_fill_float_products(k);
}
