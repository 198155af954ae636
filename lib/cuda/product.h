/* product.h - what matrix-vector kernels multiply
 *
 * Columns (rows of src1) are numbered in order, and so are results. A tile is
 * some columns that meet one matrix of weights. A sum's order depends on its
 * length and the type of the weights alone, up to MOST_COLUMNS columns. */
#ifndef CUDA_PRODUCT_H
#define CUDA_PRODUCT_H

#include "cuda/functions.h"
#include "cuda/multiply.h"
#include "cuda/view.h"

#define MOST_COLUMNS  8 /* of a tile */
#define PRODUCT_WARPS 4 /* of a block */

/* Tiles of MUL_MAT_ID, as device memory holds them. */
struct tile {
    int matrix, first, n; /* columns order[first] and on */
};

/* What is done to a row's result before it is stored. */
struct epilogue {
    const char *add;    /* (or NULL) F32 values, one a row, are added */
    int64_t add_stride; /* bytes from one column's to the next; may be 0 */
    int glu; /* enum ggml_glu_op, of two matrices' results; -1: none */
    float alpha, limit;
};

/* Another matrix of weights that meets the same columns. */
struct sibling {
    const char *w; /* in rows as those of the first, and of their type */
    char *out;
    int64_t out_stride, rows;
    const char *add;
    int64_t add_stride;
};

struct product {
    struct view w;
    const char *w2;      /* (or NULL) matrices of w's shape: see glu */
    const char *columns; /* prepared: see quantize.h; or floats */
    int64_t column_stride;
    char *out; /* floats */
    int64_t out_stride;
    int64_t k, rows;
    /* Of MUL_MAT: n columns each in x2 times x3 groups, which share w's. */
    int64_t n, x2, x3;
    /* Of MUL_MAT_ID, else NULL: `used` results a token, numbered as pairs; of
     * x1 columns a token, pair p has column p % x1 of token p / used. */
    const struct tile *tiles; /* as many as tile_total; n 0: empty */
    const int *order;
    struct view ids; /* one column a tile: which matrix */
    bool by_id;
    bool early; /* no launch before writes the weights, or says which */
    int64_t used, x1;
    int64_t tile_total;
    struct epilogue end;
    struct sibling siblings[CUDA_SIBLINGS]; /* of MUL_MAT; those of rows > 0 */
};

/* A tile's parts, in a warp's registers. */
struct work {
    const char *rows, *rows2;
    int n;
    const int *order; /* or NULL: columns and results count from `first` */
    int64_t first;
    char *out; /* as in struct product, or a sibling */
    int64_t out_stride, n_rows;
    const char *add;
    int64_t add_stride;
};

DEVICE int64_t
column_of(const struct product *p, const struct work *t, int c)
{
    int64_t pair, place, token;

    if (!p->by_id)
        return t->first + c;
    pair = t->order ? t->order[c] : t->first + c;
    token = divide(pair, p->used, &place);
    return token * p->x1 + modulo(place, p->x1);
}

DEVICE int64_t
result_of(const struct work *t, int c)
{
    return t->order ? t->order[c] : t->first + c;
}

/* Where tile i lies; n is 0 if there is nothing to do. */
DEVICE struct work
find_tile(const struct product *p, int64_t i, int most)
{
    struct work t = {};
    int64_t at = 0;

    if (p->tiles) {
        struct tile tile = p->tiles[i];

        at = tile.matrix * p->w.nb[2];
        t.n = tile.n;
        t.order = p->order + tile.first;
    } else if (p->by_id) {
        int64_t place, token = divide(i, p->used, &place);
        int matrix =
            *(const int *)(const void *)(p->ids.data + place * p->ids.nb[0] +
                                         token * p->ids.nb[1]);

        t.first = i;
        t.n = matrix >= 0 && matrix < p->w.ne[2];
        at = t.n ? matrix * p->w.nb[2] : 0;
    } else if (p->x2 * p->x3 == 1) {
        t.first = i * most;
        t.n = (int)(p->n - t.first < most ? p->n - t.first : most);
    } else {
        int64_t per_group = (p->n + most - 1) / most, part, i2;
        int64_t group = divide(i, per_group, &part);
        int64_t i3 = divide(group, p->x2, &i2);

        t.first = group * p->n + part * most;
        t.n = (int)(p->n - part * most < most ? p->n - part * most : most);
        at = i2 / (p->x2 / p->w.ne[2]) * p->w.nb[2] +
             i3 / (p->x3 / p->w.ne[3]) * p->w.nb[3];
    }
    t.rows = p->w.data + at;
    t.rows2 = p->w2 ? p->w2 + at : NULL;
    t.out = p->out;
    t.out_stride = p->out_stride;
    t.n_rows = p->rows;
    t.add = p->end.add;
    t.add_stride = p->end.add_stride;
    return t;
}

