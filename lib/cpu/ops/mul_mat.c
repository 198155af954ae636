/* mul_mat.c - MUL_MAT: dst[m, n] = row m of src0 . row n of src1
 *
 * src0 [k, m, a, b], src1 [k, n, c, d], c and d multiples of a and b. First
 * the columns (rows of src1) are brought into the form that the kernel reads,
 * once for all threads; then tiles of rows are multiplied with all columns. */
#include "cpu/ops/op_table.h"
#include "cpu/gemm/gemm.h"

/* Fewer columns than this are prepared by one thread. */
#define FEW_COLUMNS 5
/* Pieces for each thread that are enough to share them well; fewer columns
 * than this would not be worth what it takes to open blocks for them; and
 * the multiple that kernels like. */
#define ENOUGH_PIECES  16
#define FEWEST_OF_PART 96
#define PART_STEP      12

struct plan {
    struct cpu_product_plan product;
    bool prepare;   /* columns are not used where they lie */
    size_t columns; /* bytes of all columns */
};

static struct plan
mul_mat_make_plan(const struct ggml_tensor *dst, const struct cpu_kernels *k)
{
    const struct ggml_tensor *x = dst->src[1];
    struct plan p = { .product = cpu_plan_product(dst, k) };

    p.prepare = p.product.kernel->prepare || !cpu_is_plain(x);
    if (p.prepare)
        p.columns = p.product.column * (size_t)ggml_nrows(x);
    return p;
}

static size_t
mul_mat_work_size(const struct ggml_tensor *dst, int n_threads,
                  const struct cpu_kernels *k)
{
    struct plan p = mul_mat_make_plan(dst, k);

    return p.columns + p.product.scratch * (size_t)n_threads;
}

static char *
scratch_of(const struct cpu_task *t, const struct plan *p)
{
    return t->work + p->columns + p->product.scratch * (size_t)t->thread;
}

static void
mul_mat_prepare(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[1];
    struct plan p = mul_mat_make_plan(dst, t->k);
    struct cpu_range cols = cpu_share(t, ggml_nrows(x));

    for (int64_t i = cols.first; i < cols.end && p.prepare; i++)
        cpu_put_column(t, &p.product, x, cpu_row_at(x, i),
                       t->work + (size_t)i * p.product.column,
                       scratch_of(t, &p));
}

static int
mul_mat_prepare_pieces(const struct ggml_tensor *dst, int n_threads)
{
    int64_t n = ggml_nrows(dst->src[1]);

    return n < FEW_COLUMNS ? 1 : n < 4 * n_threads ? (int)n : 4 * n_threads;
}

/* How many rows like its own a job multiplies: those of all matrices, or as
 * many as there are in `bytes`. */
static int64_t
rows_like(const struct ggml_tensor *dst, int64_t bytes)
{
    size_t row = dst->src[0]->nb[1];

    return bytes && row ? bytes / (int64_t)row
                        : dst->ne[0] * dst->ne[2] * dst->ne[3];
}

/* Pieces that are long in all are cut by columns as well, where there are many,
 * so that the last ones end together. */
struct cpu_piece_shape
cpu_product_piece_shape(const struct ggml_tensor *dst, int n_threads,
                        int64_t bytes)
{
    int64_t n = dst->ne[1], matrices = dst->ne[2] * dst->ne[3], parts, tiles;
    struct cpu_piece_shape t = { .rows = cpu_piece_rows(dst->src[0],
                                                        rows_like(dst, bytes),
                                                        n > 1, n_threads) };

    tiles = (dst->ne[0] + t.rows - 1) / t.rows * matrices;
    parts = n_threads == 1 ? 1 : ENOUGH_PIECES * n_threads / tiles;
    if (parts > n / FEWEST_OF_PART)
        parts = n / FEWEST_OF_PART;
    t.cols = parts > 1 ? (n + parts - 1) / parts : n;
    if (parts > 1)
        t.cols = (t.cols + PART_STEP - 1) / PART_STEP * PART_STEP;
    return t;
}

static int64_t
tiles_down(const struct ggml_tensor *dst, struct cpu_piece_shape t)
{
    return (dst->ne[0] + t.rows - 1) / t.rows;
}

static int64_t
tiles_across(const struct ggml_tensor *dst, struct cpu_piece_shape t)
{
    return (dst->ne[1] + t.cols - 1) / t.cols;
}

int
cpu_product_pieces(const struct ggml_tensor *dst, struct cpu_piece_shape tile)
{
    return (int)(tiles_down(dst, tile) * tiles_across(dst, tile) * dst->ne[2] *
                 dst->ne[3]);
}

static int
mul_mat_pieces(const struct ggml_tensor *dst, int n_threads)
{
    return cpu_product_pieces(dst, cpu_product_piece_shape(dst, n_threads, 0));
}

/* Row `row` of the matrix of src0 that is multiplied with matrix `group` of
 * src1. */
