/* cpu_test.h - what tests of the CPU back end share: random tensors, a run */
#ifndef CPU_TEST_H
#define CPU_TEST_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <ggml-cpu.h>
#include "harness/tap.h"

static uint64_t test_state = 42;

/* Uniform in [-1, 1). */
static inline float
test_draw(void)
{
    test_state = test_state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(test_state >> 32) * 0x1p-31f;
}

static inline struct ggml_context *
test_context(void)
{
    struct ggml_init_params params = { .mem_size = (size_t)64 << 20 };

    return ggml_init(params);
}

/* Random values in a contiguous tensor of a type with a quantiser. */
static inline struct ggml_tensor *
test_tensor(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
            int64_t ne1, int64_t ne2, int64_t ne3)
{
    struct ggml_tensor *t = ggml_new_tensor_4d(ctx, type, ne0, ne1, ne2, ne3);
    float *x = malloc((size_t)ggml_nelements(t) * sizeof(*x));

    for (int64_t i = 0; i < ggml_nelements(t); i++)
        x[i] = test_draw();
    ggml_quantize_chunk(type, x, t->data, 0, ggml_nrows(t), ne0, NULL);
    free(x);
    return t;
}

/* Activations; some kernels take them as BF16 where weights are: these are. */
static inline struct ggml_tensor *
test_activations(struct ggml_context *ctx, enum ggml_type type, int64_t k,
                 int64_t n, int64_t n2, int64_t n3)
{
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, k, n, n2, n3);
    float *v = ggml_get_data_f32(x);

    for (int64_t i = 0; i < ggml_nelements(x) && type == GGML_TYPE_BF16; i++)
        v[i] = ggml_bf16_to_fp32(ggml_fp32_to_bf16(v[i]));
    return x;
}

/* An element of a tensor of any type that has one, or blocks. */
static inline double
test_at(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
        int64_t i3)
{
    const char *row = (const char *)t->data + (size_t)i1 * t->nb[1] +
                      (size_t)i2 * t->nb[2] + (size_t)i3 * t->nb[3];
    size_t at = (size_t)i0 * t->nb[0];
    const struct ggml_type_traits *traits;
    float block[256];

    if (t->type == GGML_TYPE_F32)
        return (double)*(const float *)(const void *)(row + at);
    if (t->type == GGML_TYPE_F16)
        return (double)ggml_fp16_to_fp32(
            *(const ggml_fp16_t *)(const void *)(row + at));
    traits = ggml_get_type_traits(t->type);
    if (!traits->is_quantized)
        return (double)ggml_get_f32_nd(t, (int)i0, (int)i1, (int)i2, (int)i3);
    traits->to_float(row + (size_t)(i0 / traits->blck_size) * t->nb[0], block,
                     traits->blck_size);
    return (double)block[i0 % traits->blck_size];
}

/* A row of at most 1,024 elements, which lie side by side. */
static inline void
test_row(const struct ggml_tensor *t, int64_t i1, int64_t i2, int64_t i3,
         double *out)
{
    const struct ggml_type_traits *traits = ggml_get_type_traits(t->type);
    const char *row = (const char *)t->data + (size_t)i1 * t->nb[1] +
                      (size_t)i2 * t->nb[2] + (size_t)i3 * t->nb[3];
    float values[1024];

    if (t->ne[0] > 1024)
        abort();
    if (t->type == GGML_TYPE_F32)
        memcpy(values, row, (size_t)t->ne[0] * sizeof(*values));
    else
        traits->to_float(row, values, t->ne[0]);
    for (int64_t i = 0; i < t->ne[0]; i++)
        out[i] = (double)values[i];
}

static bool test_use_ref;

/* Computes `t` with a number of threads; what is in work memory and results
 * before is noise. */
static inline void
test_run(struct ggml_context *ctx, struct ggml_tensor *t, int n_threads)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_cplan plan;

    ggml_build_forward_expand(graph, t);
    plan = ggml_graph_plan(graph, n_threads, NULL);
    plan.n_threads = n_threads;
    plan.use_ref = test_use_ref;
    if (plan.work_size)
        plan.work_data = ggml_new_buffer(ctx, plan.work_size);
    if (plan.work_size)
        memset(plan.work_data, 0xa5, plan.work_size);
    if (ggml_graph_compute(graph, &plan) != GGML_STATUS_SUCCESS)
        abort();
}

#define EACH_INDEX(t)                                                          \
    for (int64_t i3 = 0; i3 < (t)->ne[3]; i3++)                                \
        for (int64_t i2 = 0; i2 < (t)->ne[2]; i2++)                            \
            for (int64_t i1 = 0; i1 < (t)->ne[1]; i1++)                        \
                for (int64_t i0 = 0; i0 < (t)->ne[0]; i0++)

/* The element that an op should give at an index, by other means. */
typedef double (*test_truth)(const struct ggml_tensor *t, int64_t i0,
                             int64_t i1, int64_t i2, int64_t i3);

/* Values that the elements should have. The caller frees them. */
static inline double *
test_truths(const struct ggml_tensor *t, test_truth truth)
{
    double *all = malloc((size_t)ggml_nelements(t) * sizeof(*all)), *next = all;

    EACH_INDEX(t) *next++ = truth(t, i0, i1, i2, i3);
    return all;
}

static inline double
test_distance(const struct ggml_tensor *t, const double *truths)
{
    double worst = 0;

    EACH_INDEX(t)
    {
        double want = *truths++;
        double got = test_at(t, i0, i1, i2, i3);
        double error = fabs(want - got) / (1 + fabs(want));

        if (want == got)
            continue;
        if (!(error <= worst))
            worst = isnan(error) ? INFINITY : error;
    }
    return worst;
}

static inline double
test_error(const struct ggml_tensor *t, test_truth truth)
{
    double *truths = test_truths(t, truth);
    double worst = test_distance(t, truths);

    free(truths);
    return worst;
}

/* Runs with one and with three threads, which must agree to the bit, and by
 * the reference kernels; all close to the truth. */
static inline void
test_op(struct ggml_context *ctx, struct ggml_tensor *t, test_truth truth,
        double bound, const char *name)
{
    size_t size = ggml_nbytes(t);
    void *first = malloc(size);
    double *truths, error, error_ref;
    bool same;
    char text[200];

    test_run(ctx, t, 1);
    truths = test_truths(t, truth);
    error = test_distance(t, truths);
    memcpy(first, t->data, size);
    test_run(ctx, t, 3);
    same = memcmp(first, t->data, size) == 0;
    test_use_ref = true;
    test_run(ctx, t, 2);
    test_use_ref = false;
    error_ref = test_distance(t, truths);
    free(first);
    free(truths);
    snprintf(text, sizeof(text), "%s: within %g (%.2g; reference %.2g)", name,
             bound, error, error_ref);
    ok(error <= bound && error_ref <= bound && same, text);
    if (!same)
        printf("# threads change the result\n");
}

#endif
