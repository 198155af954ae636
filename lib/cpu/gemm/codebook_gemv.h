/* codebook_gemv.h - blocks of the IQ types of unpack_codebook.h row by row, for
 * any vectors: unpacked for GEMM, and GEMV, where codebook entries are
 * multiplied as they are looked up
 *
 * Where HAS_CODEBOOK_GEMV is defined, an instruction set gives
 *
 *     v_sums_of_four(w, x)      the sums of products of bytes w[0] to w[3] with
 *                               signed bytes x[0] to x[3], of each half
 *     v_group_sums(s, g)        of VEC / 4 of these the halves g, in order */
#ifndef CPU_GEMM_CODEBOOK_GEMV_H
#define CPU_GEMM_CODEBOOK_GEMV_H

#include "cpu/gemm/quant_products.h"
#include "cpu/gemm/unpack_codebook.h"

/* A block of VEC rows, for GEMM, in excess of the offset. */
INLINE void
cpu_unpack_codebook(struct codebook t, int offset, const struct rows *r,
                    vec_bits *codes)
{
    char rows[VEC][QUANT_SUPER];
    const struct rows unpacked = cpu_rows_from(rows[0], QUANT_SUPER);

    ROLLED for (int i = 0; i < VEC; i++)
    {
        struct entry_indices f;

        t.find(cpu_weight_row(r, i), &f);
        for (int u = 0; u < IQ_UNITS; u++) {
            row_bytes v = cpu_unit_entries(t, &f, u);

            if (t.moved)
                v = v_lower_where(v, cpu_signs_at(&f, u)) +
                    (uint8_t)(offset - MOVED_OFFSET);
            else
                v = v_negate_where(v, cpu_signs_at(&f, u)) + (uint8_t)offset;
            memcpy(rows[i] + u * COLUMN_BLOCK, &v, sizeof(v));
        }
    }
    for (size_t i = 0; i < QUANT_SUPER / 16; i++)
        v_load_16(&unpacked, 16 * i, codes + 4 * i);
}

#ifdef HAS_CODEBOOK_GEMV
/* Sums of four rows' products of a unit, in each half of 16 values. */
INLINE row_words
four_rows_sums(struct codebook t, const struct entry_indices *found, int u,
               row_bytes x)
{
    row_bytes w[4], signed_x[4];

    UNROLL for (int i = 0; i < 4; i++)
    {
        uint32_t bits = cpu_signs_at(&found[i], u);

        w[i] = cpu_unit_entries(t, &found[i], u);
        if (t.moved)
            w[i] = v_lower_where(w[i], bits);
        signed_x[i] = t.moved ? x : v_negate_where(x, bits);
    }
    return v_sums_of_four(w, signed_x);
}

/* acc, and what a unit adds to it: sums of its halves. */
INLINE vec
add_unit(struct format f, vec acc, const vec_bits *s, const vec *scales, vec d)
{
    if (f.has_int_scales)
        return cpu_add_int_scaled(f, acc, cpu_scaled_sum(f, s, 1, scales),
                                  scales, NULL, d);
    return cpu_add_scaled(f, acc, v_as_floats(s[0] + s[1]), scales, NULL, d);
}

/* GEMV of VEC rows. */
INLINE void
cpu_gemv_codebook(struct codebook t, struct format f,
                  const struct cpu_product *p, int64_t row, const char *next)
{
    struct rows r = cpu_weight_rows(p, row);
    struct entry_indices found[VEC];
    struct int_scales integers;
    vec scales[MAX_UNITS * MAX_SCALES], acc = { 0 };

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += IQ_UNITS) {
        vec part = cpu_block_begin(f, acc);

        cpu_load_scales(f, false, &r, &integers, scales);
        ROLLED for (int i = 0; i < VEC; i++)
            t.find(cpu_weight_row(&r, i), &found[i]);
        ROLLED for (int u = 0; u < IQ_UNITS; u++)
        {
            row_bytes x =
                LOAD_ROW(row_bytes, p->cols + (unit + u) * COLUMN_BLOCK);
            vec d = v_splat(cpu_column_scales(p->cols, p->k)[unit + u]);
            row_words fours[VEC / 4];
            vec_bits s[2];

            UNROLL for (int i = 0; i < VEC / 4; i++) fours[i] =
                four_rows_sums(t, found + 4 * i, u, x);
            UNROLL for (int g = 0; g < 2; g++) s[g] = v_group_sums(fours, g);
            UNROLL for (int g = 0; g < COLUMN_BLOCK / f.group; g++) s[g] +=
                cpu_group_start(f, p->cols, p->k, unit + u, g);
            part = add_unit(f, part, s, scales + u * cpu_unit_scales(f), d);
            cpu_prefetch_unit(f, next, u, IQ_UNITS, 1);
        }
        acc = cpu_block_end(f, acc, part, scales);
        next += VEC * f.size;
        cpu_rows_advance(&r, f.size);
    }
    v_store_f32(p->out + row, acc);
}
#endif

#endif
