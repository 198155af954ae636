/* vector_groups.h - products with weights in groups, for any vectors
 *
 * As many rows at a time as vectors have lanes, a lane each. A block of each
 * row is opened: its codes as bytes, four of each row after the other, so
 * that sums come up in their lanes, and its scales and minima as vectors of
 * floats. That is done once for many columns, or block by block for one: an
 * element is computed alike, as column.h says.
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
 *     COLS                      columns of a tile
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

/* Integer sums of group g of a unit, less the offset. */
INLINE void
group_sums(const int C, struct format f, const vec_bits *codes,
           const struct columns *x, int64_t unit, int g, vec_bits *s)
{
    const int n = f.group / 4, run = RUN(f.most) < n ? RUN(f.most) : n;

    UNROLL for (int j = 0; j < C; j++)
    {
        const char *col = column_of(x, j);

        s[j] = (vec_bits){ 0 };
        if (f.offset)
            s[j] -= splat_bits(f.group == COLUMN_BLOCK
                                   ? column_sums(col, x->k)[unit]
                                   : column_halves(col, x->k)[2 * unit + g]) *
                    (uint32_t)f.offset;
    }
    UNROLL for (int i = 0; i < n; i += run)
    {
        vec_bits part[COLS];

        UNROLL for (int j = 0; j < C; j++) part[j] = run_begin(s[j]);
        UNROLL for (int l = 0; l < run; l++)
        {
            int64_t word = g * n + i + l;

            UNROLL for (int j = 0; j < C; j++)
            {
                const char *q = column_of(x, j) + unit * COLUMN_BLOCK;

                part[j] = run_step(part[j], codes[word], AS(int32_t, q)[word],
                                   f.most);
            }
        }
        UNROLL for (int j = 0; j < C; j++) s[j] =
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

/* n opened units times C columns, added to acc: the chain of column.h. */
INLINE void
add_units(const int C, struct format f, int64_t n, const vec_bits *codes,
          const vec *scales, const struct columns *x, vec *acc)
{
    for (int64_t u = 0; u < n; u++, codes += WORDS)
        UNROLL for (int g = 0; g < COLUMN_BLOCK / f.group; g++)
        {
            int64_t unit = x->first + u;
            vec_bits s[COLS];

            group_sums(C, f, codes, x, unit, g, s);
            UNROLL for (int j = 0; j < C; j++)
            {
                const char *col = column_of(x, j);
                vec d = splat(column_scales(col, x->k)[unit]);

                acc[j] = acc[j] + as_floats(s[j]) * (scales[0] * d);
                if (f.min)
                    acc[j] =
                        acc[j] - scales[1] * weighed(f, col, x->k, unit, g);
            }
            scales += f.min ? 2 : 1;
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
            for (size_t j = 0; j < VEC * f.size; j += 64)
                __builtin_prefetch(ahead + VEC * at + j, 0, 2);
        add_units(1, f, f.block / COLUMN_BLOCK, codes, scales, &x, &acc);
        x.first += f.block / COLUMN_BLOCK;
    }
    return acc;
}

INLINE void
opened_tile(const int C, struct format f, const struct cpu_product *p,
            int64_t c, const vec_bits *codes, const vec *scales, int64_t row)
{
    struct columns x = { .at = p->cols + (size_t)c * p->col_stride,
                         .stride = p->col_stride,
                         .k = p->k };
    vec acc[COLS];

    UNROLL for (int j = 0; j < C; j++) acc[j] = (vec){ 0 };
    add_units(C, f, p->k / COLUMN_BLOCK, codes, scales, &x, acc);
    UNROLL for (int j = 0; j < C; j++)
        store_f32_first(p->n_rows - row,
                        p->out + (size_t)(c + j) * p->out_stride + row, acc[j]);
}

/* All columns; the rows are opened into the scratch memory first. */
INLINE void
many_columns(const struct cpu_product *p, const char *const *rows,
             struct format f, int64_t row)
{
    int64_t n = p->k / COLUMN_BLOCK, c = 0, unit = 0;
    vec_bits *codes = p->scratch;
    vec *scales = (vec *)(codes + n * WORDS);
    size_t at = 0;

    for (int64_t i = 0; i < p->k; i += f.block, at += f.size) {
        f.open(rows, at, codes + unit * WORDS, scales + unit * scales_of(f));
        unit += f.block / COLUMN_BLOCK;
    }
    for (; c + COLS <= p->n_cols; c += COLS)
        opened_tile(COLS, f, p, c, codes, scales, row);
    for (; COLS > 4 && c + 4 <= p->n_cols; c += 4)
        opened_tile(4, f, p, c, codes, scales, row);
    for (; c + 2 <= p->n_cols; c += 2)
        opened_tile(2, f, p, c, codes, scales, row);
    if (c < p->n_cols)
        opened_tile(1, f, p, c, codes, scales, row);
}

static size_t
opened_size(int64_t k)
{
    return (size_t)(k / COLUMN_BLOCK) * (WORDS + MOST_SCALES) * sizeof(vec);
}

INLINE void
multiply(const struct cpu_product *p, struct format f)
{
    size_t row_size = (size_t)(p->k / f.block) * f.size;

    if (p->n_cols == 1)
        fetch_first(p, VEC, row_size);
    for (int64_t r = 0; r < p->n_rows; r += VEC) {
        const char *rows[VEC];

        find_rows(p, r, rows);
        if (p->n_cols == 1)
            store_f32_first(
                p->n_rows - r, p->out + r,
                one_column(p, rows, f, tile_ahead(p, r, VEC, row_size)));
        else
            many_columns(p, rows, f, r);
    }
}

#endif
