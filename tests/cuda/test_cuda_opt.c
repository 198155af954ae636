/* test_cuda_opt.c - ggml-opt.h on a device: steps of AdamW of a small GPT-2 and
 * a small LLaMA against torch in float64, of an adapter on quantised weights
 * against the CPU; see cuda/kernel_test.h */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ggml-alloc.h>
#include <ggml-cpu.h>
#include <ggml-cuda.h>
#include <ggml-opt.h>

#include "cuda/kernel_test.h"
#include "fixtures/training_shapes.h"

enum {
    NODES = 2048,
    STEPS = 10,
};

/* The first back end has all tensors; the CPU is the last. */
static ggml_backend_t both[2];

static ggml_backend_sched_t
new_sched(bool on_device)
{
    return ggml_backend_sched_new(both + !on_device, NULL, 1 + on_device, NODES,
                                  false, true);
}

static struct ggml_context *
new_context(void)
{
    struct ggml_init_params params = {
        .mem_size = NODES * ggml_tensor_overhead() +
                    4 * ggml_graph_overhead_custom(NODES, true),
        .no_alloc = true
    };

    return ggml_init(params);
}

static struct ggml_opt_optimizer_params
options(void *userdata)
{
    struct ggml_opt_optimizer_params p =
        ggml_opt_get_default_optimizer_params(userdata);

    p.adamw.alpha = 0.01f;
    p.adamw.beta1 = 0.9f;
    p.adamw.beta2 = 0.999f;
    p.adamw.eps = 1e-5f;
    p.adamw.wd = 0.1f;
    p.sgd.alpha = 0.1f;
    p.sgd.wd = 0.01f;
    return p;
}

static float *
values_of(const struct ggml_tensor *t)
{
    float *x = malloc(ggml_nbytes(t));

    ggml_backend_tensor_get(t, x, 0, ggml_nbytes(t));
    return x;
}

static double
first_value(const struct ggml_tensor *t)
{
    float x;

    ggml_backend_tensor_get(t, &x, 0, sizeof(x));
    return (double)x;
}

/* ---- whole shapes -------------------------------------------------------- */

typedef const double (*golden_table)[1 + GOLDEN_PROBES];

static double
worst_distance(const struct training_shape *m, golden_table golden)
{
    double worst = 0;

    for (int i = 0; i < m->n_params; i++) {
        float *w = values_of(m->params[i]);
        double d =
            training_distance(w, ggml_nelements(m->params[i]), golden[i]);

        worst = d > worst || isnan(d) ? d : worst;
        free(w);
    }
    return worst;
}

/* A device multiplies in TF32, and the signs of gradients near 0 count in the
 * first steps of AdamW. */
static void
train_shape(const char *name, training_shape_fn shape, double golden_loss,
            golden_table golden)
{
    struct training_shape m = { .ctx = new_context(),
                                .compute = new_context() };
    ggml_backend_sched_t sched = new_sched(true);
    struct ggml_opt_params params =
        ggml_opt_default_params(sched, GGML_OPT_LOSS_TYPE_CROSS_ENTROPY);
    double loss = 0, last = 0, error;
    ggml_backend_buffer_t buffer;
    ggml_opt_context_t opt;
    char text[120];

    params.ctx_compute = m.compute;
    params.outputs = shape(&m);
    params.inputs = m.ids;
    params.get_opt_pars = options;
    buffer = ggml_backend_alloc_ctx_tensors(m.ctx, both[0]);
    training_fill(&m);
    opt = ggml_opt_init(params);
    training_fill_labels(ggml_opt_labels(opt));
    for (int i = 0; i < STEPS; i++) {
        ggml_opt_alloc(opt, true);
        ggml_opt_eval(opt, NULL);
        last = first_value(ggml_opt_loss(opt));
        loss = i == 0 ? last : loss;
    }
    snprintf(text, sizeof(text), "%s: all of a step is the device's", name);
    kt_ok(ggml_backend_sched_get_n_splits(sched) == 1, text);
    error = fabs(loss / golden_loss - 1);
    snprintf(text, sizeof(text), "%s: loss to %.2g, then %.3g", name, error,
             last);
    kt_ok(error < (kt_large_device() ? 1e-3 : 1e-6) && last < loss / 2, text);
    error = worst_distance(&m, golden);
    snprintf(text, sizeof(text), "%s: weights after %d steps to NMSE %.2g",
             name, STEPS, error);
    kt_ok(error < (kt_large_device() ? 1e-2 : 1e-8), text);
    ggml_opt_free(opt);
    ggml_backend_sched_free(sched);
    ggml_backend_buffer_free(buffer);
    ggml_free(m.ctx);
    ggml_free(m.compute);
}

/* ---- an adapter ---------------------------------------------------------- */

enum {
    WIDTH = 256,
    RANK = 4,
    COLUMNS = 70, /* more than products of small batches take */
};

/* y = w2 f(w1 x + b a x): the gradient of both goes through w2. */
struct adapter {
    struct ggml_context *ctx, *compute;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *w1, *w2, *a, *b, *x, *y;
};

