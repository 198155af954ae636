/* unpack_ternary.h - the ternary type TQ1_0, whose bytes are five trits, for
 * any vectors; see unpack_types.h
 *
 * The first trit of a byte is the whole part of three times it, of 256; what
 * is left of that is the byte of the trits after it: see struct block_tq1_0.
 *
 * Where UNSIGNED_DOTS is defined, GEMV needs no trits: with bytes y and what is
 * left of them y', each trit is (3 * y - y') / 256, and so is the sum of their
 * products. */
#ifndef CPU_GEMM_UNPACK_TERNARY_H
#define CPU_GEMM_UNPACK_TERNARY_H

#include "cpu/gemm/unpack_types.h"

INLINE void
cpu_scales_tq1_0(const struct rows *r, vec *scales)
{
    cpu_scales_last(r, AT(tq1_0, d), scales);
}

typedef int8_t vec_signed __attribute__((vector_size(sizeof(vec))));

/* Signed bytes, which stand for bytes less 128: three times one stands for
 * three times the other. */
INLINE vec_bits
as_ternary(vec_bits w)
{
    return w ^ 0x80808080u;
}

/* The first digit. */
INLINE vec_bits
first_trit(vec_bits w)
{
    vec_signed v = (vec_signed)w;

    return (vec_bits)(1 + (vec_signed)(v < 86 - 128) -
                      (vec_signed)(v > 170 - 128));
}

/* Three times each byte: what is left of it. */
INLINE vec_bits
times_three(vec_bits w)
{
    vec_bytes v = (vec_bytes)w;

    return (vec_bits)(v + v + v);
}

/* Digit n of each byte of w, as as_ternary() left them. */
INLINE vec_bits
trits(vec_bits w, int n)
{
    UNROLL for (int i = 0; i < n; i++) w = times_three(w);
    return first_trit(w);
}

/* Five units of 32 bytes; then 16 bytes, two digits a unit, of which the last
 * has one, and the digits of four bytes. */
LOAD(tq1_0)
{
    v_load_16(r, n ? 32 : 16 * (size_t)half, w);
    UNROLL for (int i = 0; i < 4; i++) w[i] = as_ternary(w[i]);
    if (n)
        w[4] = as_ternary(v_load_words(r, AT(tq1_0, qh)));
}

CODE(tq1_0)
{
    if (!n)
        return trits(w[i], u);
    return u < 2 || !half ? trits(w[i], 2 * u + half) : trits(w[4], i);
}

#ifdef UNSIGNED_DOTS
/* The sums of products of 32 values: with the bytes their digits are the first
 * of, and with what is left of these. */
struct ternary_sums {
    vec_bits whole, left;
};

INLINE void
add_trits(struct ternary_sums *s, vec_bits *w, int32_t x)
{
    s->whole = v_dot4(s->whole, *w, x);
    *w = times_three(*w);
    s->left = v_dot4(s->left, *w, x);
}

/* Unit u of a block: its bytes are those of words w[0] to w[7], and four in
 * w[8]. */
INLINE vec_bits
sum_ternary(vec_bits *w, int u, const char *x)
{
    typedef int32_t words __attribute__((vector_size(sizeof(vec))));
    struct ternary_sums s = { { 0 }, { 0 } };

    UNROLL for (int i = 0; i < WORDS; i++)
    {
        vec_bits *from = &w[u < 5 ? i : u < 7 || i < 4 ? i % 4 : 8];

        add_trits(&s, from, AS(int32_t, x)[i]);
    }
    return (vec_bits)((words)(s.whole * 3 - s.left) >> 8);
}

/* GEMV of VEC rows. */
INLINE void
cpu_gemv_ternary(const struct cpu_product *p, int64_t row, const char *next)
{
    const struct format f = { .size = sizeof(struct block_tq1_0),
                              .group = COLUMN_BLOCK,
                              .offset = 1 };
    struct rows r = cpu_weight_rows(p, row);
    vec scales[MAX_UNITS], acc = { 0 };

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += MAX_UNITS) {
        vec_bits w[9];

        cpu_scales_tq1_0(&r, scales);
        v_load_16(&r, 0, w);
        v_load_16(&r, 16, w + 4);
        UNROLL for (int u = 0; u < MAX_UNITS; u++)
        {
            vec d = v_splat(cpu_column_scales(p->cols, p->k)[unit + u]);
            vec_bits s;

            if (u == 5) {
                v_load_16(&r, 32, w);
                w[8] = v_load_words(&r, AT(tq1_0, qh));
            }
            s = sum_ternary(w, u, p->cols + (unit + u) * COLUMN_BLOCK) +
                cpu_group_start(f, p->cols, p->k, unit + u, 0);
            acc = cpu_add_scaled(f, acc, v_as_floats(s), &scales[u], NULL, d);
            cpu_prefetch_part(f, next, u, MAX_UNITS, true);
        }
        next += VEC * f.size;
        cpu_rows_advance(&r, f.size);
    }
    v_store_f32(p->out + row, acc);
}
#else
#define cpu_gemv_ternary NULL
#endif

#endif
