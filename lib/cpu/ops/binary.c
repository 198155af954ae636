/* binary.c - ADD, SUB, MUL, DIV: src1 is broadcast to src0 */
#include "cpu/ops/op_table.h"

/* One row of y = a op b, b shorter: it repeats along the row. */
static void
zip_row(cpu_zip_fn zip, int64_t n, float *y, const float *a, const float *b,
        int64_t nb)
{
    for (int64_t i = 0; i < n; i += nb)
        zip(nb, y + i, a + i, b);
}

/* One value for the whole row: the kernels have no such slot, and rows like
 * that are rare. */
static void
zip_value(cpu_zip_fn zip, int64_t n, float *y, const float *a, float b)
{
    float repeated[64];

    for (int i = 0; i < 64; i++)
        repeated[i] = b;
    for (int64_t i = 0; i < n; i += 64)
        zip(n - i < 64 ? n - i : 64, y + i, a + i, repeated);
}

static void
binary_compute(const struct cpu_task *t, struct ggml_tensor *dst,
               cpu_zip_fn zip)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    int64_t n = dst->ne[0], nb = b->ne[0];

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        const float *x = cpu_load_row(t, a, r, cpu_row_buffer(t, dst, 0));
        const float *z =
            cpu_load_row(t, b, cpu_row_wrap(b, r), cpu_row_buffer(t, dst, 1));
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 2));

        if (nb == 1 && n > 1)
            zip_value(zip, n, y, x, z[0]);
        else
            zip_row(zip, n, y, x, z, nb);
        cpu_store_row(t, dst, r, y);
    }
}

static void
binary_compute_part(struct ggml_tensor *dst, struct cpu_range elements,
                    struct cpu_range rows, cpu_zip_fn zip)
{
    const float *a = dst->src[0]->data, *b = dst->src[1]->data;
    bool repeats = ggml_nrows(dst->src[1]) == 1;
    float *y = dst->data;

    for (int64_t i = rows.first; i < rows.end; i++) {
        int64_t at = i * dst->ne[0] + elements.first;

        zip(elements.end - elements.first, y + at, a + at,
            b + (repeats ? elements.first : at));
    }
}

/* To weights that are quantised something may be added. */
static bool
supports_add(const struct ggml_tensor *dst)
{
    return cpu_can_load(dst->src[0]) && cpu_can_store(dst) &&
           cpu_has_elements(dst->src[1]->type);
}

#define BINARY(name, can)                                                      \
    static void compute_##name(const struct cpu_task *t,                       \
                               struct ggml_tensor *dst)                        \
    {                                                                          \
        binary_compute(t, dst, t->k->name);                                    \
    }                                                                          \
    static void part_##name(const struct cpu_task *t, struct ggml_tensor *dst, \
                            struct cpu_range elements, struct cpu_range rows)  \
    {                                                                          \
        binary_compute_part(dst, elements, rows, t->k->name);                  \
    }                                                                          \
    const struct cpu_op cpu_op_##name = { .compute = compute_##name,           \
                                          .compute_part = part_##name,         \
                                          .supports = can,                     \
                                          .cost = cpu_cost_pass,               \
                                          .work_size = cpu_rows_work_size };
BINARY(add, supports_add)
BINARY(sub, cpu_rows_supported)
BINARY(mul, cpu_rows_supported)
BINARY(div, cpu_rows_supported)
