/* test_training.c - a step of small GPT-2 and LLaMA shapes: gradients, and
 * weights after ten steps of AdamW, against torch in float64
 * (golden_training.py) */
#include "cpu_test.h"

#include "fixtures/golden_training.h"

enum {
    N = GOLDEN_N,
    HEADS = GOLDEN_HEADS,
    HEAD = N / HEADS,
    FF = GOLDEN_FF,
    VOCAB = GOLDEN_VOCAB,
    T = GOLDEN_TOKENS,
    MOST = 64
};

struct model {
    struct ggml_context *ctx;
    struct ggml_tensor *params[MOST];
    int n_params;
    struct ggml_tensor *ids, *positions, *mask, *labels;
};

/* As golden_training.py draws it. */
static float
draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(*state >> 32) * 0x1p-31f;
}

/* `around`: 1 for weights of norms, 0 for others. */
static struct ggml_tensor *
param(struct model *m, int64_t ne0, int64_t ne1, float around)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(m->ctx, GGML_TYPE_F32, ne0, ne1);
    uint64_t state = 1000 + (uint64_t)m->n_params;

    for (int64_t i = 0; i < ggml_nelements(t); i++)
        ggml_get_data_f32(t)[i] = draw(&state) * 0.25f + around;
    ggml_set_param(t);
    m->params[m->n_params++] = t;
    return t;
}

static void
make_inputs(struct model *m)
{
    m->ids = ggml_new_tensor_1d(m->ctx, GGML_TYPE_I32, T);
    m->positions = ggml_new_tensor_1d(m->ctx, GGML_TYPE_I32, T);
    m->mask = ggml_new_tensor_2d(m->ctx, GGML_TYPE_F32, T, T);
    m->labels = ggml_new_tensor_2d(m->ctx, GGML_TYPE_F32, VOCAB, T);
    ggml_set_zero(m->labels);
    for (int i = 0; i < T; i++) {
        int next = (7 * (i + 1) + 3) % VOCAB;

        ((int32_t *)m->ids->data)[i] = (7 * i + 3) % VOCAB;
        ((int32_t *)m->positions->data)[i] = i;
        ggml_get_data_f32(m->labels)[i * VOCAB + next] = 1;
        for (int j = 0; j < T; j++)
            ggml_get_data_f32(m->mask)[i * T + j] = j > i ? -INFINITY : 0;
    }
}

/* ---- the two shapes -------------------------------------------------------
 */

/* q, k, v [HEAD, heads, T]; keys serve some heads each. */
static struct ggml_tensor *
attention(struct model *m, struct ggml_tensor *q, struct ggml_tensor *k,
          struct ggml_tensor *v)
{
    struct ggml_context *ctx = m->ctx;
    struct ggml_tensor *p;

    q = ggml_permute(ctx, q, 0, 2, 1, 3);
    k = ggml_permute(ctx, k, 0, 2, 1, 3);
    v = ggml_cont(ctx, ggml_permute(ctx, v, 1, 2, 0, 3));
    p = ggml_soft_max_ext(ctx, ggml_mul_mat(ctx, k, q), m->mask,
                          1 / sqrtf(HEAD), 0);
    p = ggml_permute(ctx, ggml_mul_mat(ctx, v, p), 0, 2, 1, 3);
    return ggml_cont_2d(ctx, p, N, T);
}

static struct ggml_tensor *
norm(struct ggml_context *ctx, struct ggml_tensor *x, struct ggml_tensor **w)
{
    x = ggml_mul(ctx, ggml_norm(ctx, x, 1e-5f), w[0]);
    return ggml_add(ctx, x, w[1]);
}

static struct ggml_tensor *
linear(struct ggml_context *ctx, struct ggml_tensor *x, struct ggml_tensor **w)
{
    return ggml_add(ctx, ggml_mul_mat(ctx, w[0], x), w[1]);
}

static struct ggml_tensor *
third(struct ggml_context *ctx, struct ggml_tensor *qkv, size_t i)
{
    return ggml_view_3d(ctx, qkv, HEAD, HEADS, T, HEAD * sizeof(float),
                        qkv->nb[1], i * N * sizeof(float));
}

static struct ggml_tensor *
gpt2_layer(struct model *m, struct ggml_tensor *x, struct ggml_tensor **w)
{
    struct ggml_context *ctx = m->ctx;
    struct ggml_tensor *y = linear(ctx, norm(ctx, x, w), w + 2);

    y = attention(m, third(ctx, y, 0), third(ctx, y, 1), third(ctx, y, 2));
    x = ggml_add(ctx, x, linear(ctx, y, w + 4));
    y = ggml_gelu(ctx, linear(ctx, norm(ctx, x, w + 6), w + 8));
    return ggml_add(ctx, x, linear(ctx, y, w + 10));
}

