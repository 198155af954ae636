/* gemm.c - weights of any type times columns: GEMV, small batches, GEMM */
#include "cpu/gemm/gemm.h"

#include <string.h>

#include "cpu/exec/weight_prefetch.h"
#include "quant/types.h"
#include "tensor/tensor.h"

/* Rows that are made floats at a time. */
#define FLOAT_ROWS 16
/* Pieces for each thread, so that a slow one can do fewer and the last ones end
 * together. */
#define PIECES 64
/* Bytes of weights of a piece of GEMV, at least. */
#define FAST_BYTES (24 * 1024)

static size_t
floats_size(int64_t k)
{
    return cpu_pad((size_t)k * sizeof(float));
}

static const struct cpu_mul_mat *
kernel_of(const struct ggml_tensor *dst, const struct cpu_kernels *ks)
{
    enum ggml_type type = dst->src[0]->type;

    if (type == GGML_TYPE_F16 && ks->mul_mat_rounded.multiply &&
        tensor_get_i32(dst, 0) == GGML_PREC_BF16)
        return &ks->mul_mat_rounded;
    return &ks->mul_mat[type];
}

struct cpu_product_plan
cpu_plan_product(const struct ggml_tensor *dst, const struct cpu_kernels *ks)
{
    int64_t k = dst->src[0]->ne[0];
    struct cpu_product_plan p = { .kernel = kernel_of(dst, ks),
                                  .type = dst->src[0]->type,
                                  .k = k };

    p.convert = !p.kernel->multiply;
    if (p.convert)
        p.kernel = &ks->mul_mat[GGML_TYPE_F32];
    if (p.kernel->column_size)
        p.column = p.kernel->column_size(k);
    else
        p.column = floats_size(k);
    if (p.kernel->scratch_size)
        p.scratch = cpu_pad(
            p.kernel->scratch_size(k, dst->src[0]->ne[1], ggml_nrows(dst)));
    if (p.convert)
        p.scratch += FLOAT_ROWS * floats_size(k);
    if (p.scratch < floats_size(k))
        p.scratch = floats_size(k); /* a row of activations, converted */
    return p;
}

void
cpu_put_column(const struct cpu_task *t, const struct cpu_product_plan *p,
               const struct ggml_tensor *x, struct cpu_row r, char *column,
               char *scratch)
{
    float *floats = (float *)(void *)(p->kernel->prepare ? scratch : column);
    const float *row = cpu_load_row(t, x, r, floats);

    if (p->kernel->prepare)
        p->kernel->prepare(row, column, p->k);
    else if (row != floats)
        memcpy(column, row, (size_t)p->k * sizeof(*row));
}

