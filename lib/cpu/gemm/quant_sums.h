/* quant_sums.h - sums of products with weights of block formats, as column.h
 * defines them */
#ifndef CPU_GEMM_QUANT_SUMS_H
#define CPU_GEMM_QUANT_SUMS_H

#include "cpu/gemm/unpack_scales.h"

/* Some columns, from unit `first` of them on. */
struct columns {
    const char *at;
    size_t stride;
    int64_t k, first;
};

INLINE const char *
cpu_column_at(const struct columns *x, int j)
{
    return x->at + (size_t)j * x->stride;
}

/* The start of the integer sum of group g of a unit: less the offset. */
INLINE vec_bits
cpu_group_start(struct format f, const char *col, int64_t k, int64_t unit,
                int g)
{
    if (!f.offset)
        return (vec_bits){ 0 };
    if (f.group == COLUMN_BLOCK)
        return v_splat_at(cpu_column_neg_sums(col, k) + unit) *
               (uint32_t)f.offset;
    return v_splat_bits(cpu_column_neg_sums_16(col, k)[2 * unit + g] *
                        f.offset);
}

/* The start of a sum in pairs of 16 bits. */
#ifdef HAS_SUMS_IN_INT16
INLINE vec_bits
group_start_int16_pairs(struct format f, const char *col, int64_t k,
                        int64_t unit, int g)
{
    const int16_t *minus = cpu_column_neg_int16_pairs(col, k) + 4 * unit;

    if (f.group == COLUMN_BLOCK)
        return v_scale_int16_pairs(
            v_add_int16_pairs(v_splat_pair(minus), v_splat_pair(minus + 2)),
            f.offset);
    return v_scale_int16_pairs(v_splat_pair(minus + 2 * g), f.offset);
}
#else
#define group_start_int16_pairs(f, col, k, unit, word) ((vec_bits){ 0 })
#endif

/* The end of a run of sums in pairs: with what they began, or added to `total`;
 * multiplied by their scale, if that is an integer. */
INLINE vec_bits
end_dot(struct format f, bool pairs, vec_bits total, vec_bits part, vec scale)
{
    if (f.has_int_scales && SCALES_IN_INT16(f))
        return v_dot2_int16(part, (vec_bits)scale);
    return pairs ? v_sum_int16_pairs(part) : v_dot_end(total, part, f.max_code);
}

/* Word `word` of a unit's codes, of V vectors of rows, w[v * stride], times C
 * columns: s[v * C + j] are the integer sums of its group, or of `chain` words
 * of it; `part` those of a run of words, between calls. The scales are those of
 * the unit. */
INLINE void
cpu_add_word(const int V, const int C, struct format f, const int chain,
             const vec_bits *w, const int stride, const vec *scales,
             const int scales_stride, const struct columns *x, int64_t unit,
             int word, vec_bits *s, vec_bits *part)
{
    const int n = f.group / 4;
    const bool pairs = SUMS_IN_INT16(f) && chain == n;
    const int run = pairs || DOT_CHAIN_WORDS(f.max_code) > chain
                        ? chain
                        : DOT_CHAIN_WORDS(f.max_code);

    UNROLL for (int j = 0; j < C; j++)
    {
        const char *col = cpu_column_at(x, j);
        int32_t four = AS(int32_t, col + unit * COLUMN_BLOCK)[word];

        UNROLL for (int v = 0; v < V; v++)
        {
            int i = v * C + j;
            vec_bits total = { 0 };

            if (word % chain >= run)
                total = s[i];
            else if (word % n < chain && !f.even)
                total = cpu_group_start(f, col, x->k, unit, word / n);
            if (word % run == 0)
                part[i] = pairs ? group_start_int16_pairs(f, col, x->k, unit,
                                                          word / n)
                                : v_dot_begin(total);
            part[i] = v_dot_step(part[i], w[v * stride], four, f.max_code);
            if (word % run == run - 1)
                s[i] = end_dot(f, pairs, total, part[i],
                               scales[v * scales_stride + word / n]);
        }
    }
}

