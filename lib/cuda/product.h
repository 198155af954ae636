/* product.h - what matrix-vector kernels multiply
 *
 * Columns (rows of src1) are numbered in order, and so are results. A tile is
 * some columns that meet one matrix of weights. A sum's order depends on its
 * length and the type of the weights alone. */
#ifndef CUDA_PRODUCT_H
#define CUDA_PRODUCT_H

#include "cuda/functions.h"
#include "cuda/view.h"

#define MOST_COLUMNS 8 /* of a tile */

/* Tiles of MUL_MAT_ID, as device memory holds them. */
struct tile {
    int matrix, first, n; /* columns order[first] and on */
};

/* What is done to a row's result before it is stored. */
struct epilogue {
    const char *add; /* (or NULL) F32 values, one a row, are added */
    int64_t add_stride; /* bytes from one column's to the next; may be 0 */
    int glu;         /* enum ggml_glu_op, of two matrices' results; -1: none */
    float alpha, limit;
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
    int64_t used, x1;
    int64_t tile_total;
    struct epilogue end;
};

/* A tile's parts, in a warp's registers. */
struct work {
    const char *rows, *rows2;
    int n;
    const int *order; /* or NULL: columns and results count from `first` */
    int64_t first;
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
find_work(const struct product *p, int64_t i, int most)
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
        int matrix = *(const int *)(const void *)(p->ids.data +
                                                  place * p->ids.nb[0] +
                                                  token * p->ids.nb[1]);

        t.first = i;
        t.n = matrix >= 0 && matrix < p->w.ne[2];
        at = t.n ? matrix * p->w.nb[2] : 0;
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
    return t;
}

/* Row `row` of a result. */
DEVICE void
store_result(const struct product *p, int64_t result, int64_t row, float v)
{
    if (p->end.add)
        v += *(const float *)(const void *)(p->end.add +
                                            result * p->end.add_stride +
                                            row * (int64_t)sizeof(float));
    *(float *)(void *)(p->out + result * p->out_stride +
                       row * (int64_t)sizeof(float)) = v;
}

/* Sums over the lanes, and stores what a warp has of rows `row` and `row` + 1,
 * or of row `row` of two matrices. */
template <int COLUMNS>
DEVICE void
store_sums(const struct product *p, const struct work *t, int64_t row,
           float (*sum)[COLUMNS])
{
    UNROLL for (int c = 0; c < COLUMNS; c++)
    {
        float a, b;

        if (c >= t->n)
            break;
        a = warp_sum(sum[0][c]);
        b = warp_sum(sum[1][c]);
        if (lane_id() != 0)
            continue;
        if (p->end.glu >= 0) {
            store_result(p, result_of(t, c), row,
                         apply_glu(p->end.glu, a, b, p->end.alpha,
                                   p->end.limit));
            continue;
        }
        store_result(p, result_of(t, c), row, a);
        if (row + 1 < p->rows)
            store_result(p, result_of(t, c), row + 1, b);
    }
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
    return p->by_id ? p->tile_total
                    : p->x2 * p->x3 *
                          cuda_pieces(p->n,
                                      single_columns(p) ? 1 : MOST_COLUMNS);
}

/* By the type of the weights; columns are prepared for it. */
void
cuda_multiply_blocks(struct cuda_ctx *c, const struct product *p);
void
cuda_multiply_floats(struct cuda_ctx *c, const struct product *p);

#endif
