/* ops_mul_mat.c - MUL_MAT: dst[m, n] = row m of src0 . row n of src1
 *
 * src0 [k, m, a, b], src1 [k, n, c, d], c and d multiples of a and b. First
 * the columns (rows of src1) are brought into the form that the kernel reads,
 * once for all threads; then each thread takes the next tile of rows until
 * none is left. Types without a kernel are made floats, some rows at a time. */
#include <string.h>

#include "cpu/ops.h"
#include "quant/types.h"

/* Up to this many columns every thread prepares all of them for itself: that
 * is cheaper than to meet. */
#define FEW_COLUMNS 2
/* Rows that are made floats at a time. */
#define FLOAT_ROWS 16
/* Tiles are of a multiple of this many rows, as kernels like it. */
#define TILE_ROWS 16
/* Weights of a tile when there are many columns: what stays in a cache. */
#define TILE_BYTES (256 * 1024)
/* Weights that are worth waking a thread for. */
#define TASK_BYTES (32 * 1024)

struct plan {
    const struct cpu_mul_mat *kernel;
    bool convert;           /* weights to floats first */
    bool prepare;           /* columns are not used where they lie */
    bool own;               /* each thread prepares for itself */
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
    p.own = p.n_cols <= FEW_COLUMNS;
    if (p.kernel->scratch_size)
        p.scratch = cpu_pad(p.kernel->scratch_size(w->ne[0]));
    if (p.convert)
        p.scratch += FLOAT_ROWS * cpu_pad(row);
    if (p.prepare && !cpu_is_plain(x))
        p.scratch += cpu_pad(row); /* a row of src1 as floats */
    return p;
}

static size_t
columns_size(const struct plan *p, int n_tasks)
{
    if (!p->prepare)
        return 0;
    return p->column * (size_t)p->n_cols * (p->own ? (size_t)n_tasks : 1);
}

static size_t
work_size(const struct ggml_tensor *dst, int n_tasks,
          const struct cpu_kernels *k)
{
    struct plan p = make_plan(dst, k);

    return columns_size(&p, n_tasks) + p.scratch * (size_t)n_tasks;
}

/* Columns [first, end) in the kernel's form, at `columns`. */
static void
prepare(const struct cpu_task *t, const struct plan *p,
        const struct ggml_tensor *x, struct cpu_range cols, char *columns,
        float *buf)
{
    for (int64_t i = cols.first; i < cols.end; i++) {
        char *column = columns + (size_t)i * p->column;
        float *as_float = p->kernel->prepare ? buf : (float *)(void *)column;
        const float *row = cpu_load_row(t, x, cpu_row_at(x, i), as_float);

        if (p->kernel->prepare)
            p->kernel->prepare(row, column, x->ne[0]);
        else if (row != as_float)
            memcpy(column, row, (size_t)x->ne[0] * sizeof(*row));
    }
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
tile_rows(const struct ggml_tensor *dst, int nth)
{
    const struct ggml_tensor *w = dst->src[0];
    int64_t fits = (int64_t)(TILE_BYTES / (w->nb[1] ? w->nb[1] : 1));
    int64_t groups = dst->ne[2] * dst->ne[3];
    int64_t shared = w->ne[1] * groups / (nth * 8) / TILE_ROWS * TILE_ROWS;
    int64_t n = fits / TILE_ROWS * TILE_ROWS;

    if (nth == 1)
        shared = w->ne[1];
    n = n < shared ? n : shared;
    return n < TILE_ROWS ? TILE_ROWS : n;
}

/* Tile `tile` of the rows of src0, times all columns of matrix `group`. */
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
        .cols = columns + (size_t)(group * x->ne[1]) * p->column,
        .col_stride = p->column,
        .out =
            (float *)(void *)cpu_row_data(dst, (struct cpu_row){ 0, i2, i3 }) +
            rows.first,
        .out_stride = dst->nb[1] / sizeof(float),
        .scratch = scratch,
    };

    if (!p->prepare) {
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
multiply(const struct cpu_task *t, const struct plan *p,
         struct ggml_tensor *dst, const char *columns, char *scratch)
{
    int64_t each = tile_rows(dst, t->nth), m = dst->ne[0];
    int64_t tiles = (m + each - 1) / each;
    int64_t n = tiles * dst->ne[2] * dst->ne[3];

    for (int64_t i = cpu_pool_next(t->pool); i < n;
         i = cpu_pool_next(t->pool)) {
        int64_t first = i % tiles * each;
        struct cpu_range rows = { first, first + each < m ? first + each : m };

        multiply_tile(t, p, dst, columns, i / tiles, rows, scratch);
    }
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[1];
    struct plan p = make_plan(dst, t->k);
    char *columns = t->work;
    char *scratch = t->work ? t->work + columns_size(&p, t->nth) +
                                  p.scratch * (size_t)t->ith
                            : NULL;

    if (p.prepare) {
        struct cpu_range cols = { 0, p.n_cols };

        if (p.own)
            columns += p.column * (size_t)p.n_cols * (size_t)t->ith;
        else
            cols = cpu_share(t, p.n_cols);
        prepare(t, &p, x, cols, columns, (float *)(void *)scratch);
        if (!p.own)
            cpu_task_barrier(t);
    }
    multiply(t, &p, dst, columns, scratch);
}

static bool
supports(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *w = dst->src[0], *x = dst->src[1];
    const struct ggml_type_traits *t = quant_traits(w->type);

    return t && t->to_float && w->nb[0] == t->type_size && cpu_is_plain(dst) &&
           (cpu_has_elements(x->type) ||
            (ggml_get_type_traits(x->type)->to_float &&
             x->nb[0] == ggml_type_size(x->type)));
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    int64_t bytes =
        (int64_t)ggml_row_size(dst->src[0]->type, dst->src[0]->ne[0]) *
        dst->ne[0] * dst->ne[2] * dst->ne[3];

    return bytes / 16 * (1 + dst->ne[1] / 4);
}

const struct cpu_op cpu_op_mul_mat = { .compute = compute,
                                       .supports = supports,
                                       .cost = cost,
                                       .work_size = work_size };
