/* gemv.h - arguments of the GEMV and small-batch GEMM kernels
 *
 * Columns (rows of src1) are numbered in order, and so are results. A tile is
 * up to GEMV_COLUMNS columns that are multiplied with one matrix of weights.
 * The order of a sum depends on its length and the type of the weights alone,
 * up to GEMV_COLUMNS columns. */
#ifndef CUDA_GEMV_H
#define CUDA_GEMV_H

#include "cuda/functions.h"
#include "cuda/fused_ops.h"
#include "cuda/tensor_view.h"

#define GEMV_COLUMNS 8 /* of a tile */
#define GEMV_WARPS   4 /* of a block */

/* Tiles of MUL_MAT_ID, as device memory holds them. */
struct column_tile {
    int matrix, first, n; /* columns order[first] and on */
};

/* The fused epilogue: what is done to a row's result before it is stored. */
struct epilogue {
    const char *add;    /* (or NULL) F32 values, one a row, are added */
    int64_t add_stride; /* bytes from one column's to the next; may be 0 */
    int glu; /* enum ggml_glu_op, of two matrices' results; -1: none */
    float alpha, limit;
};

/* Another matrix of weights that is multiplied with the same columns. */
struct sibling {
    const char *w; /* in rows as those of the first, and of their type */
    char *out;
    int64_t out_stride, rows;
    const char *add;
    int64_t add_stride;
};

struct gemv {
    struct view w;
    const char *w2;      /* (or NULL) matrices of w's shape: see glu */
    const char *columns; /* quantised: see quantize.h; or floats */
    int64_t column_stride;
    char *out; /* floats */
    int64_t out_stride;
    int64_t k, rows;
    /* For MUL_MAT: n columns each in x2 times x3 groups, which share w's. */
    int64_t n, x2, x3;
    /* For MUL_MAT_ID, else NULL: `used` results a token, each a (token, expert)
     * pair; of x1 columns a token, pair p has column p % x1 of token p /
     * used. */
    const struct column_tile *tiles; /* as many as tile_total; n 0: empty */
    const int *order;
    struct view ids; /* one column a tile: which matrix */
    bool by_id;
    bool constant_weights; /* no launch writes them */
    int64_t used, x1;
    int64_t tile_total;
    struct epilogue end;
    struct sibling siblings[CUDA_SIBLINGS]; /* of MUL_MAT; those of rows > 0 */
};

/* A tile and its rows of weights, in a warp's registers. */
struct gemv_work {
    const char *rows, *rows2;
    int n;
    const int *order; /* or NULL: columns and results count from `first` */
    int64_t first;
    char *out; /* as in struct gemv, or a sibling */
    int64_t out_stride, n_rows;
    const char *add;
    int64_t add_stride;
};

DEVICE int64_t
cuda_column_of(const struct gemv *p, const struct gemv_work *t, int c)
{
    int64_t pair, place, token;

    if (!p->by_id)
        return t->first + c;
    pair = t->order ? t->order[c] : t->first + c;
    token = cuda_divide(pair, p->used, &place);
    return token * p->x1 + cuda_modulo(place, p->x1);
}

DEVICE int64_t
result_of(const struct gemv_work *t, int c)
{
    return t->order ? t->order[c] : t->first + c;
}

