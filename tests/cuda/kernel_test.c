/* kernel_test.c - kernels against the CPU's reference: tensors, comparing */
#include "cuda/kernel_runner.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <ggml-cpu.h>

#include "quant/types.h"
#include "harness/tap.h"

#define MOST_PIECES 256

/* Memory of tensors; of a device's runner also as buffers, which are copied
 * from. */
static struct {
    void *p;
    ggml_backend_buffer_t buffer;
} pieces[MOST_PIECES];
static int n_pieces;
static uint64_t state = 42;

void *
kt_noise(size_t size, size_t alignment)
{
    void *p;

    size = (size + 15) & ~(size_t)15;
    if (posix_memalign(&p, alignment, size ? size : 16) != 0)
        abort();
    memset(p, 0xa5, size);
    return p;
}

static void *
noise(size_t size)
{
    return kt_noise(size, 16);
}

/* -- Tensors -- */
struct ggml_context *
kt_begin(void)
{
    struct ggml_init_params params = { .mem_size = 64 << 20, .no_alloc = true };

    return ggml_init(params);
}

void
kt_end(struct ggml_context *ctx)
{
    while (n_pieces-- > 0) {
        ggml_backend_buffer_free(pieces[n_pieces].buffer);
        free(pieces[n_pieces].p);
    }
    n_pieces = 0;
    ggml_free(ctx);
}

float
kt_draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(state >> 32) * 0x1p-31f;
}

static void
give_memory(struct ggml_tensor *t)
{
    if (n_pieces == MOST_PIECES)
        abort();
    t->data = kt_noise(ggml_nbytes(t), kt_on_device() ? 64 : 16);
    pieces[n_pieces].p = t->data;
    pieces[n_pieces].buffer = NULL;
    if (kt_on_device())
        pieces[n_pieces].buffer = t->buffer = ggml_backend_cpu_buffer_from_ptr(
            t->data, (ggml_nbytes(t) + 15) & ~(size_t)15);
    n_pieces++;
}

/* Random bits, but for F16 scales, which are made small numbers. */
static void
fill_bits(struct ggml_tensor *t)
{
    const struct quant_type *q = quant_type(t->type);
    size_t size = ggml_type_size(t->type), n = ggml_nbytes(t) / size;

    for (size_t i = 0; i < n; i++) {
        uint8_t *block = (uint8_t *)t->data + i * size;

        for (size_t j = 0; j < size; j++)
            block[j] = (uint8_t)(kt_draw() * 128);
        for (int j = 0; j < q->n_scales; j++) {
            ggml_fp16_t d = ggml_fp32_to_fp16(0.01f * kt_draw());

            memcpy(block + q->scale_at[j], &d, sizeof(d));
        }
        while (q->is_sound && !q->is_sound(block))
            for (size_t j = 0; j < size; j++)
                block[j] = (uint8_t)(kt_draw() * 128);
    }
}

struct ggml_tensor *
kt_tensor(struct ggml_context *ctx, enum ggml_type type, int64_t ne0,
          int64_t ne1, int64_t ne2, int64_t ne3)
{
    struct ggml_tensor *t = ggml_new_tensor_4d(ctx, type, ne0, ne1, ne2, ne3);
    float *x;

    give_memory(t);
    if (ggml_is_quantized(type) && !quant_writer(type)) {
        fill_bits(t);
        return t;
    }
    x = noise((size_t)ggml_nelements(t) * sizeof(*x));
    for (int64_t i = 0; i < ggml_nelements(t); i++)
        x[i] = kt_draw();
    ggml_quantize_chunk(type, x, t->data, 0, ggml_nrows(t), ne0, NULL);
    free(x);
    return t;
}

struct ggml_tensor *
kt_numbers(struct ggml_context *ctx, enum ggml_type type, int64_t most,
           int64_t ne0, int64_t ne1, int64_t ne2)
{
    struct ggml_tensor *t = ggml_new_tensor_4d(ctx, type, ne0, ne1, ne2, 1);

    give_memory(t);
    for (int64_t i = 0; i < ggml_nelements(t); i++) {
        int64_t v = (int64_t)((kt_draw() + 1) / 2 * (float)most) % most;

        if (type == GGML_TYPE_I64)
            ((int64_t *)t->data)[i] = v;
        else
            ((int32_t *)t->data)[i] = (int32_t)v;
    }
    return t;
}

/* -- Runs -- */
void
kt_ok(bool good, const char *name)
{
    ok(good, name);
}

int
kt_done(void)
{
    return tap_done();
}

/* Memory for results; views of tensors that have theirs. */
static void
give_results_memory(struct ggml_tensor *t)
{
    if (!t)
        return;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (t->src[i] != t)
            give_results_memory(t->src[i]);
    if (t->data)
        return;
    if (t->view_src) {
        give_results_memory(t->view_src);
        t->data = (char *)t->view_src->data + t->view_offs;
    } else {
        give_memory(t);
    }
}

static void
run_reference(struct ggml_context *ctx, struct ggml_tensor *t)
{
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 512, false);
    struct ggml_cplan plan;

    ggml_build_forward_expand(graph, t);
    plan = ggml_graph_plan(graph, 1, NULL);
    plan.use_ref = true;
    plan.work_data = plan.work_size ? noise(plan.work_size) : NULL;
    if (ggml_graph_compute(graph, &plan) != GGML_STATUS_SUCCESS)
        abort();
    free(plan.work_data);
}

