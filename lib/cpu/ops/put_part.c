/* put_part.c - ACC, SET: a tensor with another in a place of it, or added */
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* dst becomes src0, unless it is that. */
static void
copy_all(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    size_t size = ggml_row_size(dst->type, dst->ne[0]);

    if (dst->data == a->data)
        return;
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);

        memcpy(cpu_row_data(dst, r), cpu_row_data(a, r), size);
    }
}

static int
copy_pieces(const struct ggml_tensor *dst, int n_threads)
{
    int64_t n = ggml_nrows(dst);

    return (int)(n < n_threads ? n : n_threads);
}

/* A row of src1's shape within dst. */
static char *
target_row(const struct ggml_tensor *dst, struct cpu_row r)
{
    struct tensor_place p = tensor_get_place(dst);

    return (char *)dst->data + p.offset + (size_t)r.i1 * p.nb[0] +
           (size_t)r.i2 * p.nb[1] + (size_t)r.i3 * p.nb[2];
}

static void
put_rows(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *b = dst->src[1];
    struct cpu_range rows = cpu_share(t, ggml_nrows(b));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(b, i);
        char *to = target_row(dst, r);
        float *y = (float *)(void *)to;

        if (dst->op == GGML_OP_ACC)
            t->k->add(b->ne[0], y, y,
                      cpu_load_row(t, b, r, cpu_row_buffer(t, dst, 1)));
        else
            memcpy(to, cpu_row_data(b, r), ggml_row_size(b->type, b->ne[0]));
    }
}

static bool
has_plain_rows(const struct ggml_tensor *x)
{
    return cpu_has_elements(x->type) && x->nb[0] == ggml_type_size(x->type);
}

static bool
supports_set(const struct ggml_tensor *dst)
{
    return has_plain_rows(dst) && has_plain_rows(dst->src[0]) &&
           has_plain_rows(dst->src[1]) && dst->src[1]->type == dst->type;
}

static bool
supports_acc(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[0]) &&
           cpu_has_elements(dst->src[1]->type);
}

const struct cpu_op cpu_op_set = { .compute = put_rows,
                                   .supports = supports_set,
                                   .cost = cpu_cost_pass,
                                   .work_size = cpu_rows_work_size,
                                   .prepare = copy_all,
                                   .prepare_pieces = copy_pieces };
const struct cpu_op cpu_op_acc = { .compute = put_rows,
                                   .supports = supports_acc,
                                   .cost = cpu_cost_pass,
                                   .work_size = cpu_rows_work_size,
                                   .prepare = copy_all,
                                   .prepare_pieces = copy_pieces };