/* Tile i; n is 0 if there is nothing to do. */
DEVICE struct gemv_work
cuda_column_tile_at(const struct gemv *p, int64_t i, int max_columns)
{
    struct gemv_work t = {};
    int64_t at = 0;

    if (p->tiles) {
        struct column_tile tile = p->tiles[i];

        at = tile.matrix * p->w.nb[2];
        t.n = tile.n;
        t.order = p->order + tile.first;
    } else if (p->by_id) {
        int64_t place, token = cuda_divide(i, p->used, &place);
        int matrix =
            *(const int *)(const void *)(p->ids.data + place * p->ids.nb[0] +
                                         token * p->ids.nb[1]);

        t.first = i;
        t.n = matrix >= 0 && matrix < p->w.ne[2];
        at = t.n ? matrix * p->w.nb[2] : 0;
    } else if (p->x2 * p->x3 == 1) {
        t.first = i * max_columns;
        t.n =
            (int)(p->n - t.first < max_columns ? p->n - t.first : max_columns);
    } else {
        int64_t per_group = (p->n + max_columns - 1) / max_columns, part, i2;
        int64_t group = cuda_divide(i, per_group, &part);
        int64_t i3 = cuda_divide(group, p->x2, &i2);

        t.first = group * p->n + part * max_columns;
        t.n = (int)(p->n - part * max_columns < max_columns
                        ? p->n - part * max_columns
                        : max_columns);
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

/* Sets the tile's matrix to the one that `*row`, a row of all matrices, belongs
 * to; each begins at a multiple of `step`. */
DEVICE void
cuda_choose_sibling(const struct gemv *p, int64_t step, struct gemv_work *t,
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
cuda_store_gemv_result(const struct gemv_work *t, int64_t result, int64_t row,
                       float v)
{
    if (t->add)
        v += *(const float *)(const void *)(t->add + result * t->add_stride +
                                            row * (int64_t)sizeof(float));
    *(float *)(void *)(t->out + result * t->out_stride +
                       row * (int64_t)sizeof(float)) = v;
}

/* Reduces over the lanes, and stores a warp's results of rows `row` and `row` +
 * 1, or of row `row` of two matrices; `scratch` is the warp's shared memory. */
template <int COLUMNS>
DEVICE void
cuda_store_gemv_sums(const struct gemv *p, const struct gemv_work *t,
                     int64_t row, float (*sum)[COLUMNS], float *scratch)
{
    int r = (int)cuda_lane_id() / COLUMNS, c = (int)cuda_lane_id() % COLUMNS;

    UNROLL for (int i = 0; i < 2 * COLUMNS; i++)
    {
        float v = i % COLUMNS < t->n
                      ? cuda_warp_sum(sum[i / COLUMNS][i % COLUMNS])
                      : 0;

        if (cuda_lane_id() == 0)
            scratch[i] = v;
    }
    cuda_warp_barrier();
    if (r < 2 && c < t->n) {
        float v = scratch[r * COLUMNS + c];

        if (p->end.glu < 0 && row + r < t->n_rows)
            cuda_store_gemv_result(t, result_of(t, c), row + r, v);
        else if (p->end.glu >= 0 && r == 0)
            cuda_store_gemv_result(t, result_of(t, c), row,
                                   cuda_apply_glu(p->end.glu, v,
                                                  scratch[COLUMNS + c],
                                                  p->end.alpha, p->end.limit));
    }
    cuda_warp_barrier();
}

/* Rows of a block, each of two matrices if there is a GLU. */
HOST_DEVICE int64_t
gemv_block_rows(const struct gemv *p)
{
    return GEMV_WARPS * (p->w2 ? 1 : 2);
}

/* Whether every tile has one column; how many tiles there are. */
static inline bool
cuda_has_single_columns(const struct gemv *p)
{
    return p->by_id ? !p->tiles : p->n == 1;
}

static inline int64_t
cuda_gemv_tiles(const struct gemv *p)
{
    return p->by_id
               ? p->tile_total
               : p->x2 * p->x3 *
                     cuda_ceil_div(
                         p->n, cuda_has_single_columns(p) ? 1 : GEMV_COLUMNS);
}

/* The tile and matrix of an item, and the warp's first row, of one or two.
 * Items are row panels of all matrices, and for each all tiles, so that blocks
 * that read the same weights run at the same time. */
DEVICE struct gemv_work
cuda_gemv_work_at(const struct gemv *p, int64_t item, int64_t tiles,
                  int max_columns, int64_t *row)
{
    int64_t tile = 0, group = item, each = gemv_block_rows(p);
    struct gemv_work t;

    if (tiles > 1)
        group = cuda_divide(item, tiles, &tile);
    *row = group * each;
    t = cuda_column_tile_at(p, tile, max_columns);
    cuda_choose_sibling(p, each, &t, row);
    *row += cuda_warp_id() * (each / GEMV_WARPS);
    return t;
}

/* The second row of a warp: of the second matrix, or the next one, or
 * itself. */
DEVICE const char *
cuda_second_gemv_row(const struct gemv *p, const struct gemv_work *t,
                     int64_t row)
{
    return t->rows2              ? t->rows2 + row * p->w.nb[1]
           : row + 1 < t->n_rows ? t->rows + (row + 1) * p->w.nb[1]
                                 : t->rows + row * p->w.nb[1];
}

/* Panels of `each` rows, of all matrices. */
static inline int64_t
cuda_row_panels(const struct gemv *p, int64_t each)
{
    int64_t n = cuda_ceil_div(p->rows, each);

    for (int i = 0; i < CUDA_SIBLINGS; i++)
        n += cuda_ceil_div(p->siblings[i].rows, each);
    return n;
}

static inline int64_t
cuda_gemv_items(const struct gemv *p)
{
    return cuda_row_panels(p, gemv_block_rows(p)) * cuda_gemv_tiles(p);
}

/* GEMV and small-batch GEMM with quantised or float weights; the columns are
 * quantised or floats accordingly. */
void
cuda_gemv_quantized(struct cuda_ctx *c, const struct gemv *p);
void
cuda_gemv_float(struct cuda_ctx *c, const struct gemv *p);

/* GEMM with quantised weights by tensor cores, for more than GEMV_COLUMNS
 * columns; false: cuda_gemv_quantized() has to do it. */
bool
cuda_gemm_mma(struct cuda_ctx *c, const struct gemv *p);

#endif
