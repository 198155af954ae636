/* mul_mat_id.c - MUL_MAT_ID: each row of src1 times a matrix of its own
 *
 * src0 [k, m, matrices], src1 [k, used or fewer, tokens], src2 [used, tokens]
 * says which matrix; dst [m, used, tokens]. First the pairs of a token and
 * one of its places are put in the order of their matrices, so that the
 * columns of a matrix lie side by side and its weights are read once for all
 * of them; then the columns are prepared, in that order, and each tile of a
 * matrix's rows is multiplied with its columns. Of one token each place is a
 * group for itself, in turn, so that what is read is known from src2 alone. */
#include <string.h>

#include "cpu/exec/weight_stream.h"
#include "cpu/ops/op_table.h"
#include "cpu/gemm/gemm.h"

/* The most columns and rows of a tile whose results wait for being spread. */
#define OUT_COLS 128
#define OUT_ROWS CPU_SEVERAL_ROWS

/* Pairs are numbered token * used + place. */
struct table {
    int32_t *n_groups; /* matrices that are used */
    int32_t *matrix;   /* of each group */
    int32_t *start;    /* where each group's pairs begin; one more: the end */
    int32_t *pair;     /* all pairs, by group, then by number */
};

struct plan {
    struct cpu_product_plan product;
    struct table table;
    char *columns, *scratch; /* scratch: this thread's */
    float *out;              /* this thread's results */
    size_t size;             /* of all */
};

static int64_t
n_pairs(const struct ggml_tensor *dst)
{
    return dst->ne[1] * dst->ne[2];
}

static bool
is_one_token(const struct ggml_tensor *dst)
{
    return dst->ne[2] == 1;
}

/* How many groups there may be. */
static int64_t
most_groups(const struct ggml_tensor *dst)
{
    int64_t n = n_pairs(dst), n_w = dst->src[0]->ne[2];

    return is_one_token(dst) || n < n_w ? n : n_w;
}

/* Columns, each of a pair; of one token none twice. */
static int64_t
mul_mat_id_n_columns(const struct ggml_tensor *dst)
{
    return is_one_token(dst) ? dst->src[1]->ne[1] : n_pairs(dst);
}

static size_t
out_size(const struct ggml_tensor *dst)
{
    return !is_one_token(dst) ? OUT_COLS * OUT_ROWS * sizeof(float) : 0;
}

/* Where things are in the work memory of `base`, seen by `thread`. */
static struct plan
mul_mat_id_make_plan(const struct ggml_tensor *dst, const struct cpu_kernels *k,
                     char *base, int thread, int n_threads)
{
    const struct ggml_tensor *w = dst->src[0];
    struct plan p = { .product = cpu_plan_product(dst, k) };
    size_t n_w = (size_t)w->ne[2], n = (size_t)n_pairs(dst);
    size_t groups = (size_t)most_groups(dst);
    size_t most = groups > n_w ? groups : n_w; /* those, and room to count in */
    size_t each = p.product.scratch + out_size(dst), at = 0;
    int32_t *ints = (int32_t *)(void *)base;

    p.table.n_groups = base ? ints : NULL;
    p.table.matrix = base ? ints + 1 : NULL;
    p.table.start = base ? ints + 1 + groups : NULL;
    p.table.pair = base ? ints + 2 + groups + most : NULL;
    at += cpu_pad((2 + groups + most + n) * sizeof(int32_t));
    p.columns = base ? base + at : NULL;
    at += (size_t)mul_mat_id_n_columns(dst) * p.product.column;
    p.scratch = base ? base + at + each * (size_t)thread : NULL;
    p.out = base ? (float *)(void *)(p.scratch + p.product.scratch) : NULL;
    p.size = at + each * (size_t)n_threads;
    return p;
}

static struct plan
plan_of(const struct cpu_task *t, const struct ggml_tensor *dst)
{
    return mul_mat_id_make_plan(dst, t->k, t->work, t->thread, t->n_threads);
}

static size_t
mul_mat_id_work_size(const struct ggml_tensor *dst, int n_threads,
                     const struct cpu_kernels *k)
{
    return mul_mat_id_make_plan(dst, k, NULL, 0, n_threads).size;
}

static int32_t
matrix_of(const struct ggml_tensor *dst, int64_t pair)
{
    const struct ggml_tensor *ids = dst->src[2];
    const char *p = (const char *)ids->data +
                    (size_t)(pair % dst->ne[1]) * ids->nb[0] +
                    (size_t)(pair / dst->ne[1]) * ids->nb[1];
    int32_t id = *(const int32_t *)(const void *)p;

    GGML_ASSERT(id >= 0 && id < dst->src[0]->ne[2]);
    return id;
}

