/* head.c - output, cross entropy and their gradients, in columns */
#include "train/head.h"

#include <string.h>

#include "alloc/measure.h"
#include "train/step.h"

enum {
    MOST_LOGITS = 8 << 20, /* at a time, */
    LEAST_COLUMNS = 64,    /* but at least this number of columns */
    MOST_COLUMNS = 2048,
    NODES = 128,
};

static void
drop_head_graph(struct train_head *h)
{
    ggml_free(h->ctx);
    h->ctx = NULL;
    h->n = 0;
}

/* Hidden vectors are a parameter: so they get a gradient. */
static enum gg_status
record(struct train_head *h, int32_t n, struct gg_error *err)
{
    int64_t n_embd = h->model->hp.n_embd, n_vocab = h->model->hp.n_vocab;
    struct graph g = {
        .ctx = h->ctx, .model = h->model, .n_tokens = n, .n_outputs = n
    };
    enum gg_status st;

    h->graph = g.cgraph = ggml_new_graph_custom(h->ctx, NODES, true);
    h->x = ggml_new_tensor_2d(h->ctx, GGML_TYPE_F32, n_embd, n);
    h->labels = ggml_new_tensor_2d(h->ctx, GGML_TYPE_F32, n_vocab, n);
    ggml_set_input(h->x);
    ggml_set_param(h->x);
    ggml_set_input(h->labels);
    h->loss =
        ggml_cross_entropy_loss(h->ctx, graph_logits(&g, h->x), h->labels);
    ggml_set_loss(h->loss);
    ggml_set_output(h->loss);
    ggml_build_forward_expand(h->graph, h->loss);
    h->n_forward = h->graph->n_nodes;
    st = train_check_ops(h->graph, err);
    if (st == GG_OK)
        st = train_add_gradients(h->ctx, h->graph, h->loss, h->params, &h->seed,
                                 err);
    if (st == GG_OK) {
        h->dx = ggml_graph_get_grad(h->graph, h->x);
        ggml_set_output(h->dx);
        h->n = n;
    }
    return st;
}

static enum gg_status
make_graph(struct train_head *h, int32_t n, struct gg_error *err)
{
    struct ggml_init_params params = {
        .mem_size = NODES * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(NODES, true),
        .no_alloc = true,
    };

    drop_head_graph(h);
    h->ctx = ggml_init(params);
    return h->ctx ? record(h, n, err) : error_nomem(err);
}

enum gg_status
train_head_init(struct train_head *h, const struct model *model,
                const struct train_params *params, ggml_backend_t backend,
                int32_t n_ids, struct gg_error *err)
{
    int32_t n = MOST_LOGITS / model->hp.n_vocab;

    n = n < LEAST_COLUMNS ? LEAST_COLUMNS : n;
    n = n < MOST_COLUMNS ? n : MOST_COLUMNS;
    *h = (struct train_head){
        .model = model,
        .params = params,
        .backend = backend,
        .max_columns = n < n_ids ? n : n_ids,
        .galloc =
            ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend)),
    };
    return h->galloc ? GG_OK : error_nomem(err);
}

void
train_head_clear(struct train_head *h)
{
    drop_head_graph(h);
    ggml_gallocr_free(h->galloc);
    *h = (struct train_head){ 0 };
}

enum gg_status
train_head_size(struct train_head *h, size_t *size, struct gg_error *err)
{
    enum gg_status st = make_graph(h, h->max_columns, err);

    if (st == GG_OK &&
        !alloc_gallocr_measure(h->galloc, h->graph, NULL, NULL, size))
        st = error_nomem(err);
    drop_head_graph(h);
    return st;
}

/* ---- running ------------------------------------------------------------- */

static enum gg_status
ready(struct train_head *h, int32_t n, struct gg_error *err)
{
    enum gg_status st;

    if (h->n == n)
        return GG_OK;
    st = make_graph(h, n, err);
    if (st == GG_OK && !ggml_gallocr_alloc_graph(h->galloc, h->graph))
        st = error_nomem(err);
    if (st != GG_OK)
        drop_head_graph(h);
    return st;
}

static void
set_inputs(struct train_head *h, const struct train_input *in,
           const float *hidden, int32_t first)
{
    size_t n_embd = (size_t)h->model->hp.n_embd;
    size_t n_vocab = (size_t)h->model->hp.n_vocab;
    float *x = h->x->data, *labels = h->labels->data;

    memset(labels, 0, ggml_nbytes(h->labels));
    for (size_t i = 0; i < (size_t)h->n; i++) {
        size_t from = (size_t)in->outputs[(size_t)first + i];

        memcpy(x + i * n_embd, hidden + from * n_embd, n_embd * sizeof(*x));
        labels[i * n_vocab + (size_t)in->targets[(size_t)first + i]] = 1;
    }
}

static void
get_gradient(const struct train_head *h, const struct train_input *in,
             float *gradient, int32_t first)
{
    size_t n_embd = (size_t)h->model->hp.n_embd;
    const float *dx = h->dx->data;

    for (size_t i = 0; i < (size_t)h->n; i++)
        memcpy(gradient + (size_t)in->outputs[(size_t)first + i] * n_embd,
               dx + i * n_embd, n_embd * sizeof(*dx));
}

/* The loss of a graph is the mean of its columns. */
static enum gg_status
run_columns(struct train_head *h, const struct train_input *in,
            const float *hidden, float *gradient, double scale, int32_t first,
            double *loss, struct gg_error *err)
{
    enum gg_status st;
    int end = gradient ? h->graph->n_nodes : h->n_forward;

    set_inputs(h, in, hidden, first);
    *(float *)h->seed->data = (float)(scale * h->n);
    st = train_compute(h->backend, h->graph, 0, end, err);
    if (st != GG_OK)
        return st;
    *loss += (double)*(const float *)h->loss->data * h->n;
    if (gradient)
        get_gradient(h, in, gradient, first);
    return GG_OK;
}

enum gg_status
train_head_run(struct train_head *h, const struct train_input *in,
               const float *hidden, float *gradient, double scale, double *loss,
               struct gg_error *err)
{
    size_t n_ids = (size_t)in->length * (size_t)in->n_rows;
    enum gg_status st = GG_OK;

    if (gradient)
        memset(gradient, 0,
               n_ids * (size_t)h->model->hp.n_embd * sizeof(*gradient));
    for (int32_t i = 0; i < in->n_outputs && st == GG_OK; i += h->n) {
        int32_t left = in->n_outputs - i;

        st = ready(h, left < h->max_columns ? left : h->max_columns, err);
        if (st == GG_OK)
            st = run_columns(h, in, hidden, gradient, scale, i, loss, err);
    }
    return st;
}
