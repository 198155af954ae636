/* optimizer.c - clipping, AdamW, and which parameters Muon moves */
#include "train/optimizer.h"

#include <math.h>

#include "core/mem.h"
#include "train/muon.h"
#include "train/step.h"

enum {
    ADAMW_NUMBERS = 7, /* of ggml_opt_step_adamw() */
    LANES = 8,
};

/* ---- set up -------------------------------------------------------------- */

static bool
is_muons(const struct train_optimizer *o, const struct train_param *p)
{
    return o->o->optimizer == GG_TRAIN_MUON && p->matrix &&
           ggml_n_dims(p->weight) == 2;
}

static struct train_muon *
muon_of(const struct train_optimizer *o, const struct ggml_tensor *weight)
{
    for (size_t i = 0; i < o->n_muon; i++)
        if (o->muon[i].ne[0] == weight->ne[0] &&
            o->muon[i].ne[1] == weight->ne[1])
            return &o->muon[i];
    return NULL;
}

static enum gg_status
add_muons(struct train_optimizer *o, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    o->muon = mem_array(o->params->n, sizeof(*o->muon));
    if (!o->muon)
        return error_nomem(err);
    for (size_t i = 0; i < o->params->n && st == GG_OK; i++) {
        const struct train_param *p = &o->params->p[i];

        if (!is_muons(o, p) || muon_of(o, p->weight))
            continue;
        st = train_muon_init(&o->muon[o->n_muon], p->weight, o->backend, err);
        o->n_muon += st == GG_OK;
    }
    return st;
}

static struct ggml_tensor *
new_numbers(struct train_optimizer *o)
{
    struct ggml_tensor *t =
        ggml_new_tensor_1d(o->ctx, GGML_TYPE_F32, ADAMW_NUMBERS);

    ggml_set_input(t);
    return t;
}

/* Weights are changed where they are: no node needs memory. */
static enum gg_status
record_adamw(struct train_optimizer *o, struct gg_error *err)
{
    size_t n = o->params->n;
    size_t nodes = 2 * n + 8; /* parameters are nodes, too */
    struct ggml_init_params params = {
        .mem_size = nodes * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(4 * nodes, false),
        .no_alloc = true,
    };

    o->ctx = ggml_init(params);
    if (!o->ctx)
        return error_nomem(err);
    o->with_decay = new_numbers(o);
    o->without = new_numbers(o);
    o->buffer = ggml_backend_alloc_ctx_tensors(o->ctx, o->backend);
    if (!o->buffer)
        return error_nomem(err);
    o->graph = ggml_new_graph_custom(o->ctx, 4 * nodes, false);
    for (size_t i = 0; i < n; i++) {
        struct train_param *p = &o->params->p[i];

        if (!is_muons(o, p))
            ggml_build_forward_expand(
                o->graph, ggml_opt_step_adamw(
                              o->ctx, p->weight, p->grad,
                              p->moments[TRAIN_FIRST], p->moments[TRAIN_SECOND],
                              p->matrix ? o->with_decay : o->without));
    }
    return GG_OK;
}

/* Nodes are views of weights. */
static enum gg_status
place_nodes(struct train_optimizer *o, struct gg_error *err)
{
    for (int i = 0; i < o->graph->n_nodes; i++) {
        struct ggml_tensor *t = o->graph->nodes[i];

        if (t->view_src && !t->buffer &&
            ggml_backend_view_init(t) != GGML_STATUS_SUCCESS)
            return error_nomem(err);
    }
    return GG_OK;
}

enum gg_status
train_optimizer_init(struct train_optimizer *o, struct train_params *params,
                     const struct gg_train_params *options,
                     ggml_backend_t backend, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    *o = (struct train_optimizer){ .o = options,
                                   .params = params,
                                   .backend = backend };
    if (options->optimizer == GG_TRAIN_MUON)
        st = add_muons(o, err);
    if (st == GG_OK)
        st = record_adamw(o, err);
    if (st == GG_OK)
        st = place_nodes(o, err);
    if (st != GG_OK)
        train_optimizer_clear(o);
    return st;
}

void
train_optimizer_clear(struct train_optimizer *o)
{
    for (size_t i = 0; i < o->n_muon; i++)
        train_muon_clear(&o->muon[i]);
    mem_free(o->muon);
    ggml_backend_buffer_free(o->buffer);
    ggml_free(o->ctx);
    *o = (struct train_optimizer){ 0 };
}

/* ---- clipping ------------------------------------------------------------ */

/* In double precision and in one order, whatever the threads. */
static double
sum_of_squares(const struct ggml_tensor *t)
{
    const float *x = t->data;
    int64_t n = ggml_nelements(t), whole = n - n % LANES;
    double sums[LANES] = { 0 }, sum = 0;

    for (int64_t i = 0; i < whole; i += LANES)
        for (int k = 0; k < LANES; k++)
            sums[k] += (double)x[i + k] * (double)x[i + k];
    for (int64_t i = whole; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    for (int k = 0; k < LANES; k++)
        sum += sums[k];
    return sum;
}

static void
scale(struct ggml_tensor *t, float by)
{
    float *x = t->data;

    for (int64_t i = 0; i < ggml_nelements(t); i++)
        x[i] *= by;
}

static double
clip(struct train_optimizer *o)
{
    double sum = 0, norm;

    for (size_t i = 0; i < o->params->n; i++)
        sum += sum_of_squares(o->params->p[i].grad);
    norm = sqrt(sum);
    if (o->o->clip > 0 && norm > o->o->clip)
        for (size_t i = 0; i < o->params->n; i++)
            scale(o->params->p[i].grad, (float)(o->o->clip / norm));
    return norm;
}

/* ---- a step -------------------------------------------------------------- */

static void
set_numbers(struct train_optimizer *o, struct ggml_tensor *t, int64_t step,
            double rate, double decay)
{
    const struct gg_train_params *p = o->o;
    float *x = t->data;

    x[0] = (float)rate;
    x[1] = (float)p->beta1;
    x[2] = (float)p->beta2;
    x[3] = (float)p->epsilon;
    x[4] = (float)decay;
    x[5] = (float)(1 / (1 - pow(p->beta1, (double)step)));
    x[6] = (float)(1 / (1 - pow(p->beta2, (double)step)));
}

enum gg_status
train_optimizer_step(struct train_optimizer *o, int64_t step, double part,
                     double *norm, struct gg_error *err)
{
    double rate = o->o->rate * part, matrix_rate = o->o->matrix_rate * part;
    enum gg_status st;

    *norm = clip(o);
    if (!isfinite(*norm))
        return error_set(err, GG_ERR_ARG,
                         "step %lld: the gradient is not finite: the learning "
                         "rate is too high",
                         (long long)step);
    set_numbers(o, o->with_decay, step, rate, o->o->decay);
    set_numbers(o, o->without, step, rate, 0);
    st = train_compute(o->backend, o->graph, 0, o->graph->n_nodes, err);
    for (size_t i = 0; i < o->params->n && st == GG_OK; i++) {
        struct train_param *p = &o->params->p[i];

        if (is_muons(o, p))
            st = train_muon_step(muon_of(o, p->weight), p, o->backend,
                                 matrix_rate, o->o->decay, err);
    }
    return st;
}