static void
group_by_place(struct ggml_tensor *dst, struct table *table)
{
    int32_t n = (int32_t)n_pairs(dst);

    for (int32_t i = 0; i < n; i++) {
        table->matrix[i] = matrix_of(dst, i);
        table->start[i] = table->pair[i] = i;
    }
    table->start[n] = *table->n_groups = n;
}

/* Sorts the pairs by counting. */
static void
group_by_matrix(struct ggml_tensor *dst, struct table *table)
{
    int64_t n_w = dst->src[0]->ne[2], n = n_pairs(dst);
    int32_t *end = table->start; /* of each matrix's pairs, until all have
                                    their places */
    int32_t from = 0, groups = 0;

    memset(end, 0, (size_t)(n_w + 1) * sizeof(*end));
    for (int64_t i = 0; i < n; i++)
        end[matrix_of(dst, i) + 1]++;
    for (int64_t e = 0; e < n_w; e++)
        end[e + 1] += end[e];
    for (int64_t i = 0; i < n; i++)
        table->pair[end[matrix_of(dst, i)]++] = (int32_t)i;
    for (int32_t e = 0; e < n_w; e++) {
        int32_t past = end[e];

        if (past == from)
            continue;
        table->matrix[groups] = e;
        table->start[groups++] = from;
        from = past;
    }
    table->start[groups] = from;
    *table->n_groups = groups;
}

static void
mul_mat_id_begin(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct table table = plan_of(t, dst).table;

    if (is_one_token(dst))
        group_by_place(dst, &table);
    else
        group_by_matrix(dst, &table);
}

static void
mul_mat_id_prepare(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[1];
    struct plan p = plan_of(t, dst);
    struct cpu_range cols = cpu_share(t, mul_mat_id_n_columns(dst));

    for (int64_t i = cols.first; i < cols.end; i++) {
        int64_t pair = p.table.pair[i];
        struct cpu_row r = { pair % dst->ne[1] % x->ne[1], pair / dst->ne[1],
                             0 };

        cpu_put_column(t, &p.product, x, r,
                       p.columns + (size_t)i * p.product.column, p.scratch);
    }
}

static int
mul_mat_id_prepare_pieces(const struct ggml_tensor *dst, int n_threads)
{
    int64_t n = mul_mat_id_n_columns(dst);

    return is_one_token(dst) ? 1 : n < 4 * n_threads ? (int)n : 4 * n_threads;
}

static int64_t
tile_rows(const struct ggml_tensor *dst, int n_threads)
{
    return cpu_piece_rows(dst->src[0], dst->ne[0] * most_groups(dst),
                          !is_one_token(dst), n_threads);
}

static int64_t
tiles_of(const struct ggml_tensor *dst, int n_threads)
{
    int64_t each = tile_rows(dst, n_threads);

    return (dst->ne[0] + each - 1) / each;
}

static int
mul_mat_id_pieces(const struct ggml_tensor *dst, int n_threads)
{
    return (int)(tiles_of(dst, n_threads) * most_groups(dst));
}

static float *
out_at(struct ggml_tensor *dst, int64_t pair, int64_t row)
{
    struct cpu_row r = { pair % dst->ne[1], pair / dst->ne[1], 0 };

    return (float *)(void *)cpu_row_data(dst, r) + row;
}

/* Some columns of one matrix; one goes where it belongs at once. */
static void
mul_mat_id_columns(const struct cpu_task *t, const struct plan *p,
                   struct ggml_tensor *dst, struct cpu_product *product,
                   int64_t first_row, int64_t col)
{
    const int32_t *pair = p->table.pair + col;
    bool spread = product->n_cols > 1;

    product->cols = p->columns + (size_t)(col % mul_mat_id_n_columns(dst)) *
                                     p->product.column;
    product->out = spread ? p->out : out_at(dst, *pair, first_row);
    cpu_multiply(t, &p->product, product);
    for (int64_t i = 0; i < product->n_cols && spread; i++)
        memcpy(out_at(dst, pair[i], first_row),
               p->out + (size_t)i * product->out_stride,
               (size_t)product->n_rows * sizeof(float));
}

/* Rows of a group's matrix. */
struct piece {
    int64_t group;
    struct cpu_range rows;
    int count; /* of the tiles that they are */
};

