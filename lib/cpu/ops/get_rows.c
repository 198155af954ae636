/* get_rows.c - GET_ROWS, SET_ROWS, ADD_ID: rows by their numbers */
#include <string.h>

#include "cpu/ops/op_table.h"
#include "quant/types.h"

static int64_t
index_at(const struct ggml_tensor *x, int64_t i0, int64_t i1, int64_t i2)
{
    const char *p = (const char *)x->data + (size_t)i0 * x->nb[0] +
                    (size_t)i1 * x->nb[1] + (size_t)i2 * x->nb[2];

    if (x->type == GGML_TYPE_I64)
        return *(const int64_t *)(const void *)p;
    return *(const int32_t *)(const void *)p;
}

/* dst [n, rows, a, b] from src0 [n, m, a, b] by src1 [rows, a, b] */
static void
compute_get(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0], *index = dst->src[1];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    size_t size = (size_t)dst->ne[0] * ggml_type_size(dst->type);

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i), from = r;

        from.i1 = index_at(index, r.i1, r.i2, r.i3);
        GGML_ASSERT(from.i1 >= 0 && from.i1 < x->ne[1]);
        if (x->type == dst->type) {
            memcpy(cpu_row_data(dst, r), cpu_row_data(x, from), size);
        } else {
            float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 1));
            const float *row = cpu_load_row(t, x, from, y);

            cpu_store_row(t, dst, r, row);
        }
    }
}

static bool
supports_get(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    const struct ggml_type_traits *t = quant_traits(x->type);

    return t && x->nb[0] == t->type_size &&
           dst->nb[0] == ggml_type_size(dst->type) &&
           (x->type == dst->type || quant_reader(x->type)) &&
           (dst->src[1]->type == GGML_TYPE_I32);
}

const struct cpu_op cpu_op_get_rows = { .compute = compute_get,
                                        .supports = supports_get,
                                        .cost = cpu_cost_pass,
                                        .work_size = cpu_rows_work_size };

/* Rows far from each other are prefetched this many rows before they are
 * written, as the processor would look for their pages one after the other. */
#define PREFETCH_ROWS 16

/* Where row i of src0 goes. */
static struct cpu_row
target_of(const struct ggml_tensor *dst, int64_t i)
{
    const struct ggml_tensor *index = dst->src[1];
    struct cpu_row r = cpu_row_at(dst->src[0], i);

    r.i1 = index_at(index, r.i1, r.i2 % index->ne[1], r.i3 % index->ne[2]);
    return r;
}

static bool
is_there(const struct ggml_tensor *dst, struct cpu_row r)
{
    return r.i1 >= 0 && r.i1 < dst->ne[1];
}

/* Or is said to go: nobody has looked at the number yet. */
static void
prefetch_target(const struct ggml_tensor *dst, int64_t i)
{
    struct cpu_row to = target_of(dst, i);

    if (is_there(dst, to))
        cpu_prefetch_row(dst, to, true);
}

/* dst (a view of src2) [n, m, a, b]: row src1[i] becomes row i of src0 */
static void
compute_set(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(x));

    for (int64_t i = 0; i < rows.end - rows.first && i < PREFETCH_ROWS; i++)
        prefetch_target(dst, rows.first + i);
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row to = target_of(dst, i);
        const float *row =
            cpu_load_row(t, x, cpu_row_at(x, i), cpu_row_buffer(t, dst, 0));

        GGML_ASSERT(is_there(dst, to));
        if (i + PREFETCH_ROWS < rows.end)
            prefetch_target(dst, i + PREFETCH_ROWS);
        cpu_store_row(t, dst, to, row);
    }
}

/* Where the indices are inputs: others may be computed meanwhile. */
static void
prefetch_set(const struct cpu_task *t, const struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst->src[0]));

    if (dst->src[1]->op != GGML_OP_NONE)
        return;
    for (int64_t i = rows.first; i < rows.end && i < PREFETCH_ROWS; i++)
        prefetch_target(dst, i);
}

static bool
supports_set(const struct ggml_tensor *dst)
{
    const struct ggml_type_traits *t = quant_traits(dst->type);
    enum ggml_type from = dst->src[0]->type;

    return t && quant_writer(dst->type) && dst->nb[0] == t->type_size &&
           cpu_has_elements(from) &&
           (dst->src[1]->type == GGML_TYPE_I32 ||
            dst->src[1]->type == GGML_TYPE_I64);
}

static int64_t
cost_set(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst->src[0]) / 2;
}

const struct cpu_op cpu_op_set_rows = { .compute = compute_set,
                                        .supports = supports_set,
                                        .cost = cost_set,
                                        .prefetch = prefetch_set,
                                        .work_size = cpu_rows_work_size };

/* dst [n, used, tokens] = src0 + row src2[used, tokens] of src1 */
static void
compute_add(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_row of_b = { index_at(dst->src[2], r.i1, r.i2, 0), 0, 0 };

        GGML_ASSERT(of_b.i1 >= 0 && of_b.i1 < b->ne[1]);
        t->k->add(dst->ne[0], (float *)(void *)cpu_row_data(dst, r),
                  (const float *)(void *)cpu_row_data(a, r),
                  (const float *)(void *)cpu_row_data(b, of_b));
    }
}

static bool
supports_add(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[0]) &&
           cpu_is_plain(dst->src[1]) && dst->ne[3] == 1;
}

const struct cpu_op cpu_op_add_id = { .compute = compute_add,
                                      .supports = supports_add,
                                      .cost = cpu_cost_pass };