static struct cpu_row
row_of_weights(const struct ggml_tensor *dst, int64_t group, int64_t row)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];

    return (struct cpu_row){ row, group % x->ne[2] / (x->ne[2] / w->ne[2]),
                             group / x->ne[2] / (x->ne[3] / w->ne[3]) };
}

/* Rows of a matrix of src0 and columns of one of src1, number `group`. */
struct piece {
    int64_t group;
    struct cpu_range rows, cols;
};

static void
multiply_piece(const struct cpu_task *t, const struct plan *p,
               struct ggml_tensor *dst, struct piece piece)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];
    int64_t group = piece.group, c = piece.cols.first;
    struct cpu_range rows = piece.rows;
    int64_t i2 = group % x->ne[2], i3 = group / x->ne[2];
    struct cpu_row of_w = row_of_weights(dst, group, rows.first);
    struct cpu_product product = {
        .k = w->ne[0],
        .n_rows = rows.end - rows.first,
        .n_cols = piece.cols.end - c,
        .rows = cpu_row_data(w, of_w),
        .row_stride = w->nb[1],
        .prefetch = t->more && rows.end < w->ne[1]
                        ? cpu_row_data(w, row_of_weights(dst, group, rows.end))
                        : NULL,
        .out =
            (float *)(void *)cpu_row_data(dst, (struct cpu_row){ c, i2, i3 }) +
            rows.first,
        .out_stride = dst->nb[1] / sizeof(float),
        .scratch = scratch_of(t, p),
    };

    if (p->prepare) {
        product.cols =
            t->work + (size_t)(group * x->ne[1] + c) * p->product.column;
        product.col_stride = p->product.column;
    } else {
        product.cols = cpu_row_data(x, (struct cpu_row){ c, i2, i3 });
        product.col_stride = x->nb[1];
    }
    cpu_multiply(t, &p->product, &product);
}

/* `first` and as many as `n`, up to the end. */
static struct cpu_range
range_of(int64_t first, int64_t n, int64_t end)
{
    return (struct cpu_range){ first, first + n < end ? first + n : end };
}

/* One after the other, pieces have the same columns: they stay in cache. */
static struct piece
mul_mat_piece_of(const struct cpu_task *t, const struct ggml_tensor *dst)
{
    struct cpu_piece_shape tile = t->tile;
    int64_t down, across, part;

    if (!tile.rows)
        tile = cpu_product_piece_shape(dst, t->n_threads, 0);
    down = tiles_down(dst, tile);
    across = tiles_across(dst, tile);
    part = t->ith / down;

    return (struct piece){
        .group = part / across,
        .rows = range_of(t->ith % down * tile.rows, tile.rows * t->count,
                         dst->ne[0]),
        .cols = range_of(part % across * tile.cols, tile.cols, dst->ne[1]),
    };
}

struct cpu_part
cpu_product_part(const struct cpu_task *t, const struct ggml_tensor *dst)
{
    struct piece p = mul_mat_piece_of(t, dst);

    return (struct cpu_part){ p.rows, p.cols };
}

bool
cpu_products_alike(const struct ggml_tensor *a, const struct ggml_tensor *b,
                   const struct cpu_kernels *k)
{
    struct plan p = mul_mat_make_plan(a, k), q = mul_mat_make_plan(b, k);

    return a->src[1] == b->src[1] && p.prepare == q.prepare &&
           p.product.kernel->prepare == q.product.kernel->prepare &&
           p.product.column == q.product.column &&
           p.product.scratch == q.product.scratch;
}

bool
cpu_product_reads_columns(const struct ggml_tensor *dst,
                          const struct cpu_kernels *k)
{
    return !mul_mat_make_plan(dst, k).prepare;
}

static const char *
mul_mat_reads(struct cpu_task *t, const struct ggml_tensor *dst, size_t *n)
{
    const struct ggml_tensor *w = dst->src[0];
    struct piece p = mul_mat_piece_of(t, dst);

    *n = (size_t)(p.rows.end - p.rows.first) * w->nb[1];
    return cpu_row_data(w, row_of_weights(dst, p.group, p.rows.first));
}

static void
mul_mat_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct plan p = mul_mat_make_plan(dst, t->k);

    multiply_piece(t, &p, dst, mul_mat_piece_of(t, dst));
}

static bool
mul_mat_supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_can_multiply(dst->src[0], dst->src[1]);
}

static int64_t
mul_mat_cost(const struct ggml_tensor *dst)
{
    int64_t bytes =
        (int64_t)ggml_row_size(dst->src[0]->type, dst->src[0]->ne[0]) *
        dst->ne[0] * dst->ne[2] * dst->ne[3];

    return bytes / 24 * (1 + dst->ne[1] / 4);
}

const struct cpu_op cpu_op_mul_mat = { .compute = mul_mat_compute,
                                       .supports = mul_mat_supports,
                                       .cost = mul_mat_cost,
                                       .pieces = mul_mat_pieces,
                                       .work_size = mul_mat_work_size,
                                       .prepare = mul_mat_prepare,
                                       .prepare_pieces = mul_mat_prepare_pieces,
                                       .reads = mul_mat_reads };