/* Tiles [first, end) of all groups, or fewer, up to the matrix's end. */
static struct piece
mul_mat_id_piece_of(const struct cpu_task *t, const struct ggml_tensor *dst,
                    int first, int end)
{
    int tiles = (int)tiles_of(dst, t->n_threads), tile = first % tiles;
    int64_t each = tile_rows(dst, t->n_threads), n = dst->ne[0];
    struct piece p = { .group = first / tiles, .count = tiles - tile };

    if (end - first < p.count)
        p.count = end - first;
    p.rows.first = tile * each;
    p.rows.end = p.rows.first + p.count * each;
    p.rows.end = p.rows.end < n ? p.rows.end : n;
    return p;
}

static const char *
mul_mat_id_rows_of(const struct cpu_task *t, const struct ggml_tensor *dst,
                   int64_t matrix, int64_t row)
{
    const char *p =
        cpu_row_data(dst->src[0], (struct cpu_row){ row, matrix, 0 });

    return t->stream ? cpu_stream_at(t->stream, p) : p;
}

static const char *
mul_mat_id_reads(struct cpu_task *t, const struct ggml_tensor *dst, size_t *n)
{
    struct piece piece = mul_mat_id_piece_of(t, dst, t->ith, t->ith + t->count);

    t->count = piece.count;
    *n = (size_t)(piece.rows.end - piece.rows.first) * dst->src[0]->nb[1];
    return mul_mat_id_rows_of(t, dst, matrix_of(dst, piece.group),
                              piece.rows.first);
}

static void
multiply_piece(const struct cpu_task *t, struct ggml_tensor *dst,
               const struct plan *p, struct piece piece, const char *prefetch)
{
    const struct ggml_tensor *w = dst->src[0];
    const struct table *table = &p->table;
    int64_t end = table->start[piece.group + 1];
    struct cpu_product product = {
        .k = w->ne[0],
        .n_rows = piece.rows.end - piece.rows.first,
        .rows = mul_mat_id_rows_of(t, dst, table->matrix[piece.group],
                                   piece.rows.first),
        .row_stride = w->nb[1],
        .prefetch = prefetch,
        .col_stride = p->product.column,
        .out_stride = OUT_ROWS,
        .scratch = p->scratch,
    };

    for (int64_t i = table->start[piece.group]; i < end;
         i += product.n_cols, product.prefetch = NULL) {
        product.n_cols = end - i < OUT_COLS ? end - i : OUT_COLS;
        mul_mat_id_columns(t, p, dst, &product, piece.rows.first, i);
    }
}

/* Fewer groups than there may be are shared evenly: of piece `ith` and those
 * before it are that many tiles. */
static int
tiles_before(const struct cpu_task *t, int tiles, int ith)
{
    return (int)((int64_t)tiles * ith / t->nth);
}

static void
mul_mat_id_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct plan p = plan_of(t, dst);
    int tiles = (int)tiles_of(dst, t->n_threads) * *p.table.n_groups;
    int end = tiles_before(t, tiles, t->ith + t->count);
    struct piece piece;

    for (int i = tiles_before(t, tiles, t->ith); i < end; i += piece.count) {
        const char *prefetch = NULL;

        piece = mul_mat_id_piece_of(t, dst, i, end);
        if (t->more && i + piece.count < tiles) {
            struct piece next =
                mul_mat_id_piece_of(t, dst, i + piece.count, tiles);

            prefetch = mul_mat_id_rows_of(t, dst, p.table.matrix[next.group],
                                          next.rows.first);
        }
        multiply_piece(t, dst, &p, piece, prefetch);
    }
}

static bool
mul_mat_id_supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_can_multiply(dst->src[0], dst->src[1]) &&
           dst->src[2]->type == GGML_TYPE_I32;
}

static int64_t
mul_mat_id_cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *w = dst->src[0];
    int64_t bytes = (int64_t)ggml_row_size(w->type, w->ne[0]) * w->ne[1];

    return bytes / 24 * (most_groups(dst) + n_pairs(dst) / 4);
}

const struct cpu_op cpu_op_mul_mat_id = { .compute = mul_mat_id_compute,
                                          .supports = mul_mat_id_supports,
                                          .cost = mul_mat_id_cost,
                                          .pieces = mul_mat_id_pieces,
                                          .work_size = mul_mat_id_work_size,
                                          .begin = mul_mat_id_begin,
                                          .prepare = mul_mat_id_prepare,
                                          .prepare_pieces =
                                              mul_mat_id_prepare_pieces,
                                          .reads = mul_mat_id_reads };
