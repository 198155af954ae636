/* vector_group_sums.h - a type whose weights are in groups, and sums of
 * products with them, as column.h says, in the words of vector_groups.h */
#ifndef CPU_VECTOR_GROUP_SUMS_H
#define CPU_VECTOR_GROUP_SUMS_H

#include "cpu/column.h"
#include "cpu/vector_tile.h"

/* Of a unit of 32 values. */
#define WORDS       8
#define MOST_SCALES 5
/* Of a block; opened together. */
#define MOST_UNITS    8
#define MOST_TOGETHER 4
#define MOST_LOADED   12

/* Integers of a block, bytes: scales of its sixteen groups, each in excess of
 * what they are, and minima; and what they are multiplied by. */
struct coded {
    vec_bits scale[4], min[4];
    vec d, dmin;
};

/* A type. A weight is scale * (code - offset) - min. */
struct format {
    int64_t block; /* values in it */
    size_t size;   /* its bytes */
    int group;     /* values that share a scale: 16 or 32 */
    bool min;
    int offset;
    int most;     /* the largest code; 0: bytes are signed, as from_signed() */
    int together; /* units that share bytes */
    bool quads;   /* code() gives those of odd units times four */
    /* Of the block that begins at the rows: of each of its groups the scale,
     * and the minimum if there are any. */
    void (*scales)(const struct rows *r, vec *scales);
    /* Or, where they are integers, this, and the scales' excess. */
    void (*coded)(const struct rows *r, struct coded *c);
    int excess;
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

/* Of a unit whose scales are integers: two of these, d, two minima in pairs of
 * 16 bits, dmin. */
enum {
    UNIT_D = 2,
    UNIT_MINIMA,
    UNIT_DMIN
};

/* The codes of unit u, as code() gives them. */
INLINE struct format
given(struct format f, int u)
{
    if (f.quads && u % 2) {
        f.offset *= 4;
        f.most *= 4;
    }
    return f;
}

/* How many vectors a unit's scales are. */
INLINE int
scales_of(struct format f)
{
    if (f.coded)
        return f.min ? UNIT_DMIN + 1 : UNIT_D + 1;
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
    return splat_bits(column_minus_halves(col, k)[2 * unit + g] * f.offset);
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

/* Byte i of a word. */
INLINE vec
byte_of(vec_bits w, int i)
{
    return as_floats(w >> 8 * i & 0xff);
}

/* Byte i of words of scales, as sums are multiplied by it. */
INLINE vec
scale_of(struct format f, vec_bits w, int i)
{
#ifdef SCALED_PAIRS
    return (vec)subtract_pairs(bytes_as_pairs(w, i, i), f.excess);
#else
    return byte_of(w, i) - splat((float)f.excess);
#endif
}

/* A block's integers, unit by unit, for codes as they are or as code() gives
 * them. */
INLINE void
put_coded(struct format f, bool as_given, const struct coded *c, vec *scales)
{
    vec quarter = c->d * splat(0.25f);

    UNROLL for (int u = 0; u < MOST_UNITS; u++)
    {
        int w = u / 2, i = u % 2 * 2;

        scales[0] = scale_of(f, c->scale[w], i);
        scales[1] = scale_of(f, c->scale[w], i + 1);
        scales[UNIT_D] = as_given && f.quads && u % 2 ? quarter : c->d;
        if (f.min) {
            scales[UNIT_MINIMA] = (vec)bytes_as_pairs(c->min[w], i, i + 1);
            scales[UNIT_DMIN] = c->dmin;
        }
        scales += scales_of(f);
    }
}

INLINE void
load_scales(struct format f, bool as_given, const struct rows *r, vec *scales)
{
    struct coded c;

    if (!f.coded) {
        f.scales(r, scales);
        return;
    }
    f.coded(r, &c);
    put_coded(f, as_given, &c, scales);
}

/* The end of a run of sums in pairs: with what they began, or added to `total`;
 * multiplied by their scale, if that is an integer. */
INLINE vec_bits
end_of_run(struct format f, bool pairs, vec_bits total, vec_bits part,
           vec scale)
{
#ifdef SCALED_PAIRS
    if (f.coded)
        return multiply_pairs(part, (vec_bits)scale);
#endif
    (void)scale;
    return pairs ? sum_pairs(part) : run_end(total, part, f.most);
}

/* Word `word` of a unit's codes, of V vectors of rows, w[v * stride], times C
 * columns: s[v * C + j] are the integer sums of its group, or of `chain` words
 * of it; `part` those of a run of words, between calls. The scales are those of
 * the unit. */
INLINE void
add_word(const int V, const int C, struct format f, const int chain,
         const vec_bits *w, const int stride, const vec *scales,
         const int scales_stride, const struct columns *x, int64_t unit,
         int word, vec_bits *s, vec_bits *part)
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
                s[i] = end_of_run(f, pairs, total, part[i],
                                  scales[v * scales_stride + word / n]);
        }
    }
}

/* How many groups of a unit are added at once, and how many vectors their
 * scales are: both of a unit where these are integers, otherwise one. */
INLINE int
groups_at_once(struct format f)
{
    return f.coded ? COLUMN_BLOCK / f.group : 1;
}

INLINE int
scales_at_once(struct format f)
{
    return scales_of(f) * f.group * groups_at_once(f) / COLUMN_BLOCK;
}

/* The sum of a unit whose groups have the sums a and b, and scales that are
 * integers: fits 24 bits. */
INLINE vec
scaled_sum(vec_bits a, vec_bits b, const vec *scales)
{
#ifdef SCALED_PAIRS
    (void)scales;
    return as_floats(a + b);
#else
    return fused(as_floats(a), scales[0], as_floats(b) * scales[1]);
#endif
}

/* acc, and what a unit with such scales adds to it: see column.h. */
INLINE vec
add_coded(struct format f, vec acc, vec sum, const vec *scales,
          const int16_t *minus_halves, vec d)
{
    sum *= scales[UNIT_D];
    if (f.min)
        sum += as_floats(multiply_pairs((vec_bits)scales[UNIT_MINIMA],
                                        splat_pair(minus_halves))) *
               scales[UNIT_DMIN];
    return acc + sum * d;
}

/* Likewise a group with a scale, and a minimum if it is of 32. */
INLINE vec
add_scaled(struct format f, vec acc, vec sum, const vec *scales,
           const float *minus_weighed, vec d)
{
    acc = acc + sum * (scales[0] * d);
    if (f.min)
        acc = acc + scales[1] * splat(*minus_weighed);
    return acc;
}

/* The sums of groups of a unit that are added at once, V * C of one after those
 * of the other, to acc: the chain of column.h. */
INLINE void
add_groups(const int V, const int C, struct format f, const vec_bits *s,
           const vec *scales, const int stride, const struct columns *x,
           int64_t unit, vec *acc)
{
    UNROLL for (int j = 0; j < C; j++)
    {
        const char *col = column_of(x, j);
        const int16_t *minus = column_minus_halves(col, x->k) + 2 * unit;
        const float *weighed = column_minus_weighed(col, x->k) + unit;
        vec d = splat(column_scales(col, x->k)[unit]);

        UNROLL for (int v = 0; v < V; v++)
        {
            const vec *scale = scales + v * stride;
            int i = v * C + j;

            if (f.coded)
                acc[i] =
                    add_coded(f, acc[i], scaled_sum(s[i], s[V * C + i], scale),
                              scale, minus, d);
            else
                acc[i] =
                    add_scaled(f, acc[i], as_floats(s[i]), scale, weighed, d);
        }
    }
}

#endif