/* The tile with the matrix that row `*row` of all matrices belongs to; each
 * begins at a multiple of `step`. */
DEVICE void
choose_sibling(const struct product *p, int64_t step, struct work *t,
               int64_t *row)
{
    int64_t rows = (p->rows + step - 1) / step * step;

    UNROLL for (int i = 0; i < CUDA_SIBLINGS; i++)
    {
        const struct sibling *s = &p->siblings[i];

        if (s->rows == 0 || *row < rows)
            return;
        *row -= rows;
        rows = (s->rows + step - 1) / step * step;
        t->rows = s->w;
        t->out = s->out;
        t->out_stride = s->out_stride;
        t->n_rows = s->rows;
        t->add = s->add;
        t->add_stride = s->add_stride;
    }
}

/* Row `row` of a result. */
DEVICE void
store_result(const struct work *t, int64_t result, int64_t row, float v)
{
    if (t->add)
        v += *(const float *)(const void *)(t->add + result * t->add_stride +
                                            row * (int64_t)sizeof(float));
    *(float *)(void *)(t->out + result * t->out_stride +
                       row * (int64_t)sizeof(float)) = v;
}

/* Sums over the lanes, and stores what a warp has of rows `row` and `row` + 1,
 * or of row `row` of two matrices; `room` is the warp's, and shared. */
template <int COLUMNS>
DEVICE void
store_sums(const struct product *p, const struct work *t, int64_t row,
           float (*sum)[COLUMNS], float *room)
{
    int r = (int)lane_id() / COLUMNS, c = (int)lane_id() % COLUMNS;

    UNROLL for (int i = 0; i < 2 * COLUMNS; i++)
    {
        float v =
            i % COLUMNS < t->n ? warp_sum(sum[i / COLUMNS][i % COLUMNS]) : 0;

        if (lane_id() == 0)
            room[i] = v;
    }
    warp_barrier();
    if (r < 2 && c < t->n) {
        float v = room[r * COLUMNS + c];

        if (p->end.glu < 0 && row + r < t->n_rows)
            store_result(t, result_of(t, c), row + r, v);
        else if (p->end.glu >= 0 && r == 0)
            store_result(t, result_of(t, c), row,
                         apply_glu(p->end.glu, v, room[COLUMNS + c],
                                   p->end.alpha, p->end.limit));
    }
    warp_barrier();
}

/* Rows of a block, each of two matrices if there is a gate. */
HOST_DEVICE int64_t
rows_of_block(const struct product *p)
{
    return PRODUCT_WARPS * (p->w2 ? 1 : 2);
}

/* Whether every tile has one column; how many tiles there are. */
static inline bool
single_columns(const struct product *p)
{
    return p->by_id ? !p->tiles : p->n == 1;
}

static inline int64_t
tiles_of(const struct product *p)
{
    return p->by_id
               ? p->tile_total
               : p->x2 * p->x3 *
                     cuda_pieces(p->n, single_columns(p) ? 1 : MOST_COLUMNS);
}

/* Of an item, the tile, with its matrix, and the warp's first row: of the one
 * or two that it has. Items are groups of rows of all matrices, and for each
 * all tiles: those that read the same weights run at the same time. */
DEVICE struct work
find_work(const struct product *p, int64_t item, int64_t tiles, int most,
          int64_t *row)
{
    int64_t tile = 0, group = item, each = rows_of_block(p);
    struct work t;

    if (tiles > 1)
        group = divide(item, tiles, &tile);
    *row = group * each;
    t = find_tile(p, tile, most);
    choose_sibling(p, each, &t, row);
    *row += warp_id() * (each / PRODUCT_WARPS);
    return t;
}

/* The row beside `row`: of the other matrix, or the next one, or itself. */
DEVICE const char *
second_row(const struct product *p, const struct work *t, int64_t row)
{
    return t->rows2              ? t->rows2 + row * p->w.nb[1]
           : row + 1 < t->n_rows ? t->rows + (row + 1) * p->w.nb[1]
                                 : t->rows + row * p->w.nb[1];
}

/* Groups of `each` rows, of all matrices. */
static inline int64_t
groups_of(const struct product *p, int64_t each)
{
    int64_t n = cuda_pieces(p->rows, each);

    for (int i = 0; i < CUDA_SIBLINGS; i++)
        n += cuda_pieces(p->siblings[i].rows, each);
    return n;
}

static inline int64_t
items_of(const struct product *p)
{
    return groups_of(p, rows_of_block(p)) * tiles_of(p);
}

/* By the type of the weights; columns are prepared for it. */
void
cuda_multiply_blocks(struct cuda_ctx *c, const struct product *p);
void
cuda_multiply_floats(struct cuda_ctx *c, const struct product *p);

/* The same of blocks, for more columns than a tile has; false: the other has to
 * do it. */
bool
cuda_multiply_tiles(struct cuda_ctx *c, const struct product *p);

#endif