static void
gpt2_layer_params(struct model *m)
{
    param(m, N, 1, 1), param(m, N, 1, 0);
    param(m, N, 3 * N, 0), param(m, 3 * N, 1, 0);
    param(m, N, N, 0), param(m, N, 1, 0);
    param(m, N, 1, 1), param(m, N, 1, 0);
    param(m, N, FF, 0), param(m, FF, 1, 0);
    param(m, FF, N, 0), param(m, N, 1, 0);
}

static struct ggml_tensor *
gpt2(struct model *m)
{
    struct ggml_context *ctx = m->ctx;
    struct ggml_tensor *wte = param(m, N, VOCAB, 0), *wpe = param(m, N, T, 0);
    struct ggml_tensor *x;

    for (int i = 0; i < GOLDEN_LAYERS; i++)
        gpt2_layer_params(m);
    param(m, N, 1, 1), param(m, N, 1, 0);
    x = ggml_add(ctx, ggml_get_rows(ctx, wte, m->ids),
                 ggml_get_rows(ctx, wpe, m->positions));
    for (int i = 0; i < GOLDEN_LAYERS; i++)
        x = gpt2_layer(m, x, m->params + 2 + 12 * i);
    x = norm(ctx, x, m->params + 2 + 12 * GOLDEN_LAYERS);
    return ggml_mul_mat(ctx, wte, x);
}

static struct ggml_tensor *
rms_norm(struct ggml_context *ctx, struct ggml_tensor *x, struct ggml_tensor *w)
{
    return ggml_mul(ctx, ggml_rms_norm(ctx, x, 1e-5f), w);
}

static struct ggml_tensor *
heads(struct model *m, struct ggml_tensor *x, struct ggml_tensor *w,
      bool rotate)
{
    x = ggml_mul_mat(m->ctx, w, x);
    x = ggml_reshape_3d(m->ctx, x, HEAD, x->ne[0] / HEAD, T);
    return rotate ? ggml_rope(m->ctx, x, m->positions, HEAD, 0) : x;
}

static struct ggml_tensor *
llama_layer(struct model *m, struct ggml_tensor *x, struct ggml_tensor **w)
{
    struct ggml_context *ctx = m->ctx;
    struct ggml_tensor *y = rms_norm(ctx, x, w[0]), *gate;

    y = attention(m, heads(m, y, w[1], true), heads(m, y, w[2], true),
                  heads(m, y, w[3], false));
    x = ggml_add(ctx, x, ggml_mul_mat(ctx, w[4], y));
    y = rms_norm(ctx, x, w[5]);
    gate = ggml_mul_mat(ctx, w[6], y);
    y = ggml_swiglu_split(ctx, gate, ggml_mul_mat(ctx, w[7], y));
    return ggml_add(ctx, x, ggml_mul_mat(ctx, w[8], y));
}

static void
llama_layer_params(struct model *m)
{
    int64_t n_kv = (int64_t)GOLDEN_KV_HEADS * HEAD;

    param(m, N, 1, 1), param(m, N, N, 0);
    param(m, N, n_kv, 0), param(m, N, n_kv, 0), param(m, N, N, 0);
    param(m, N, 1, 1);
    param(m, N, FF, 0), param(m, N, FF, 0), param(m, FF, N, 0);
}

static struct ggml_tensor *
llama(struct model *m)
{
    struct ggml_context *ctx = m->ctx;
    struct ggml_tensor *x = param(m, N, VOCAB, 0), *last, *out;

    for (int i = 0; i < GOLDEN_LAYERS; i++)
        llama_layer_params(m);
    last = param(m, N, 1, 1);
    out = param(m, N, VOCAB, 0);
    x = ggml_get_rows(ctx, x, m->ids);
    for (int i = 0; i < GOLDEN_LAYERS; i++)
        x = llama_layer(m, x, m->params + 1 + 9 * i);
    return ggml_mul_mat(ctx, out, rms_norm(ctx, x, last));
}

/* ---- training -------------------------------------------------------------
 */

static struct ggml_tensor *
zeros(struct model *m, const struct ggml_tensor *w)
{
    return ggml_new_tensor(m->ctx, GGML_TYPE_F32, 4, w->ne);
}

static void
add_steps(struct model *m, struct ggml_cgraph *g, struct ggml_tensor *options)
{
    for (int i = 0; i < m->n_params; i++) {
        struct ggml_tensor *w = m->params[i];

        ggml_build_forward_expand(
            g, ggml_opt_step_adamw(m->ctx, w, ggml_graph_get_grad(g, w),
                                   zeros(m, w), zeros(m, w), options));
    }
}