/* All bytes from the first to the last element: of a view too. */
static void *
bytes_of(const struct ggml_tensor *t)
{
    void *p = noise(ggml_nbytes(t));

    memcpy(p, t->data, ggml_nbytes(t));
    return p;
}

static void
element_at(const struct ggml_tensor *t, int64_t row, float *y)
{
    int64_t i1 = row % t->ne[1], i2 = row / t->ne[1] % t->ne[2];
    int64_t i3 = row / t->ne[1] / t->ne[2];
    const char *p = (const char *)t->data + (size_t)i1 * t->nb[1] +
                    (size_t)i2 * t->nb[2] + (size_t)i3 * t->nb[3];

    if (ggml_is_quantized(t->type)) {
        quant_reader(t->type)(p, y, t->ne[0]);
        return;
    }
    for (int64_t i = 0; i < t->ne[0]; i++)
        y[i] = t->type == GGML_TYPE_I64
                   ? (float)((const int64_t *)(const void *)p)[i]
                   : ggml_get_f32_nd(t, (int)i, (int)i1, (int)i2, (int)i3);
}

/* Squared error over squares; infinities must be where they should. */
static double
error_of(struct ggml_tensor *t, void *want_bytes)
{
    struct ggml_tensor other = *t;
    float *got = noise((size_t)t->ne[0] * sizeof(*got));
    float *want = noise((size_t)t->ne[0] * sizeof(*want));
    double error = 0, all = 0;

    other.data = want_bytes;
    for (int64_t row = 0; row < ggml_nrows(t); row++) {
        element_at(t, row, got);
        element_at(&other, row, want);
        for (int64_t i = 0; i < t->ne[0]; i++) {
            if (got[i] == want[i] || (isnan(got[i]) && isnan(want[i])))
                continue;
            error += pow((double)got[i] - (double)want[i], 2);
        }
        for (int64_t i = 0; i < t->ne[0]; i++)
            if (isfinite(want[i]))
                all += pow((double)want[i], 2);
    }
    free(got);
    free(want);
    if (error == 0)
        return 0;
    return isnan(error) ? INFINITY : error / (all > 0 ? all : 1e-30);
}

struct sample {
    struct ggml_tensor *t;
    void *before, *want, *first;
    double error;
    bool same;
};

static void
begin_sample(struct sample *s, struct ggml_tensor *t)
{
    memset(s, 0, sizeof(*s));
    s->t = t;
    s->same = true;
}

static void
look(struct sample *s, int order)
{
    if (!s->t)
        return;
    if (order == 0) {
        s->error = error_of(s->t, s->want);
        s->first = bytes_of(s->t);
    } else if (memcmp(s->first, s->t->data, ggml_nbytes(s->t)) != 0) {
        s->same = false;
    }
}

static void
end_sample(struct sample *s)
{
    free(s->before);
    free(s->want);
    free(s->first);
}

static void
check(struct ggml_context *ctx, struct ggml_tensor *t, struct ggml_tensor *also,
      void (*run)(void *arg), void *arg, double bound, const char *name)
{
    struct kt_run r = { t, also, run, arg };
    struct sample s[2];
    char text[300];

    begin_sample(&s[0], t);
    begin_sample(&s[1], also);
    give_results_memory(t);
    for (int i = 0; i < 2 && s[i].t; i++)
        s[i].before = bytes_of(s[i].t);
    run_reference(ctx, t);
    for (int i = 0; i < 2 && s[i].t; i++)
        s[i].want = bytes_of(s[i].t);
    bound = kt_bound(t, bound);
    for (int order = 0; order < kt_orders(); order++) {
        for (int i = 0; i < 2 && s[i].t; i++)
            memcpy(s[i].t->data, s[i].before, ggml_nbytes(s[i].t));
        kt_run(&r, order);
        look(&s[0], order);
        look(&s[1], order);
    }
    snprintf(text, sizeof(text), "%s: within %g (%.2g)", name, bound,
             fmax(s[0].error, s[1].error));
    ok(s[0].error <= bound && s[1].error <= bound && s[0].same && s[1].same,
       text);
    if (!s[0].same || !s[1].same)
        printf("# the result is not the same in every run\n");
    end_sample(&s[0]);
    end_sample(&s[1]);
}

void
kt_check(struct ggml_context *ctx, struct ggml_tensor *t, double bound,
         const char *name, ...)
{
    char text[200];
    va_list args;

    va_start(args, name);
    vsnprintf(text, sizeof(text), name, args);
    va_end(args);
    if (!kt_supports(t)) {
        ok(false, text);
        printf("# not supported\n");
        return;
    }
    check(ctx, t, NULL, kt_run_op, t, bound, text);
}

void
kt_check_both(struct ggml_context *ctx, struct ggml_tensor *t,
              struct ggml_tensor *also, double bound, const char *name)
{
    if (!kt_supports(t)) {
        ok(false, name);
        printf("# not supported\n");
        return;
    }
    check(ctx, t, also, kt_run_op, t, bound, name);
}

void
kt_check_run(struct ggml_context *ctx, struct ggml_tensor *t,
             struct ggml_tensor *also, void (*run)(void *arg), void *arg,
             double bound, const char *name)
{
    check(ctx, t, also, run, arg, bound, name);
}
