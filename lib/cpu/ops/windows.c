/* windows.c - DIAG, TRI, WIN_PART, WIN_UNPART: rows, or parts of rows, among
 * zeros */
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

static void
compute_diag(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    size_t size = ggml_type_size(dst->type);

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i), from = { 0, r.i2, r.i3 };
        char *y = cpu_row_data(dst, r);

        memset(y, 0, (size_t)dst->ne[0] * size);
        memcpy(y + (size_t)r.i1 * size,
               cpu_row_data(x, from) + (size_t)r.i1 * x->nb[0], size);
    }
}

static bool
supports_diag(const struct ggml_tensor *dst)
{
    return cpu_has_elements(dst->type);
}

const struct cpu_op cpu_op_diag = { .compute = compute_diag,
                                    .supports = supports_diag,
                                    .cost = cpu_cost_pass };

/* The elements of row i that are kept. */
static struct cpu_range
kept(const struct ggml_tensor *dst, int64_t i)
{
    int64_t n = dst->ne[0];

    switch (tensor_get_i32(dst, 0)) {
    case GGML_TRI_TYPE_UPPER_DIAG:
        return (struct cpu_range){ i, n };
    case GGML_TRI_TYPE_UPPER:
        return (struct cpu_range){ i + 1, n };
    case GGML_TRI_TYPE_LOWER_DIAG:
        return (struct cpu_range){ 0, i + 1 };
    default:
        return (struct cpu_range){ 0, i };
    }
}

static void
compute_tri(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_range keep = kept(dst, r.i1);
        const float *x = (const float *)(void *)cpu_row_data(dst->src[0], r);
        float *y = (float *)(void *)cpu_row_data(dst, r);

        for (int64_t j = 0; j < dst->ne[0]; j++)
            y[j] = j >= keep.first && j < keep.end ? x[j] : 0;
    }
}

static bool
supports_floats(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[0]);
}

const struct cpu_op cpu_op_tri = { .compute = compute_tri,
                                   .supports = supports_floats,
                                   .cost = cpu_cost_pass };

/* A row of zeros where there is none. */
static void
copy_row(struct ggml_tensor *dst, struct cpu_row r, const char *x)
{
    size_t size = (size_t)dst->ne[0] * sizeof(float);

    if (x)
        memcpy(cpu_row_data(dst, r), x, size);
    else
        memset(cpu_row_data(dst, r), 0, size);
}

/* Copies the rows of windows, of which per_line lie in a line. */
static void
compute_win_part(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    int64_t per_line = tensor_get_i32(dst, 0), w = tensor_get_i32(dst, 2);

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_row from = { r.i3 % per_line * w + r.i1,
                                r.i3 / per_line * w + r.i2, 0 };
        bool inside = from.i1 < x->ne[1] && from.i2 < x->ne[2];

        copy_row(dst, r, inside ? cpu_row_data(x, from) : NULL);
    }
}

const struct cpu_op cpu_op_win_part = { .compute = compute_win_part,
                                        .supports = supports_floats,
                                        .cost = cpu_cost_pass };

static void
compute_win_unpart(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    int64_t w = tensor_get_i32(dst, 0), per_line = (dst->ne[1] + w - 1) / w;

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_row from = { r.i1 % w, r.i2 % w,
                                r.i2 / w * per_line + r.i1 / w };

        copy_row(dst, r, cpu_row_data(dst->src[0], from));
    }
}

const struct cpu_op cpu_op_win_unpart = { .compute = compute_win_unpart,
                                          .supports = supports_floats,
                                          .cost = cpu_cost_pass };