/* How many groups of a unit are added at once, and how many vectors their
 * scales are: both of a unit where these are integers, otherwise one. */
INLINE int
cpu_groups_at_once(struct format f)
{
    return f.has_int_scales ? COLUMN_BLOCK / f.group : 1;
}

INLINE int
cpu_scales_at_once(struct format f)
{
    return cpu_unit_scales(f) * f.group * cpu_groups_at_once(f) / COLUMN_BLOCK;
}

/* The sum of a unit whose groups have the sums s[0] and s[next], and scales
 * that are integers: fits 24 bits. Of codes times their scales it is s[0]. */
INLINE vec
cpu_scaled_sum(struct format f, const vec_bits *s, int next, const vec *scales)
{
    if (f.group == COLUMN_BLOCK)
        return v_as_floats(s[0]);
    if (SCALES_IN_INT16(f))
        return v_as_floats(s[0] + s[next]);
    return v_fused(v_as_floats(s[0]), scales[0],
                   v_as_floats(s[next]) * scales[1]);
}

/* Adds a unit whose scales are integers to its block: see column.h. */
INLINE vec
cpu_add_int_scaled(struct format f, vec part, vec sum, const vec *scales,
                   const int16_t *neg_sums_16, vec d)
{
    if (f.quarter)
        sum *= v_splat(0.25f);
    if (f.min)
        sum += v_as_floats(v_dot2_int16((vec_bits)scales[UNIT_MINIMA],
                                        v_splat_pair(neg_sums_16))) *
               scales[UNIT_RATIO];
    return part + sum * d;
}

/* The sum to which a block's units are added, one after the other: the element,
 * or, where scales are integers, 0; and the element then. */
INLINE vec
cpu_block_begin(struct format f, vec acc)
{
    return f.has_int_scales ? (vec){ 0 } : acc;
}

INLINE vec
cpu_block_end(struct format f, vec acc, vec part, const vec *scales)
{
    if (!f.has_int_scales)
        return part;
    return acc + part * scales[UNIT_D];
}

/* Likewise a group with a scale, and a minimum if it is of 32. */
INLINE vec
cpu_add_scaled(struct format f, vec acc, vec sum, const vec *scales,
               const float *scaled_neg_sums, vec d)
{
    acc = acc + sum * (scales[0] * d);
    if (f.min)
        acc = acc + scales[1] * v_splat(*scaled_neg_sums);
    return acc;
}

/* The sums of groups of a unit that are added at once, V * C of one after those
 * of the other, to acc: the chain of column.h. */
INLINE void
cpu_add_groups(const int V, const int C, struct format f, const vec_bits *s,
               const vec *scales, const int stride, const struct columns *x,
               int64_t unit, vec *acc)
{
    UNROLL for (int j = 0; j < C; j++)
    {
        const char *col = cpu_column_at(x, j);
        const int16_t *minus = cpu_column_neg_sums_16(col, x->k) + 2 * unit;
        const float *scaled = cpu_column_scaled_neg_sums(col, x->k) + unit;
        vec d = v_splat(cpu_column_scales(col, x->k)[unit]);

        UNROLL for (int v = 0; v < V; v++)
        {
            const vec *scale = scales + v * stride;
            int i = v * C + j;
            vec sum;

            if (!f.has_int_scales) {
                acc[i] = cpu_add_scaled(f, acc[i], v_as_floats(s[i]), scale,
                                        scaled, d);
                continue;
            }
            if (f.even) /* half of what has an offset */
                sum = v_as_floats(s[i] + s[i] +
                                  cpu_group_start(f, col, x->k, unit, 0));
            else
                sum = cpu_scaled_sum(f, &s[i], V * C, scale);
            acc[i] = cpu_add_int_scaled(f, acc[i], sum, scale, minus, d);
        }
    }
}

#endif
