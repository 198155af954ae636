/* vector_points_products.h - products with the IQ types of vector_points.h
 *
 * Only one column meets points as they are looked up; for more they are written
 * down as codes, and loaded as other bytes are.
 *
 * An instruction set may have a better way for some types: see POINTS_AT_ONCE
 * below. For one column it gives
 *
 *     LONE_POINTS               defined where it has these words
 *     sums_of_four(w, x)        the sums of products of bytes w[0] to w[3] with
 *                               signed bytes x[0] to x[3], of each half
 *     group_sums(s, g)          of VEC / 4 of these the halves g, in order */
#ifndef CPU_VECTOR_POINTS_PRODUCTS_H
#define CPU_VECTOR_POINTS_PRODUCTS_H

/* A block of VEC rows, as many columns want it. */
INLINE void
open_points(struct points t, const struct rows *r, vec_bits *codes)
{
    char rows[VEC][QUANT_SUPER];
    const struct rows opened = rows_from(rows[0], QUANT_SUPER);

    ROLLED for (int i = 0; i < VEC; i++)
    {
        struct found f;

        t.find(row_at(r, i), &f);
        for (int u = 0; u < IQ_UNITS; u++) {
            row_bytes v = unit_points(t, &f, u);

            if (t.moved)
                v = lower_where(v, signs_at(&f, u)) +
                    (uint8_t)(t.offset - MOVED_OFFSET);
            else
                v = negate_where(v, signs_at(&f, u)) + (uint8_t)t.offset;
            memcpy(rows[i] + u * COLUMN_BLOCK, &v, sizeof(v));
        }
    }
    for (size_t i = 0; i < QUANT_SUPER / 16; i++)
        load_16(&opened, 16 * i, codes + 4 * i);
}

#ifdef LONE_POINTS
/* Sums of four rows' products of a unit, in each half of 16 values. */
INLINE row_words
four_points(struct points t, const struct found *found, int u, row_bytes x)
{
    row_bytes w[4], signed_x[4];

    UNROLL for (int i = 0; i < 4; i++)
    {
        uint32_t bits = signs_at(&found[i], u);

        w[i] = unit_points(t, &found[i], u);
        if (t.moved)
            w[i] = lower_where(w[i], bits);
        signed_x[i] = t.moved ? x : negate_where(x, bits);
    }
    return sums_of_four(w, signed_x);
}

/* acc, and what a unit adds to it: sums of its halves. */
INLINE vec
add_unit(struct format f, vec acc, const vec_bits *s, const vec *scales, vec d)
{
    if (f.coded)
        return add_coded(f, acc, scaled_sum(f, s, 1, scales), scales, NULL, d);
    return add_scaled(f, acc, as_floats(s[0] + s[1]), scales, NULL, d);
}

/* VEC rows times the only column. */
INLINE void
lone_points(struct points t, struct format f, const struct cpu_product *p,
            int64_t row, const char *next)
{
    struct rows r = rows_at(p, row);
    struct found found[VEC];
    struct coded integers;
    vec scales[MOST_UNITS * MOST_SCALES], acc = { 0 };

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += IQ_UNITS) {
        vec part = block_begin(f, acc);

        load_scales(f, false, &r, &integers, scales);
        ROLLED for (int i = 0; i < VEC; i++) t.find(row_at(&r, i), &found[i]);
        ROLLED for (int u = 0; u < IQ_UNITS; u++)
        {
            row_bytes x =
                LOAD_ROW(row_bytes, p->cols + (unit + u) * COLUMN_BLOCK);
            vec d = splat(column_scales(p->cols, p->k)[unit + u]);
            row_words fours[VEC / 4];
            vec_bits s[2];

            UNROLL for (int i = 0; i < VEC / 4; i++) fours[i] =
                four_points(t, found + 4 * i, u, x);
            UNROLL for (int g = 0; g < 2; g++) s[g] = group_sums(fours, g);
            UNROLL for (int g = 0; g < COLUMN_BLOCK / f.group; g++) s[g] +=
                start_of(f, p->cols, p->k, unit + u, g);
            part = add_unit(f, part, s, scales + u * scales_of(f), d);
            fetch_part(f, next, u, IQ_UNITS, true);
        }
        acc = block_end(f, acc, part, scales);
        next += VEC * f.size;
        rows_advance(&r, f.size);
    }
    store_f32(p->out + row, acc);
}
#endif

#ifdef POINTS_AT_ONCE
#include "cpu/x86/points_avx512.h"
#else
#define at_once(t)                       false
#define open_at_once(t, r, codes)        ((void)0)
#define lone_at_once(t, f, p, row, next) ((void)0)
#endif

/* Sums of halves are floats before they are scaled, as those of large codes. */
#ifdef LONE_POINTS
#define MULTIPLY_LONE(name, in_group, ...)                                     \
    static void lone_##name(const struct cpu_product *p, int64_t row,          \
                            const char *next)                                  \
    {                                                                          \
        const struct points t = points_##name;                                 \
        const struct format f = { .size = sizeof(struct block_##name),         \
                                  .group = in_group,                           \
                                  .offset = t.moved ? MOVED_OFFSET : 0,        \
                                  .most = UINT8_MAX,                           \
                                  __VA_ARGS__ };                               \
                                                                               \
        if (at_once(t))                                                        \
            lone_at_once(t, f, p, row, next);                                  \
        else                                                                   \
            lone_points(t, f, p, row, next);                                   \
    }
#define LONE(name) lone_##name
#else
#define MULTIPLY_LONE(name, in_group, ...)
#define LONE(name) NULL
#endif

#define MULTIPLY_POINTS(name, in_group, ...)                                   \
    enum {                                                                     \
        few_##name = 1                                                         \
    };                                                                         \
    MULTIPLY_LONE(name, in_group, __VA_ARGS__)                                 \
    APART void whole_##name(const struct rows *r, vec_bits *codes,             \
                            vec *scales)                                       \
    {                                                                          \
        const struct points t = points_##name;                                 \
        const struct format f = { .group = in_group,                           \
                                  .offset = t.offset,                          \
                                  .most = 2 * t.offset,                        \
                                  __VA_ARGS__ };                               \
        struct coded integers;                                                 \
                                                                               \
        load_scales(f, false, r, &integers, scales);                           \
        if (at_once(t))                                                        \
            open_at_once(t, r, codes);                                         \
        else                                                                   \
            open_points(t, r, codes);                                          \
    }                                                                          \
    static void multiply_##name(const struct cpu_product *p)                   \
    {                                                                          \
        const struct format f = { .block = QUANT_SUPER,                        \
                                  .size = sizeof(struct block_##name),         \
                                  .alone = LONE(name),                         \
                                  .whole = whole_##name };                     \
                                                                               \
        if (points_##name.offset == SMALL_OFFSET)                              \
            multiply_small_by_##in_group(p, f);                                \
        else                                                                   \
            multiply_middle_by_##in_group(p, f);                               \
    }
MULTIPLY_POINTS(iq2_xxs, 32, FLOATS(iq2_xxs))
MULTIPLY_POINTS(iq2_xs, 16, CODED(iq2_xs, 0))
MULTIPLY_POINTS(iq2_s, 16, CODED(iq2_s, 0))
MULTIPLY_POINTS(iq3_xxs, 32, FLOATS(iq3_xxs))
MULTIPLY_POINTS(iq3_s, 32, FLOATS(iq3_s))
MULTIPLY_POINTS(iq1_s, 32, FLOATS(iq1_s))
MULTIPLY_POINTS(iq1_m, 16, CODED(iq1_m, 0))

#endif
