/* vector_groups.h - products with weights in groups, for any vectors
 *
 * As many rows at a time as vectors have lanes, a lane each. A block of each
 * row is opened: its codes as bytes, four of each row after the other, so
 * that sums come up in their lanes, and its scales and minima as vectors of
 * floats. With many columns, so are some hundred values of some times as many
 * rows, which are then met by all columns. Either way an element is computed
 * as column.h says.
 *
 * Besides the words of vector.h, an instruction set gives
 *
 *     load_words(rows, at)      four bytes at `at` of each row, a lane each
 *     load_16(rows, at, w)      16 bytes of each row: the first four in w[0],
 *                               ... w[3]
 *     load_32(rows, at, w)      32 bytes, w[0] ... w[7]
 *     look_up(table, w)         each byte of w, 0 to 15, by that of the table
 *     as_floats(w)              lanes are int32_t
 *     SIGNED_OFFSET             what makes signed bytes codes; 0: nothing
 *     RUN(most)                 how many words of codes up to `most` (0: they
 *                               are signed) run_begin() and run_end() enclose
 *     run_begin(total), run_step(s, w, x, most), run_end(total, s, most)
 *                               total + sums of four products each, of codes
 *                               w with bytes x, a lane each
 *     VECS, COLS, TILE          vectors of rows and columns of a tile, and
 *                               their product
 *     UNITS                     of 32 values, at least 8, that are opened at a
 *                               time for many columns
 */
#ifndef CPU_VECTOR_GROUPS_H
#define CPU_VECTOR_GROUPS_H

#include "cpu/column.h"
#include "cpu/simd.h"

/* Of a unit of 32 values. */
#define WORDS       8
#define MOST_SCALES 4
/* Of a block. */
#define MOST_UNITS 8

typedef int32_t vec_ints __attribute__((vector_size(sizeof(vec))));

/* A type. A weight is scale * (code - offset) - min. */
struct format {
    int64_t block; /* values in it */
    size_t size;   /* its bytes */
    int group;     /* values that share a scale: 16 or 32 */
    bool min;
    int offset;
    int most; /* the largest code; 0: bytes are signed, as from_signed() */
    /* The block at `at` of the rows. Of each unit: eight words of codes; of
     * each of its groups the scale, and the minimum if there are any. */
    void (*open)(const char *const *rows, size_t at, vec_bits *codes,
                 vec *scales);
};

INLINE int64_t
scales_of(struct format f)
{
    return COLUMN_BLOCK / f.group * (f.min ? 2 : 1);
}

/* Signed bytes as codes. */
INLINE vec_bits
from_signed(vec_bits w)
{
    return w ^ (SIGNED_OFFSET * 0x01010101u);
}

