/* vector_group_sums.h - a type whose weights are in groups, and sums of
 * products with them, as column.h says, in the words of vector_groups.h */
#ifndef CPU_VECTOR_GROUP_SUMS_H
#define CPU_VECTOR_GROUP_SUMS_H

#include "cpu/column.h"
#include "cpu/vector_tile.h"

/* Of a unit of 32 values. */
#define WORDS       8
#define MOST_SCALES 4
/* Of a block; opened together. */
#define MOST_UNITS    8
#define MOST_TOGETHER 4
#define MOST_LOADED   12

/* A type. A weight is scale * (code - offset) - min. */
struct format {
    int64_t block; /* values in it */
    size_t size;   /* its bytes */
    int group;     /* values that share a scale: 16 or 32 */
    bool min;
    int offset;
    int most;     /* the largest code; 0: bytes are signed, as from_signed() */
    int together; /* units that share bytes */
    /* Of the block that begins at the rows: of each of its groups the scale,
     * and the minimum if there are any. */
    void (*scales)(const struct rows *r, vec *scales);
    /* The bytes of half `half` of units n * together and on, in up to
     * MOST_LOADED words; and of those codes of unit u of these, word i of that
     * half, 0 to 3. */
    void (*load)(const struct rows *r, int n, int half, vec_bits *w);
    vec_bits (*code)(const vec_bits *w, int n, int half, int u, int i);
    int few; /* as many columns meet codes where these are opened */
    /* Or a function for all of that, which is not inlined. */
    bool apart;
    void (*whole)(const struct rows *r, vec_bits *codes, vec *scales);
};

INLINE int
scales_of(struct format f)
{
    return COLUMN_BLOCK / f.group * (f.min ? 2 : 1);
}

/* Some columns, from unit `first` of them on. */
struct columns {
    const char *at;
    size_t stride;
    int64_t k, first;
};

INLINE const char *
column_of(const struct columns *x, int j)
{
    return x->at + (size_t)j * x->stride;
}

/* What the integer sum of group g of a unit begins with: less the offset. */
INLINE vec_bits
start_of(struct format f, const char *col, int64_t k, int64_t unit, int g)
{
    if (!f.offset)
        return (vec_bits){ 0 };
    if (f.group == COLUMN_BLOCK)
        return splat_at(column_minus(col, k) + unit) * (uint32_t)f.offset;
    return splat_bits(column_minus_half(col, k, 2 * unit + g) * f.offset);
}

/* The same, for sums in pairs of 16 bits. */
#ifdef IN_PAIRS
INLINE vec_bits
start_of_pairs(struct format f, const char *col, int64_t k, int64_t unit, int g)
{
    const int16_t *minus = column_minus_pairs(col, k) + 4 * unit;

    if (f.group == COLUMN_BLOCK)
        return times_pairs(add_pairs(splat_pair(minus), splat_pair(minus + 2)),
                           f.offset);
    return times_pairs(splat_pair(minus + 2 * g), f.offset);
}
#else
#define IN_PAIRS(f)                           false
#define start_of_pairs(f, col, k, unit, word) ((vec_bits){ 0 })
#define sum_pairs(w)                          (w)
#endif

/* d * (float)sum of q over group g, negative. */
INLINE vec
minus_weighed(struct format f, const char *col, int64_t k, int64_t unit, int g)
{
    if (f.group == COLUMN_BLOCK)
        return splat(column_minus_weighed(col, k)[unit]);
    return splat(column_scales(col, k)[unit]) *
           as_floats(splat_bits(column_minus_half(col, k, 2 * unit + g)));
}

/* Word `word` of a unit's codes, of V vectors of rows, w[v * stride], times C
 * columns: s[v * C + j] are the integer sums of its group, or of `chain` words
 * of it; `part` those of a run of words, between calls. */
INLINE void
add_word(const int V, const int C, struct format f, const int chain,
         const vec_bits *w, const int stride, const struct columns *x,
         int64_t unit, int word, vec_bits *s, vec_bits *part)
{
    const int n = f.group / 4;
    const bool pairs = IN_PAIRS(f) && chain == n;
    const int run = pairs || RUN(f.most) > chain ? chain : RUN(f.most);

    UNROLL for (int j = 0; j < C; j++)
    {
        const char *col = column_of(x, j);
        int32_t four = AS(int32_t, col + unit * COLUMN_BLOCK)[word];

        UNROLL for (int v = 0; v < V; v++)
        {
            int i = v * C + j;
            vec_bits total = { 0 };

            if (word % chain >= run)
                total = s[i];
            else if (word % n < chain)
                total = start_of(f, col, x->k, unit, word / n);
            if (word % run == 0)
                part[i] = pairs ? start_of_pairs(f, col, x->k, unit, word / n)
                                : run_begin(total);
            part[i] = run_step(part[i], w[v * stride], four, f.most);
            if (word % run == run - 1)
                s[i] = pairs ? sum_pairs(part[i])
                             : run_end(total, part[i], f.most);
        }
    }
}

/* The sums of group g of a unit, scaled, to acc: the chain of column.h. */
INLINE void
add_group(const int V, const int C, struct format f, const vec_bits *s,
          const vec *scales, const int stride, const struct columns *x,
          int64_t unit, int g, vec *acc)
{
    UNROLL for (int j = 0; j < C; j++)
    {
        const char *col = column_of(x, j);
        vec d = splat(column_scales(col, x->k)[unit]);

        UNROLL for (int v = 0; v < V; v++)
        {
            const vec *scale = scales + v * stride;
            int i = v * C + j;

            acc[i] = acc[i] + as_floats(s[i]) * (scale[0] * d);
            if (f.min)
                acc[i] =
                    acc[i] + scale[1] * minus_weighed(f, col, x->k, unit, g);
        }
    }
}

#endif