/* Weights of a type without a kernel. */
static void
multiply_converted(const struct cpu_task *t, const struct cpu_product_plan *p,
                   const struct cpu_product *product)
{
    struct cpu_product part = *product;
    size_t stride = floats_size(p->k);
    char *floats = (char *)product->scratch + p->scratch - FLOAT_ROWS * stride;

    part.rows = floats;
    part.row_stride = stride;
    for (int64_t r = 0; r < product->n_rows; r += FLOAT_ROWS) {
        part.n_rows =
            product->n_rows - r < FLOAT_ROWS ? product->n_rows - r : FLOAT_ROWS;
        part.out = product->out + r;
        for (int64_t i = 0; i < part.n_rows; i++)
            t->k->to_float[p->type](
                product->rows + (size_t)(r + i) * product->row_stride,
                (float *)(void *)(floats + (size_t)i * stride), p->k);
        p->kernel->multiply(&part);
    }
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void
multiply_part(const struct cpu_task *t, const struct cpu_product_plan *p,
              const struct cpu_product *part)
{
    if (p->convert)
        multiply_converted(t, p, part);
    else
        p->kernel->multiply(part);
}

/* Whole tiles, as all of their rows are read at once. */
size_t
cpu_prefetch_distance(const struct cpu_product_plan *p, size_t stride,
                      int64_t n_cols)
{
    const struct cpu_mul_mat *k = p->kernel;
    bool other = n_cols == 1 && k->gemv_rows_at_once;
    int64_t at_once = other ? k->gemv_rows_at_once : k->rows_at_once;
    size_t tile = (size_t)(at_once > 0 ? at_once : 1) * stride;

    return tile ? (k->prefetch_distance + tile - 1) / tile * tile : 0;
}

/* As many rows of a stream of weights as lie in a span; a rest of less than a
 * tile goes with those before it. */
static int64_t
part_rows(const struct cpu_product *p, int64_t rest)
{
    int64_t stride = (int64_t)p->row_stride;
    int64_t n = stride
                    ? CPU_PAGES_BYTES / stride / CPU_PIECE_ROWS * CPU_PIECE_ROWS
                    : rest;

    if (n < CPU_PIECE_ROWS)
        n = CPU_PIECE_ROWS;
    return rest - n < CPU_PIECE_ROWS ? rest : n;
}

static void
multiply_stream(const struct cpu_task *t, const struct cpu_product_plan *p,
                const struct cpu_product *product)
{
    struct cpu_product part = *product;
    size_t stride = part.row_stride;
    struct cpu_weight_prefetch rows =
        cpu_weight_prefetch_of(part.rows, (size_t)part.n_rows * stride,
                               cpu_prefetch_distance(p, stride, part.n_cols));
    struct cpu_weight_prefetch *prefetch = t->prefetch ? t->prefetch : &rows;

    for (int64_t rest = product->n_rows; rest > 0; rest -= part.n_rows) {
        part.n_rows = part_rows(product, rest);
        part.prefetch = cpu_weight_prefetch_take(prefetch, stride,
                                                 CPU_PIECE_ROWS, &part.n_rows);
        multiply_part(t, p, &part);
        part.rows += (size_t)part.n_rows * stride;
        part.out += part.n_rows;
    }
}

/* The pages of what is prefetched meanwhile are found first. */
static void
multiply_several(const struct cpu_task *t, const struct cpu_product_plan *p,
                 const struct cpu_product *product)
{
    if (product->prefetch)
        cpu_prefetch_pages(product->prefetch,
                           (size_t)product->n_rows * product->row_stride);
    multiply_part(t, p, product);
}

void
cpu_multiply(const struct cpu_task *t, const struct cpu_product_plan *p,
             const struct cpu_product *product)
{
    if (p->kernel->prefetch_distance == 0 && product->n_cols == 1)
        multiply_part(t, p, product);
    else if (t->prefetch || (product->n_cols == 1 && !product->prefetch))
        multiply_stream(t, p, product);
    else
        multiply_several(t, p, product);
}

static int64_t
share_of(int64_t n, int64_t parts)
{
    return (n + parts - 1) / parts;
}

/* One column: some tiles for each thread, but none so small that reading it
 * ends before it has got up speed, and all of a size. Several: what a kernel
 * takes at a time, so that threads end together. */
int64_t
cpu_piece_rows(const struct ggml_tensor *w, int64_t n_rows, bool several,
               int n_threads)
{
    int64_t stride = w->nb[1] ? (int64_t)w->nb[1] : 1;
    int64_t each = n_rows / n_threads;
    int64_t n = w->ne[1], fast = least(FAST_BYTES / stride, each);

    if (several)
        return CPU_SEVERAL_ROWS;
    if (n_threads > 1)
        n = least(n, fast > each / PIECES ? fast : each / PIECES);
    n = n < CPU_PIECE_ROWS ? CPU_PIECE_ROWS
                           : n / CPU_PIECE_ROWS * CPU_PIECE_ROWS;
    n = share_of(w->ne[1], share_of(w->ne[1], n));
    return share_of(n, CPU_PIECE_ROWS) * CPU_PIECE_ROWS;
}

bool
cpu_can_multiply(const struct ggml_tensor *w, const struct ggml_tensor *x)
{
    const struct ggml_type_traits *t = quant_traits(w->type);

    return t && quant_reader(w->type) && w->nb[0] == t->type_size &&
           (cpu_has_elements(x->type) ||
            (quant_reader(x->type) && x->nb[0] == ggml_type_size(x->type)));
}