INLINE vec_bits
splat_bits(int32_t v)
{
    return (vec_bits){ 0 } + (uint32_t)v;
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

/* Opened units of VEC rows, up to UNITS; those of the next rows follow after
 * room for that. */
struct opened {
    vec_bits *codes;
    vec *scales;
};

INLINE vec_bits
start_of(struct format f, const char *col, int64_t k, int64_t unit, int g)
{
    if (!f.offset)
        return (vec_bits){ 0 };
    return (vec_bits){ 0 } -
           splat_bits(f.group == COLUMN_BLOCK
                          ? column_sums(col, k)[unit]
                          : column_halves(col, k)[2 * unit + g]) *
               (uint32_t)f.offset;
}

/* Integer sums of group g of a unit, less the offset: s[v * C + j] of rows v
 * and column j. */
INLINE void
group_sums(const int V, const int C, struct format f, const vec_bits *codes,
           const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4, run = RUN(f.most) < n ? RUN(f.most) : n;

    UNROLL for (int j = 0; j < C; j++) UNROLL for (int v = 0; v < V; v++)
        s[v * C + j] = start_of(f, column_of(x, j), x->k, unit, g);
    UNROLL for (int i = 0; i < n; i += run)
    {
        vec_bits part[TILE];

        UNROLL for (int j = 0; j < V * C; j++) part[j] = run_begin(s[j]);
        UNROLL for (int l = 0; l < run; l++)
        {
            int64_t word = g * n + i + l;
            vec_bits w[VECS];

            UNROLL for (int v = 0; v < V; v++) w[v] =
                codes[v * UNITS * WORDS + word];
            UNROLL for (int j = 0; j < C; j++)
            {
                const char *q = column_of(x, j) + unit * COLUMN_BLOCK;
                int32_t four = AS(int32_t, q)[word];

                UNROLL for (int v = 0; v < V; v++) part[v * C + j] =
                    run_step(part[v * C + j], w[v], four, f.most);
            }
        }
        UNROLL for (int j = 0; j < V * C; j++) s[j] =
            run_end(s[j], part[j], f.most);
    }
}

/* d * (float)sum of q over group g. */
INLINE vec
weighed(struct format f, const char *col, int64_t k, int64_t unit, int g)
{
    if (f.group == COLUMN_BLOCK)
        return splat(column_weighed(col, k)[unit]);
    return splat(column_scales(col, k)[unit]) *
           as_floats(splat_bits(column_halves(col, k)[2 * unit + g]));
}

/* n opened units of V vectors of rows times C columns, added to acc: the
 * chain of column.h. */
INLINE void
add_units(const int V, const int C, struct format f, int64_t n, struct opened o,
          const struct columns *x, vec *acc)
{
    for (int64_t u = 0; u < n; u++, o.codes += WORDS)
        UNROLL for (int g = 0; g < COLUMN_BLOCK / f.group; g++)
        {
            int64_t unit = x->first + u;
            vec_bits s[TILE];

            group_sums(V, C, f, o.codes, x, unit, g, s);
            UNROLL for (int j = 0; j < C; j++)
            {
                const char *col = column_of(x, j);
                vec d = splat(column_scales(col, x->k)[unit]);

                UNROLL for (int v = 0; v < V; v++)
                {
                    const vec *scale = o.scales + v * UNITS * MOST_SCALES;
                    int i = v * C + j;

                    acc[i] = acc[i] + as_floats(s[i]) * (scale[0] * d);
                    if (f.min)
                        acc[i] =
                            acc[i] - scale[1] * weighed(f, col, x->k, unit, g);
                }
            }
            o.scales += f.min ? 2 : 1;
        }
}

/* The rows of a tile; lanes past the last row see that again. */
INLINE void
find_rows(const struct cpu_product *p, int64_t first, const char **rows)
{
    for (int64_t i = 0; i < VEC; i++) {
        int64_t r = first + i < p->n_rows ? first + i : p->n_rows - 1;

        rows[i] = p->rows + (size_t)r * p->row_stride;
    }
}

INLINE void
fetch(const char *p, size_t size)
{
    for (size_t j = 0; j < size; j += 64)
        __builtin_prefetch(p + j, 0, 2);
}

/* One column; of the tile at `ahead`, what comes next is fetched with each
 * block. */
INLINE vec
one_column(const struct cpu_product *p, const char *const *rows,
           struct format f, const char *ahead)
{
    struct columns x = { .at = p->cols, .k = p->k };
    vec_bits codes[MOST_UNITS * WORDS];
    vec scales[MOST_UNITS * MOST_SCALES], acc = { 0 };
    size_t at = 0;

    for (int64_t i = 0; i < p->k; i += f.block, at += f.size) {
        f.open(rows, at, codes, scales);
        if (ahead)
            fetch(ahead + VEC * at, VEC * f.size);
        add_units(1, 1, f, f.block / COLUMN_BLOCK,
                  (struct opened){ codes, scales }, &x, &acc);
        x.first += f.block / COLUMN_BLOCK;
    }
    return acc;
}

/* `rest` floats, or a whole vector of them, which is faster without a mask. */
INLINE vec
take(int64_t rest, const float *p)
{
    return rest >= VEC ? load_f32(p) : load_f32_first(rest, p);
}

INLINE void
put(int64_t rest, float *p, vec v)
{
    if (rest >= VEC)
        store_f32(p, v);
    else
        store_f32_first(rest, p, v);
}

/* The elements of V vectors of rows and C columns from c on, from what units
 * before `unit` have made of them. */
INLINE void
tile(const int V, const int C, struct format f, const struct cpu_product *p,
     int64_t row, int64_t c, int64_t unit, struct opened o)
{
    int64_t n = p->k / COLUMN_BLOCK - unit, rest = p->n_rows - row;
    struct columns x = { .at = p->cols + (size_t)c * p->col_stride,
                         .stride = p->col_stride,
                         .k = p->k,
                         .first = unit };
    size_t stride = p->out_stride;
    float *out = p->out + (size_t)c * stride + row;
    vec acc[TILE];

    UNROLL for (int i = 0; i < V * C; i++)
    {
        int v = i / C * VEC, j = i % C;

        acc[i] =
            unit ? take(rest - v, out + (size_t)j * stride + v) : (vec){ 0 };
    }
    add_units(V, C, f, n < UNITS ? n : UNITS, o, &x, acc);
    UNROLL for (int i = 0; i < V * C; i++)
    {
        int v = i / C * VEC, j = i % C;

        put(rest - v, out + (size_t)j * stride + v, acc[i]);
    }
}

/* All columns: UNITS units of V vectors of rows at a time, so that they
 * stay in the first cache. */
INLINE void
many_columns(const int V, const struct cpu_product *p, struct format f,
             int64_t row)
{
    vec_bits codes[VECS * UNITS * WORDS];
    vec scales[VECS * UNITS * MOST_SCALES];
    int64_t step = f.block / COLUMN_BLOCK, n = p->k / COLUMN_BLOCK;
    size_t row_size = (size_t)(n / step) * f.size;
    const char *ahead = tile_ahead(p, row, V * VEC, row_size);
    const char *rows[VECS][VEC];

    for (int v = 0; v < V; v++)
        find_rows(p, row + v * VEC, rows[v]);
    for (int64_t unit = 0; unit < n; unit += UNITS) {
        int64_t c = 0;

        for (int v = 0; v < V; v++)
            for (int64_t u = 0; u < UNITS && unit + u < n; u += step)
                f.open(rows[v], (size_t)((unit + u) / step) * f.size,
                       codes + (v * UNITS + u) * WORDS,
                       scales + v * UNITS * MOST_SCALES + u * scales_of(f));
        if (ahead && unit + UNITS <= n)
            fetch(ahead + (size_t)(unit / step) * f.size * V * VEC,
                  UNITS / (size_t)step * f.size * V * VEC);
        for (; c + COLS <= p->n_cols; c += COLS)
            tile(V, COLS, f, p, row, c, unit, (struct opened){ codes, scales });
        for (; c < p->n_cols; c++)
            tile(V, 1, f, p, row, c, unit, (struct opened){ codes, scales });
    }
}

INLINE void
multiply(const struct cpu_product *p, struct format f)
{
    size_t row_size = (size_t)(p->k / f.block) * f.size;
    int64_t r = 0;

    if (p->n_cols == 1)
        fetch_first(p, VEC, row_size);
    for (; p->n_cols > 1 && r + (VECS - 1) * VEC < p->n_rows; r += VECS * VEC)
        many_columns(VECS, p, f, r);
    for (; r < p->n_rows; r += VEC) {
        const char *rows[VEC];

        if (p->n_cols > 1) {
            many_columns(1, p, f, r);
            continue;
        }
        find_rows(p, r, rows);
        store_f32_first(
            p->n_rows - r, p->out + r,
            one_column(p, rows, f, tile_ahead(p, r, VEC, row_size)));
    }
}

#endif
