/* pad.c - PAD: zeros around a tensor, or its copies */
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* Where index i of the result comes from; -1: from nowhere. */
static int64_t
pad_source(const struct ggml_tensor *dst, int dim, int64_t i)
{
    int64_t n = dst->src[0]->ne[dim];

    i -= tensor_get_i32(dst, 2 * dim);
    if (tensor_get_i32(dst, 8))
        return (i % n + n) % n;
    return i < n ? i : -1;
}

static void
zeros(const struct ggml_tensor *dst, char *y, int64_t n)
{
    memset(y, 0, (size_t)n * ggml_type_size(dst->type));
}

/* Elements of a row of x, which may be apart. */
static void
copy_some(const struct ggml_tensor *x, const char *from, char *y, int64_t n)
{
    size_t size = ggml_type_size(x->type);

    if (x->nb[0] == size)
        memcpy(y, from, (size_t)n * size);
    else
        for (int64_t i = 0; i < n; i++)
            memcpy(y + (size_t)i * size, from + (size_t)i * x->nb[0], size);
}

/* Runs of elements that lie side by side in the source. */
static void
pad_row(const struct ggml_tensor *dst, const char *x, char *y)
{
    const struct ggml_tensor *src = dst->src[0];
    int64_t n;

    for (int64_t i = 0; i < dst->ne[0]; i += n) {
        int64_t at = pad_source(dst, 0, i), left = dst->ne[0] - i;
        char *to = y + (size_t)i * ggml_type_size(dst->type);

        n = at >= 0                      ? src->ne[0] - at
            : i < tensor_get_i32(dst, 0) ? tensor_get_i32(dst, 0) - i
                                         : left;
        n = n < left ? n : left;
        if (at >= 0)
            copy_some(src, x + (size_t)at * src->nb[0], to, n);
        else
            zeros(dst, to, n);
    }
}

static void
pad_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_row from = { pad_source(dst, 1, r.i1),
                                pad_source(dst, 2, r.i2),
                                pad_source(dst, 3, r.i3) };
        char *y = cpu_row_data(dst, r);

        if (from.i1 < 0 || from.i2 < 0 || from.i3 < 0)
            zeros(dst, y, dst->ne[0]);
        else
            pad_row(dst, cpu_row_data(dst->src[0], from), y);
    }
}

static bool
pad_supports(const struct ggml_tensor *dst)
{
    return cpu_has_elements(dst->type) &&
           dst->nb[0] == ggml_type_size(dst->type);
}

const struct cpu_op cpu_op_pad = { .compute = pad_compute,
                                   .supports = pad_supports,
                                   .cost = cpu_cost_pass };
