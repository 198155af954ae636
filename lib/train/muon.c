/* muon.c - momentum, then five steps of Newton and Schulz */
#include "train/muon.h"

#include <math.h>

#include "train/step.h"

enum {
    ITERATIONS = 5,
    NODES = 16 * ITERATIONS + 16,
};

static const double momentum = 0.95;

/* a x + (b s + c s s) x with s = x x': singular values in (0, 1] go near 1. */
static struct ggml_tensor *
iterate(struct ggml_context *ctx, struct ggml_tensor *x)
{
    struct ggml_tensor *s = ggml_mul_mat(ctx, x, x);
    struct ggml_tensor *s2 = ggml_mul_mat(ctx, s, s);
    struct ggml_tensor *by = ggml_add(ctx, ggml_scale(ctx, s, -4.7750f),
                                      ggml_scale(ctx, s2, 2.0315f));
    struct ggml_tensor *turned = ggml_cont(ctx, ggml_transpose(ctx, x));

    return ggml_add(ctx, ggml_scale(ctx, x, 3.4445f),
                    ggml_mul_mat(ctx, turned, by));
}

/* The shorter side is multiplied with itself. */
static void
record(struct train_muon *m)
{
    bool tall = m->ne[1] > m->ne[0];
    struct ggml_tensor *x;

    m->in = x = ggml_new_tensor_2d(m->ctx, GGML_TYPE_F32, m->ne[0], m->ne[1]);
    ggml_set_input(x);
    if (tall)
        x = ggml_cont(m->ctx, ggml_transpose(m->ctx, x));
    for (int i = 0; i < ITERATIONS; i++)
        x = iterate(m->ctx, x);
    if (tall)
        x = ggml_cont(m->ctx, ggml_transpose(m->ctx, x));
    m->out = x;
    ggml_set_output(x);
    m->graph = ggml_new_graph_custom(m->ctx, NODES, false);
    ggml_build_forward_expand(m->graph, x);
}

enum gg_status
train_muon_init(struct train_muon *m, const struct ggml_tensor *weight,
                ggml_backend_t backend, struct gg_error *err)
{
    *m = (struct train_muon){ .ne = { weight->ne[0], weight->ne[1] } };
    m->ctx = ggml_init((struct ggml_init_params){
        .mem_size = NODES * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(NODES, false),
        .no_alloc = true });
    m->galloc = ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend));
    if (m->ctx && m->galloc) {
        record(m);
        if (ggml_gallocr_alloc_graph(m->galloc, m->graph))
            return GG_OK;
    }
    train_muon_clear(m);
    return error_nomem(err);
}

void
train_muon_clear(struct train_muon *m)
{
    ggml_gallocr_free(m->galloc);
    ggml_free(m->ctx);
    *m = (struct train_muon){ .graph = NULL };
}

/* Nesterov's momentum, at length 1. */
static void
set_direction(struct train_muon *m, struct train_param *p)
{
    int64_t n = ggml_nelements(p->weight);
    const float *g = p->grad->data;
    float *first = p->moments[TRAIN_FIRST]->data, *to = m->in->data;
    double sum = 0, by;

    for (int64_t i = 0; i < n; i++) {
        double v;

        first[i] = (float)(momentum * (double)first[i] +
                           (1 - momentum) * (double)g[i]);
        v = (1 - momentum) * (double)g[i] + momentum * (double)first[i];
        to[i] = (float)v;
        sum += v * v;
    }
    by = 1 / (sqrt(sum) + 1e-7);
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)((double)to[i] * by);
}

enum gg_status
train_muon_step(struct train_muon *m, struct train_param *p,
                ggml_backend_t backend, double rate, double decay,
                struct gg_error *err)
{
    int64_t n = ggml_nelements(p->weight);
    double tall = (double)m->ne[1] / (double)m->ne[0];
    float keep = (float)(1 - rate * decay);
    float by = (float)(rate * sqrt(tall > 1 ? tall : 1));
    float *w = p->weight->data;
    const float *x = m->out->data;
    enum gg_status st;

    set_direction(m, p);
    st = train_compute(backend, m->graph, 0, m->graph->n_nodes, err);
    for (int64_t i = 0; st == GG_OK && i < n; i++)
        w[i] = w[i] * keep - by * x[i];
    return st;
}
