/* ops_mul_mat_id.c - MUL_MAT_ID: each row of src1 times a matrix of its own
 *
 * src0 [k, m, matrices], src1 [k, used or fewer, tokens], src2 [used, tokens]
 * says which matrix; dst [m, used, tokens]. First the pairs of a token and
 * one of its places are put in the order of their matrices, so that the
 * columns of a matrix lie side by side and its weights are read once for all
 * of them; then the columns are prepared, in that order, and each tile of a
 * matrix's rows is multiplied with its columns. */
#include <string.h>

#include "cpu/ops.h"
#include "cpu/product.h"

/* Results of a tile wait for being spread: at most so many columns and rows
 * of them. */
#define OUT_COLS 128
#define OUT_ROWS CPU_SEVERAL_ROWS

/* Pairs are numbered token * used + place. */
struct table {
    int32_t *n_groups; /* matrices that are used */
    int32_t *group;    /* their numbers */
    int32_t *start;    /* where each matrix's pairs begin; one more: the end */
    int32_t *pair;     /* all pairs, by matrix, then by number */
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

static size_t
out_size(const struct ggml_tensor *dst)
{
    return dst->ne[2] > 1 ? OUT_COLS * OUT_ROWS * sizeof(float) : 0;
}

/* Where things are in the work memory of `base`, seen by `thread`. */
static struct plan
make_plan(const struct ggml_tensor *dst, const struct cpu_kernels *k,
          char *base, int thread, int n_threads)
{
    const struct ggml_tensor *w = dst->src[0];
    struct plan p = { .product = cpu_plan_product(dst, k) };
    size_t n_w = (size_t)w->ne[2], n = (size_t)n_pairs(dst);
    size_t each = p.product.scratch + out_size(dst), at = 0;
    int32_t *ints = (int32_t *)(void *)base;

    p.table.n_groups = base ? ints : NULL;
    p.table.group = base ? ints + 1 : NULL;
    p.table.start = base ? ints + 1 + n_w : NULL;
    p.table.pair = base ? ints + 2 + 2 * n_w : NULL;
    at += cpu_pad((2 + 2 * n_w + n) * sizeof(int32_t));
    p.columns = base ? base + at : NULL;
    at += n * p.product.column;
    p.scratch = base ? base + at + each * (size_t)thread : NULL;
    p.out = base ? (float *)(void *)(p.scratch + p.product.scratch) : NULL;
    p.size = at + each * (size_t)n_threads;
    return p;
}

static struct plan
plan_of(const struct cpu_task *t, const struct ggml_tensor *dst)
{
    return make_plan(dst, t->k, t->work, t->thread, t->n_threads);
}

static size_t
work_size(const struct ggml_tensor *dst, int n_threads,
          const struct cpu_kernels *k)
{
    return make_plan(dst, k, NULL, 0, n_threads).size;
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

/* Sorts the pairs by counting. */
static void
begin(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct table table = plan_of(t, dst).table;
    int64_t n_w = dst->src[0]->ne[2], n = n_pairs(dst);
    int32_t *next = table.group; /* until the groups are known */

    memset(table.start, 0, (size_t)(n_w + 1) * sizeof(*table.start));
    for (int64_t i = 0; i < n; i++)
        table.start[matrix_of(dst, i) + 1]++;
    for (int64_t e = 0; e < n_w; e++) {
        next[e] = table.start[e];
        table.start[e + 1] += table.start[e];
    }
    for (int64_t i = 0; i < n; i++)
        table.pair[next[matrix_of(dst, i)]++] = (int32_t)i;
    *table.n_groups = 0;
    for (int32_t e = 0; e < n_w; e++)
        if (table.start[e + 1] > table.start[e])
            table.group[(*table.n_groups)++] = e;
}

static void
prepare(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[1];
    struct plan p = plan_of(t, dst);
    struct cpu_range cols = cpu_share(t, n_pairs(dst));

    for (int64_t i = cols.first; i < cols.end; i++) {
        int64_t pair = p.table.pair[i];
        struct cpu_row r = { pair % dst->ne[1] % x->ne[1], pair / dst->ne[1],
                             0 };

        cpu_put_column(t, &p.product, x, r,
                       p.columns + (size_t)i * p.product.column, p.scratch);
    }
}

static int
prepare_pieces(const struct ggml_tensor *dst, int n_threads)
{
    int64_t n = n_pairs(dst);

    return n < 4 * n_threads ? (int)n : 4 * n_threads;
}

/* How many matrices may be used. */
static int64_t
most_groups(const struct ggml_tensor *dst)
{
    int64_t n = n_pairs(dst), n_w = dst->src[0]->ne[2];

    return n < n_w ? n : n_w;
}

static int64_t
tile_rows(const struct ggml_tensor *dst, int n_threads)
{
    return cpu_tile_rows(dst->src[0], dst->ne[0] * most_groups(dst),
                         dst->ne[2] > 1, n_threads);
}

static int64_t
tiles_of(const struct ggml_tensor *dst, int n_threads)
{
    int64_t each = tile_rows(dst, n_threads);

    return (dst->ne[0] + each - 1) / each;
}

static int
pieces(const struct ggml_tensor *dst, int n_threads)
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
multiply_columns(const struct cpu_task *t, const struct plan *p,
                 struct ggml_tensor *dst, struct cpu_product *product,
                 int64_t first_row, int64_t col)
{
    const int32_t *pair = p->table.pair + col;
    bool spread = product->n_cols > 1;

    product->cols = p->columns + (size_t)col * p->product.column;
    product->out = spread ? p->out : out_at(dst, *pair, first_row);
    cpu_multiply(t, &p->product, product);
    for (int64_t i = 0; i < product->n_cols && spread; i++)
        memcpy(out_at(dst, pair[i], first_row),
               p->out + (size_t)i * product->out_stride,
               (size_t)product->n_rows * sizeof(float));
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *w = dst->src[0];
    struct plan p = plan_of(t, dst);
    int64_t tiles = tiles_of(dst, t->n_threads);
    int64_t each = tile_rows(dst, t->n_threads), group = t->ith / tiles;
    int64_t row = t->ith % tiles * each, end;
    /* One token has no room to spread: if it names a matrix twice, in turn. */
    int64_t most = dst->ne[2] > 1 ? OUT_COLS : 1;
    struct cpu_product product = {
        .k = w->ne[0],
        .n_rows = row + each < w->ne[1] ? each : w->ne[1] - row,
        .row_stride = w->nb[1],
        .col_stride = p.product.column,
        .out_stride = OUT_ROWS,
        .scratch = p.scratch,
    };

    if (group >= *p.table.n_groups)
        return;
    group = p.table.group[group];
    product.rows = cpu_row_data(w, (struct cpu_row){ row, group, 0 });
    end = p.table.start[group + 1];
    for (int64_t i = p.table.start[group]; i < end; i += product.n_cols) {
        product.n_cols = end - i < most ? end - i : most;
        multiply_columns(t, &p, dst, &product, row, i);
    }
}

static bool
supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_can_multiply(dst->src[0], dst->src[1]) &&
           dst->src[2]->type == GGML_TYPE_I32;
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *w = dst->src[0];
    int64_t bytes = (int64_t)ggml_row_size(w->type, w->ne[0]) * w->ne[1];

    return bytes / 24 * (most_groups(dst) + n_pairs(dst) / 4);
}

const struct cpu_op cpu_op_mul_mat_id = { .compute = compute,
                                          .supports = supports,
                                          .cost = cost,
                                          .pieces = pieces,
                                          .work_size = work_size,
                                          .begin = begin,
                                          .prepare = prepare,
                                          .prepare_pieces = prepare_pieces };
