/* ops_mul_mat.c - MUL_MAT: dst[m, n] = row m of src0 . row n of src1
 *
 * src0 [k, m, a, b], src1 [k, n, c, d], c and d multiples of a and b. First
 * the columns (rows of src1) are brought into the form that the kernel reads,
 * once for all threads; then tiles of rows are multiplied with all columns.
 * Types without a kernel are made floats, some rows at a time. */
#include <string.h>

#include "cpu/ops.h"
#include "quant/types.h"

/* Fewer columns than this are prepared by one thread. */
#define FEW_COLUMNS 4
/* Rows that are made floats at a time. */
#define FLOAT_ROWS 16
/* Tiles for each thread, so that a slow one can do fewer. */
#define TILES 4
/* Tiles are of a multiple of this many rows, as kernels like it. */
#define TILE_ROWS 16
/* Weights of a tile: at most, when there are many columns; at least. */
#define TILE_BYTES (256 * 1024)
#define FAST_BYTES (96 * 1024)

struct plan {
    const struct cpu_mul_mat *kernel;
    bool convert;           /* weights to floats first */
    bool prepare;           /* columns are not used where they lie */
    size_t column, scratch; /* bytes of one column, of one thread's scratch */
    int64_t n_cols;         /* of all matrices */
};

static struct plan
make_plan(const struct ggml_tensor *dst, const struct cpu_kernels *k)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];
    struct plan p = { .kernel = &k->mul_mat[w->type] };
    size_t row = (size_t)w->ne[0] * sizeof(float);

    p.n_cols = ggml_nrows(x);
    p.convert = !p.kernel->multiply;
    if (p.convert)
        p.kernel = &k->mul_mat[GGML_TYPE_F32];
    if (p.kernel->column_size)
        p.column = p.kernel->column_size(w->ne[0]);
    else
        p.column = cpu_pad(row);
    p.prepare = p.kernel->prepare || !cpu_is_plain(x);
    if (p.kernel->scratch_size)
        p.scratch = cpu_pad(p.kernel->scratch_size(w->ne[0]));
    if (p.convert)
        p.scratch += FLOAT_ROWS * cpu_pad(row);
    if (p.prepare && !cpu_is_plain(x))
        p.scratch += cpu_pad(row); /* a row of src1 as floats */
    return p;
}

static size_t
columns_size(const struct plan *p)
{
    return p->prepare ? p->column * (size_t)p->n_cols : 0;
}

static size_t
work_size(const struct ggml_tensor *dst, int n_threads,
          const struct cpu_kernels *k)
{
    struct plan p = make_plan(dst, k);

    return columns_size(&p) + p.scratch * (size_t)n_threads;
}

static char *
scratch_of(const struct cpu_task *t, const struct plan *p)
{
    if (!t->work)
        return NULL;
    return t->work + columns_size(p) + p->scratch * (size_t)t->thread;
}

static void
prepare(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[1];
    struct plan p = make_plan(dst, t->k);
    struct cpu_range cols = cpu_share(t, p.n_cols);
    float *buf = (float *)(void *)scratch_of(t, &p);

    for (int64_t i = cols.first; i < cols.end && p.prepare; i++) {
        char *column = t->work + (size_t)i * p.column;
        float *as_float = p.kernel->prepare ? buf : (float *)(void *)column;
        const float *row = cpu_load_row(t, x, cpu_row_at(x, i), as_float);

        if (p.kernel->prepare)
            p.kernel->prepare(row, column, x->ne[0]);
        else if (row != as_float)
            memcpy(column, row, (size_t)x->ne[0] * sizeof(*row));
    }
}

static int
prepare_pieces(const struct ggml_tensor *dst, int n_threads)
{
    int64_t n = ggml_nrows(dst->src[1]);

    return n < FEW_COLUMNS ? 1 : n < 4 * n_threads ? (int)n : 4 * n_threads;
}

/* Weights of a type without a kernel. */
static void
multiply_converted(const struct cpu_task *t, const struct plan *p,
                   enum ggml_type type, const struct cpu_product *product,
                   char *floats)
{
    struct cpu_product part = *product;
    size_t stride = cpu_pad((size_t)product->k * sizeof(float));

    part.rows = floats;
    part.row_stride = stride;
    for (int64_t r = 0; r < product->n_rows; r += FLOAT_ROWS) {
        part.n_rows =
            product->n_rows - r < FLOAT_ROWS ? product->n_rows - r : FLOAT_ROWS;
        part.out = product->out + r;
        for (int64_t i = 0; i < part.n_rows; i++)
            t->k->to_float[type](
                product->rows + (size_t)(r + i) * product->row_stride,
                (float *)(void *)(floats + (size_t)i * stride), product->k);
        p->kernel->multiply(&part);
    }
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows of a tile: some tiles for each thread, but none so small that reading
 * it ends before it has got up speed, or larger than a cache if it is read
 * again for more columns. */
static int64_t
tile_rows(const struct ggml_tensor *dst, int n_threads)
{
    const struct ggml_tensor *w = dst->src[0];
    int64_t stride = w->nb[1] ? (int64_t)w->nb[1] : 1;
    int64_t each = w->ne[1] * dst->ne[2] * dst->ne[3] / n_threads;
    int64_t n = w->ne[1], fast = least(FAST_BYTES / stride, each);

    if (dst->ne[1] > 1)
        n = least(n, TILE_BYTES / stride);
    if (n_threads > 1)
        n = least(n, fast > each / TILES ? fast : each / TILES);
    n = n / TILE_ROWS * TILE_ROWS;
    return n < TILE_ROWS ? TILE_ROWS : n;
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

/* A tile of the rows of src0, times all columns of matrix `group`. */
static void
multiply_tile(const struct cpu_task *t, const struct plan *p,
              struct ggml_tensor *dst, const char *columns, int64_t group,
              struct cpu_range rows, char *scratch)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];
    int64_t i2 = group % x->ne[2], i3 = group / x->ne[2];
    struct cpu_row of_w = { rows.first, i2 / (x->ne[2] / w->ne[2]),
                            i3 / (x->ne[3] / w->ne[3]) };
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
        .scratch = scratch,
    };

    if (p->prepare) {
        product.cols = columns + (size_t)(group * x->ne[1]) * p->column;
        product.col_stride = p->column;
    } else {
        product.cols = cpu_row_data(x, (struct cpu_row){ 0, i2, i3 });
        product.col_stride = x->nb[1];
    }
    if (p->convert)
        multiply_converted(t, p, w->type, &product,
                           scratch + p->scratch -
                               FLOAT_ROWS *
                                   cpu_pad((size_t)w->ne[0] * sizeof(float)));
    else
        p->kernel->multiply(&product);
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct plan p = make_plan(dst, t->k);
    int64_t tiles = tiles_of(dst, t->n_threads);
    int64_t each = tile_rows(dst, t->n_threads);
    int64_t first = t->ith % tiles * each;
    struct cpu_range rows = { first, first + each < dst->ne[0] ? first + each
                                                               : dst->ne[0] };

    multiply_tile(t, &p, dst, t->work, t->ith / tiles, rows, scratch_of(t, &p));
}

static bool
supports(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];
    const struct ggml_type_traits *t = quant_traits(w->type);

    return t && quant_reader(w->type) && w->nb[0] == t->type_size &&
           cpu_is_plain(dst) &&
           (cpu_has_elements(x->type) ||
            (quant_reader(x->type) && x->nb[0] == ggml_type_size(x->type)));
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
                                       .prepare_pieces = prepare_pieces };