static void
set_options(struct ggml_tensor *options, int step)
{
    const float values[] = { 0.01f,
                             0.9f,
                             0.999f,
                             1e-5f,
                             0.1f,
                             (float)(1 / (1 - pow(0.9, step))),
                             (float)(1 / (1 - pow(0.999, step))) };

    memcpy(options->data, values, sizeof(values));
}

static void
run(struct model *m, struct ggml_cgraph *g, int n_threads)
{
    struct ggml_cplan plan = ggml_graph_plan(g, n_threads, NULL);

    plan.n_threads = n_threads;
    plan.work_data =
        plan.work_size ? ggml_new_buffer(m->ctx, plan.work_size) : NULL;
    if (ggml_graph_compute(g, &plan) != GGML_STATUS_SUCCESS)
        abort();
}

/* The squares of a difference, as its products with random vectors tell them,
 * over those of the whole. */
static double
distance(const struct ggml_tensor *x, const double *golden)
{
    double error = 0;

    for (int p = 0; p < GOLDEN_PROBES; p++) {
        uint64_t state = 77 + (uint64_t)p;
        double sum = 0;

        for (int64_t i = 0; i < ggml_nelements(x); i++)
            sum += (double)draw(&state) * (double)ggml_get_data_f32(x)[i];
        sum -= golden[1 + p];
        error += 3 * sum * sum / GOLDEN_PROBES; /* E(r^2) = 1/3 */
    }
    return error / golden[0];
}

typedef struct ggml_tensor *(*shape_fn)(struct model *m);
typedef const double (*golden_table)[1 + GOLDEN_PROBES];

static double
worst_distance(struct model *m, const struct ggml_cgraph *g, golden_table t)
{
    double worst = 0;

    for (int i = 0; i < m->n_params; i++) {
        const struct ggml_tensor *w = m->params[i];
        double d = distance(g ? ggml_graph_get_grad(g, w) : w, t[i]);

        worst = d > worst || isnan(d) ? d : worst;
    }
    return worst;
}

/* All weights after ten steps, one after the other; the caller frees them. */
static char *
train(const char *name, shape_fn shape, int n_threads, double golden_loss,
      golden_table gradients, golden_table weights, size_t *size)
{
    struct model m = { .ctx = test_context() };
    struct ggml_cgraph *g = ggml_new_graph_custom(m.ctx, 2048, true);
    struct ggml_tensor *options = ggml_new_tensor_1d(m.ctx, GGML_TYPE_F32, 7);
    struct ggml_tensor *loss;
    char text[120], *all = malloc(1 << 20);
    double error;

    make_inputs(&m);
    loss = ggml_cross_entropy_loss(m.ctx, shape(&m), m.labels);
    ggml_set_loss(loss);
    ggml_build_forward_expand(g, loss);
    ggml_build_backward_expand(m.ctx, g, NULL);
    add_steps(&m, g, options);
    ggml_graph_reset(g);
    for (int i = 1; i <= 10; i++) {
        set_options(options, i);
        run(&m, g, n_threads);
        if (i > 1)
            continue;
        error = fabs((double)ggml_get_f32_1d(loss, 0) / golden_loss - 1);
        snprintf(text, sizeof(text), "%s: loss to %.2g", name, error);
        ok(error < 1e-6, text);
        error = worst_distance(&m, g, gradients);
        snprintf(text, sizeof(text), "%s: gradients to NMSE %.2g", name, error);
        ok(error < 1e-9, text);
    }
    error = worst_distance(&m, NULL, weights);
    snprintf(text, sizeof(text), "%s: weights to NMSE %.2g", name, error);
    ok(error < 1e-9, text);
    *size = 0;
    for (int i = 0; i < m.n_params; i++) {
        memcpy(all + *size, m.params[i]->data, ggml_nbytes(m.params[i]));
        *size += ggml_nbytes(m.params[i]);
    }
    ggml_free(m.ctx);
    return all;
}

static void
test_shape(const char *name, shape_fn shape, double loss,
           golden_table gradients, golden_table weights)
{
    size_t n, n_more;
    char *one = train(name, shape, 1, loss, gradients, weights, &n);
    char *more = train(name, shape, 3, loss, gradients, weights, &n_more);

    ok(n == n_more && memcmp(one, more, n) == 0,
       "as many threads as one likes give the same weights");
    free(one);
    free(more);
}

int
main(void)
{
    test_shape("GPT-2", gpt2, gpt2_loss, gpt2_gradients, gpt2_weights);
    test_shape("LLaMA", llama, llama_loss, llama_gradients, llama_weights);
    return tap_done();
}
