/* ops_mul_mat.c - MUL_MAT: dst[m, n] = row m of src0 . row n of src1
 *
 * src0 [k, m, a, b], src1 [k, n, c, d], c and d multiples of a and b. First
 * the columns (rows of src1) are brought into the form that the kernel reads,
 * once for all threads; then tiles of rows are multiplied with all columns. */
#include "cpu/ops.h"
#include "cpu/product.h"

/* Fewer columns than this are prepared by one thread. */
#define FEW_COLUMNS 4

struct plan {
    struct cpu_product_plan product;
    bool prepare;   /* columns are not used where they lie */
    size_t columns; /* bytes of all columns */
};

static struct plan
make_plan(const struct ggml_tensor *dst, const struct cpu_kernels *k)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];
    struct plan p = { .product = cpu_plan_product(w->type, w->ne[0], k) };

    p.prepare = p.product.kernel->prepare || !cpu_is_plain(x);
    if (p.prepare)
        p.columns = p.product.column * (size_t)ggml_nrows(x);
    return p;
}

static size_t
work_size(const struct ggml_tensor *dst, int n_threads,
          const struct cpu_kernels *k)
{
    struct plan p = make_plan(dst, k);

    return p.columns + p.product.scratch * (size_t)n_threads;
}

static char *
scratch_of(const struct cpu_task *t, const struct plan *p)
{
    return t->work + p->columns + p->product.scratch * (size_t)t->thread;
}

static void
prepare(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[1];
    struct plan p = make_plan(dst, t->k);
    struct cpu_range cols = cpu_share(t, ggml_nrows(x));

    for (int64_t i = cols.first; i < cols.end && p.prepare; i++)
        cpu_put_column(t, &p.product, x, cpu_row_at(x, i),
                       t->work + (size_t)i * p.product.column,
                       scratch_of(t, &p));
}

static int
prepare_pieces(const struct ggml_tensor *dst, int n_threads)
{
    int64_t n = ggml_nrows(dst->src[1]);

    return n < FEW_COLUMNS ? 1 : n < 4 * n_threads ? (int)n : 4 * n_threads;
}

static int64_t
tile_rows(const struct ggml_tensor *dst, int n_threads)
{
    return cpu_tile_rows(dst->src[0], dst->ne[2] * dst->ne[3], dst->ne[1] > 1,
                         n_threads);
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
    return (int)(tiles_of(dst, n_threads) * dst->ne[2] * dst->ne[3]);
}

/* Row `row` of the matrix of src0 that meets matrix `group` of src1. */
static struct cpu_row
row_of_weights(const struct ggml_tensor *dst, int64_t group, int64_t row)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];

    return (struct cpu_row){ row, group % x->ne[2] / (x->ne[2] / w->ne[2]),
                             group / x->ne[2] / (x->ne[3] / w->ne[3]) };
}

/* A tile of the rows of src0, times all columns of matrix `group`. */
static void
multiply_tile(const struct cpu_task *t, const struct plan *p,
              struct ggml_tensor *dst, int64_t group, struct cpu_range rows)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];
    int64_t i2 = group % x->ne[2], i3 = group / x->ne[2];
    struct cpu_row of_w = row_of_weights(dst, group, rows.first);
    struct cpu_product product = {
        .k = w->ne[0],
        .n_rows = rows.end - rows.first,
        .n_cols = x->ne[1],
        .rows = cpu_row_data(w, of_w),
        .row_stride = w->nb[1],
        .out =
            (float *)(void *)cpu_row_data(dst, (struct cpu_row){ 0, i2, i3 }) +
            rows.first,
        .out_stride = dst->nb[1] / sizeof(float),
        .scratch = scratch_of(t, p),
    };

    if (p->prepare) {
        product.cols = t->work + (size_t)(group * x->ne[1]) * p->product.column;
        product.col_stride = p->product.column;
    } else {
        product.cols = cpu_row_data(x, (struct cpu_row){ 0, i2, i3 });
        product.col_stride = x->nb[1];
    }
    cpu_multiply(t, &p->product, &product);
}

/* The rows of a piece, and their matrix. */
static struct cpu_range
rows_of(const struct cpu_task *t, const struct ggml_tensor *dst, int64_t *group)
{
    int64_t tiles = tiles_of(dst, t->n_threads);
    int64_t each = tile_rows(dst, t->n_threads);
    int64_t first = t->ith % tiles * each;

    *group = t->ith / tiles;
    return (struct cpu_range){ first, first + each < dst->ne[0] ? first + each
                                                                : dst->ne[0] };
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct plan p = make_plan(dst, t->k);
    int64_t group;
    struct cpu_range rows = rows_of(t, dst, &group);

    multiply_tile(t, &p, dst, group, rows);
}

static const char *
reads(const struct cpu_task *t, const struct ggml_tensor *dst, size_t *n)
{
    const struct ggml_tensor *w = dst->src[0];
    int64_t group;
    struct cpu_range rows = rows_of(t, dst, &group);

    *n = (size_t)(rows.end - rows.first) * w->nb[1];
    return cpu_row_data(w, row_of_weights(dst, group, rows.first));
}

static bool
supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_can_multiply(dst->src[0], dst->src[1]);
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    int64_t bytes =
        (int64_t)ggml_row_size(dst->src[0]->type, dst->src[0]->ne[0]) *
        dst->ne[0] * dst->ne[2] * dst->ne[3];

    return bytes / 24 * (1 + dst->ne[1] / 4);
}

const struct cpu_op cpu_op_mul_mat = { .compute = compute,
                                       .supports = supports,
                                       .cost = cost,
                                       .pieces = pieces,
                                       .work_size = work_size,
                                       .prepare = prepare,
                                       .prepare_pieces = prepare_pieces,
                                       .reads = reads };
