/* codebook_gemm_vbmi.h - blocks of the IQ types that refer to entries of
 * codebooks, unpacked for GEMM, with AVX-512 VBMI and GFNI
 *
 * Two rows' blocks at once: all of their 64 entries, or 128, are found by
 * permuting bytes, see codebook_planes.h, and a vector has the same coordinate
 * of all of them. */
#ifndef CPU_X86_CODEBOOK_GEMM_VBMI_H
#define CPU_X86_CODEBOOK_GEMM_VBMI_H

#include "cpu/x86/codebook_unpack_vbmi.h"

#define PAIRS_OF_ROWS (VEC / 2)

/* The first row of pair i; the other is four rows below, so that lanes are rows
 * when quarters come together. */
INLINE int
cpu_pair_first_row(int i)
{
    return i + i / 4 * 4;
}

/* Pairs i and on, as many as are looked up together. */
INLINE void
cpu_find_row_pairs(struct plane_codebook g, bool halved, const struct rows *r,
                   int i, struct row_pair *t, struct code_fields *c)
{
    UNROLL for (int j = 0; j < TOGETHER; j++)
    {
        int row = cpu_pair_first_row(i + j);

        g.find(cpu_weight_row(r, row), cpu_weight_row(r, row + 4), &t[j]);
    }
    cpu_find_code_fields(g, halved, t, c);
}

/* Codes in the order of values: of each unit, 0 and 4, 1 and 5, ..., four
 * coordinates of four entries, and likewise the others. */
INLINE void
put_codes(struct plane_codebook g, const struct code_fields *c, __m512i *to)
{
    __m512i codes[8];

    cpu_unpack_fields(g, c, codes);
    UNROLL for (int i = 0; i < 2; i++, to += 4)
    {
        const __m512i *v = codes + 4 * i;
        __m512i low[2] = { _mm512_unpacklo_epi8(v[0], v[1]),
                           _mm512_unpacklo_epi8(v[2], v[3]) };
        __m512i high[2] = { _mm512_unpackhi_epi8(v[0], v[1]),
                            _mm512_unpackhi_epi8(v[2], v[3]) };

        to[0] = _mm512_unpacklo_epi16(low[0], low[1]);
        to[1] = _mm512_unpackhi_epi16(low[0], low[1]);
        to[2] = _mm512_unpacklo_epi16(high[0], high[1]);
        to[3] = _mm512_unpackhi_epi16(high[0], high[1]);
    }
}

/* As cpu_unpack_codebook() does. */
INLINE void
cpu_unpack_two_rows(struct plane_codebook g, const struct rows *r,
                    vec_bits *codes)
{
    __m512i unpacked[PAIRS_OF_ROWS][8];
    const size_t stride = sizeof(unpacked[0]), half = 32;
    const char *first = AS(char, unpacked);
    struct rows rows = { .fourth = { first, first + half, first + 4 * stride,
                                     first + 4 * stride + half },
                         .stride = stride };

    ROLLED for (int i = 0; i < PAIRS_OF_ROWS; i += TOGETHER)
    {
        struct row_pair found[TOGETHER];
        struct code_fields fields[TOGETHER];

        cpu_find_row_pairs(g, false, r, i, found, fields);
        UNROLL for (int j = 0; j < TOGETHER; j++)
            put_codes(g, &fields[j], unpacked[i + j]);
    }
    for (size_t i = 0; i < 16; i++) {
        size_t unit = i / 2, j = i % 2;
        vec_bits *to = codes + unit * WORDS, w[4];

        v_load_16(&rows, 64 * (4 * j + unit % 4) + 16 * (unit / 4), w);
        UNROLL for (size_t n = 0; n < 4; n++)
            to[g.size == 8 ? 2 * n + j : 4 * j + n] = w[n];
    }
}

#endif