static void
set_random(struct ggml_tensor *t, uint64_t seed, float by)
{
    size_t n = (size_t)ggml_nelements(t);
    float *x = malloc(n * sizeof(*x));
    void *data = malloc(ggml_nbytes(t));

    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = (float)(int32_t)(seed >> 32) * 0x1p-31f * by;
    }
    ggml_quantize_chunk(t->type, x, data, 0, ggml_nrows(t), t->ne[0], NULL);
    ggml_backend_tensor_set(t, data, 0, ggml_nbytes(t));
    free(x);
    free(data);
}

static struct adapter
new_adapter(enum ggml_type type, ggml_backend_t backend)
{
    struct adapter m = { .ctx = new_context(), .compute = new_context() };
    struct ggml_context *c = m.compute;
    struct ggml_tensor *h;

    m.w1 = ggml_new_tensor_2d(m.ctx, type, WIDTH, WIDTH);
    m.w2 = ggml_new_tensor_2d(m.ctx, type, WIDTH, WIDTH);
    m.a = ggml_new_tensor_2d(m.ctx, GGML_TYPE_F32, WIDTH, RANK);
    m.b = ggml_new_tensor_2d(m.ctx, GGML_TYPE_F32, RANK, WIDTH);
    m.x = ggml_new_tensor_2d(m.ctx, GGML_TYPE_F32, WIDTH, COLUMNS);
    ggml_set_param(m.a);
    ggml_set_param(m.b);
    m.buffer = ggml_backend_alloc_ctx_tensors(m.ctx, backend);
    set_random(m.w1, 1, 0.05f);
    set_random(m.w2, 2, 0.05f);
    set_random(m.a, 3, 0.05f);
    set_random(m.b, 4, 0.5f);
    set_random(m.x, 5, 1);
    h = ggml_mul_mat(c, m.b, ggml_mul_mat(c, m.a, m.x));
    h = ggml_silu(c, ggml_add(c, ggml_mul_mat(c, m.w1, m.x), h));
    m.y = ggml_mul_mat(c, m.w2, h);
    return m;
}

/* b, after steps of SGD; the caller frees it. */
static float *
train_adapter(enum ggml_type type, bool on_device, double *loss)
{
    struct adapter m = new_adapter(type, both[!on_device]);
    ggml_backend_sched_t sched = new_sched(on_device);
    struct ggml_opt_params params =
        ggml_opt_default_params(sched, GGML_OPT_LOSS_TYPE_MEAN_SQUARED_ERROR);
    ggml_opt_context_t opt;
    float *b;

    params.ctx_compute = m.compute;
    params.inputs = m.x;
    params.outputs = m.y;
    params.get_opt_pars = options;
    params.optimizer = GGML_OPT_OPTIMIZER_TYPE_SGD;
    params.opt_period = 2;
    opt = ggml_opt_init(params);
    set_random(ggml_opt_labels(opt), 6, 10);
    for (int i = 0; i < 2 * STEPS; i++) {
        ggml_opt_alloc(opt, true);
        ggml_opt_eval(opt, NULL);
    }
    *loss = first_value(ggml_opt_loss(opt));
    b = values_of(m.b);
    ggml_opt_free(opt);
    ggml_backend_sched_free(sched);
    ggml_backend_buffer_free(m.buffer);
    ggml_free(m.ctx);
    ggml_free(m.compute);
    return b;
}

/* Changes of b: the CPU rounds activations to 8 bits, the device, with this
 * number of columns, weights and activations to BF16. */
static void
test_adapter(enum ggml_type type, double bound)
{
    struct adapter start = new_adapter(type, both[1]);
    float *from = values_of(start.b), *got, *want;
    double error = 0, all = 0, loss[2];
    char text[160];

    got = train_adapter(type, true, &loss[0]);
    want = train_adapter(type, false, &loss[1]);
    for (int i = 0; i < RANK * WIDTH; i++) {
        error += pow((double)got[i] - (double)want[i], 2);
        all += pow((double)want[i] - (double)from[i], 2);
    }
    snprintf(text, sizeof(text),
             "an adapter on %s: loss to %.2g, steps to NMSE %.2g",
             ggml_type_name(type), fabs(loss[0] / loss[1] - 1), error / all);
    kt_ok(all > 0 && error / all < bound && fabs(loss[0] / loss[1] - 1) < 1e-3,
          text);
    free(from);
    free(got);
    free(want);
    ggml_backend_buffer_free(start.buffer);
    ggml_free(start.ctx);
    ggml_free(start.compute);
}

int
main(void)
{
    kt_start();
    both[0] = ggml_backend_cuda_init(0);
    both[1] = ggml_backend_cpu_init();
    train_shape("GPT-2", training_gpt2, gpt2_loss, gpt2_weights);
    train_shape("LLaMA", training_llama, llama_loss, llama_weights);
    test_adapter(GGML_TYPE_F32, kt_large_device() ? 1e-5 : 1e-9);
    test_adapter(GGML_TYPE_Q8_0, 1e-3);
    test_adapter(GGML_TYPE_Q4_K, 1e-3);
    ggml_backend_free(both[0]);
    ggml_backend_free(both[1]);
    return kt_done();
}
