/* solve_tri.c - SOLVE_TRI: a lower triangle's equations, row after row */
#include "cpu/ops/op_table.h"

enum {
    COLUMNS = 64 /* that are solved together */
};

/* Columns [first, end) of one matrix. */
struct part {
    const float *a, *b;
    float *x;
    int64_t n, stride; /* rows; floats from a row of b and x to the next */
    int64_t n_columns;
};

static int64_t
parts_of_matrix(const struct ggml_tensor *dst)
{
    return (dst->ne[0] + COLUMNS - 1) / COLUMNS;
}

static struct part
part_at(const struct ggml_tensor *dst, int64_t i)
{
    int64_t each = parts_of_matrix(dst), m = dst->ne[0], n = dst->ne[1];
    int64_t matrix = i / each, first = i % each * COLUMNS;
    int64_t offset = matrix * n * m + first;

    return (
        struct part){ .a = (const float *)dst->src[0]->data + matrix * n * n,
                      .b = (const float *)dst->src[1]->data + offset,
                      .x = (float *)dst->data + offset,
                      .n = n,
                      .stride = m,
                      .n_columns = m - first < COLUMNS ? m - first : COLUMNS };
}

/* x[i] = (b[i] - sum over j < i of a[i][j] x[j]) / a[i][i] */
static void
solve_row(const struct part *p, int64_t i)
{
    const float *a = p->a + i * p->n;
    float sums[COLUMNS] = { 0 };

    for (int64_t j = 0; j < i; j++)
        for (int64_t c = 0; c < p->n_columns; c++)
            sums[c] += a[j] * p->x[j * p->stride + c];
    for (int64_t c = 0; c < p->n_columns; c++)
        p->x[i * p->stride + c] = (p->b[i * p->stride + c] - sums[c]) / a[i];
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range parts =
        cpu_share(t, parts_of_matrix(dst) * dst->ne[2] * dst->ne[3]);

    for (int64_t i = parts.first; i < parts.end; i++) {
        struct part p = part_at(dst, i);

        for (int64_t row = 0; row < p.n; row++)
            solve_row(&p, row);
    }
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) * dst->ne[1] / 4;
}

const struct cpu_op cpu_op_solve_tri = { .compute = compute, .cost = cost };
