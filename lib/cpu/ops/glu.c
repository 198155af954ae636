/* glu.c - GLU: one half of a row, activated, times the other */
#include <math.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

static void
reglu(int64_t n, float *y, const float *a, const float *b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] > 0 ? a[i] * b[i] : 0;
}

static void
geglu_quick(int64_t n, float *y, const float *a, const float *b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] / (1 + expf(-1.702f * a[i])) * b[i];
}

/* v, but no more than `most`; NaN stays. */
static float
at_most(float v, float most)
{
    return v > most ? most : v;
}

/* Some elements at a time, as y may be a or b. */
static void
swiglu_clamp(const struct cpu_task *t, int64_t n, float *y, const float *a,
             const float *b, float limit)
{
    float gate[64], up[64];

    for (int64_t i = 0; i < n; i += 64) {
        int64_t m = n - i < 64 ? n - i : 64;

        for (int64_t j = 0; j < m; j++) {
            gate[j] = at_most(a[i + j], limit);
            up[j] = -at_most(-at_most(b[i + j], limit), limit);
        }
        t->k->swiglu(m, y + i, gate, up);
    }
}

static cpu_zip_fn
find_zip(const struct cpu_kernels *k, enum ggml_glu_op op)
{
    switch (op) {
    case GGML_GLU_OP_REGLU:
        return reglu;
    case GGML_GLU_OP_GEGLU:
        return k->geglu;
    case GGML_GLU_OP_SWIGLU:
        return k->swiglu;
    case GGML_GLU_OP_GEGLU_ERF:
        return k->geglu_erf;
    case GGML_GLU_OP_GEGLU_QUICK:
        return geglu_quick;
    default:
        return NULL;
    }
}

static void
compute_row(const struct cpu_task *t, const struct ggml_tensor *dst, int64_t n,
            float *y, const float *a, const float *b)
{
    enum ggml_glu_op op = ggml_get_glu_op(dst);

    if (op == GGML_GLU_OP_SWIGLU_OAI)
        t->k->swiglu_oai(n, y, a, b, tensor_get_f32(dst, 2),
                         tensor_get_f32(dst, 3));
    else if (op == GGML_GLU_OP_SWIGLU_CLAMP)
        swiglu_clamp(t, n, y, a, b, tensor_get_f32(dst, 3));
    else
        find_zip(t->k, op)(n, y, a, b);
}

static void
glu_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    bool swapped = tensor_get_i32(dst, 1) != 0;
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, b ? 2 : 1));
        const float *x = cpu_load_row(t, a, r, cpu_row_buffer(t, dst, 0));
        const float *g;

        if (b)
            g = cpu_load_row(t, b, r, cpu_row_buffer(t, dst, 1));
        else if (swapped)
            g = x, x += dst->ne[0];
        else
            g = x + dst->ne[0];
        compute_row(t, dst, dst->ne[0], y, x, g);
        cpu_store_row(t, dst, r, y);
    }
}

/* Computes a part of a node that has two sources. */
static void
glu_compute_part(const struct cpu_task *t, struct ggml_tensor *dst,
                 struct cpu_range elements, struct cpu_range rows)
{
    const float *a = dst->src[0]->data, *b = dst->src[1]->data;
    float *y = dst->data;

    for (int64_t i = rows.first; i < rows.end; i++) {
        int64_t at = i * dst->ne[0] + elements.first;

        compute_row(t, dst, elements.end - elements.first, y + at, a + at,
                    b + at);
    }
}

static bool
glu_supports(const struct ggml_tensor *dst)
{
    return (unsigned)ggml_get_glu_op(dst) < GGML_GLU_OP_COUNT &&
           cpu_rows_supported(dst);
}

const struct cpu_op cpu_op_glu = { .compute = glu_compute,
                                   .compute_part = glu_compute_part,
                                   .supports = glu_supports,
                                   .cost = cpu_cost_exp,
                                   .work_size = cpu_rows_work_size };
