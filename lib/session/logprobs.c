/* logprobs.c - logits of many rows, a slice at a time, and log-probabilities */
#include "session/logprobs.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "graph/adapter.h"
#include "session/compute.h"

enum {
    MAX_NODES = 16, /* without what adapters add to the output: */
    NODES_OF_ADAPTER = 4,
    AT_ONCE = 1 << 21, /* logits of a slice, about */
};

/* ---- the graph ---------------------------------------------------------- */

static size_t
max_nodes(const struct model *m)
{
    return MAX_NODES + NODES_OF_ADAPTER * m->files.n_adapters;
}

static void
drop_graph(struct model_logprobs *s)
{
    ggml_free(s->graph.ctx);
    s->graph.ctx = NULL;
}

static bool
build(struct model_logprobs *s, int32_t n_rows)
{
    struct ggml_init_params params = {
        .mem_size = s->pool_size,
        .mem_buffer = s->pool,
        .no_alloc = true,
    };
    struct graph *g = &s->graph;

    drop_graph(s);
    *g = (struct graph){ .ctx = ggml_init(params),
                         .model = s->model,
                         .bf16 = s->bf16,
                         .n_outputs = n_rows,
                         .scales = s->scales };
    if (!g->ctx)
        return false;
    g->cgraph = ggml_new_graph_custom(g->ctx, max_nodes(s->model), false);
    s->x =
        ggml_new_tensor_2d(g->ctx, GGML_TYPE_F32, s->model->hp.n_embd, n_rows);
    ggml_set_input(s->x);
    g->result = graph_logits(g, s->x);
    ggml_set_output(g->result);
    s->p = ggml_soft_max(g->ctx, g->result);
    ggml_set_output(s->p);
    ggml_build_forward_expand(g->cgraph, s->p);
    return true;
}

/* The graph for n_rows rows; that of the last call stays, if it fits. */
static bool
prepare_graph(struct model_logprobs *s, int32_t n_rows)
{
    if (s->graph.ctx && s->graph.n_outputs == n_rows)
        return true;
    ggml_backend_sched_reset(s->sched);
    if (build(s, n_rows) &&
        ggml_backend_sched_alloc_graph(s->sched, s->graph.cgraph))
        return true;
    drop_graph(s);
    return false;
}

/* ---- log-probabilities --------------------------------------------------- */

static int32_t
find_largest(const float *x, int32_t n)
{
    int32_t best = 0;

    for (int32_t i = 1; i < n; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

static double
add_up(const float *x, int32_t n)
{
    double sum[8] = { 0 }, all = 0;
    int32_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (int j = 0; j < 8; j++)
            sum[j] += (double)x[i + j];
    for (; i < n; i++)
        sum[0] += (double)x[i];
    for (int j = 0; j < 8; j++)
        all += sum[j];
    return all;
}

/* The log-probability of an id is its logit less that of the likeliest one,
 * plus the latter's, whose probability is far from zero. Probabilities were
 * divided by a sum of floats; dividing by their own sum mends that. */
static void
log_probabilities(const struct model_logprobs *s, const int32_t *ids,
                  size_t n_ids, float *out)
{
    int32_t n = s->model->hp.n_vocab, top = find_largest(s->logits, n);
    double of_top = log((double)s->probs[top] / add_up(s->probs, n));

    for (size_t i = 0; i < n_ids; i++) {
        double rest = (double)s->logits[ids[i]] - (double)s->logits[top];

        out[i] = (float)(rest + of_top);
    }
}

/* Row r of the slice is the batch's output i. */
static bool
read_row(struct model_logprobs *s, const struct batch *b, int32_t r, int32_t i)
{
    size_t size = s->graph.result->nb[1], at = (size_t)r * size;
    float *logits = b->logits[i] ? b->logits[i] : s->logits;

    if (!b->logits[i] && !b->best[i] && !b->logprobs[i])
        return true;
    ggml_backend_tensor_get(s->graph.result, logits, at, size);
    if (b->best[i] &&
        !session_topk_find(&s->topk, logits, (size_t)s->model->hp.n_vocab,
                           b->best[i]))
        return false;
    if (!b->logprobs[i])
        return true;
    if (logits != s->logits)
        memcpy(s->logits, logits, size);
    ggml_backend_tensor_get(s->p, s->probs, at, size);
    log_probabilities(s, b->next[i], b->n_next[i], b->logprobs[i]);
    return true;
}

/* Adapters count in the graph as they do in the batch. */
static void
set_scales(struct model_logprobs *s, const float *scales)
{
    size_t n = s->model->files.n_adapters;

    if (n == 0 || graph_adapters_same(s->model, s->scales, scales))
        return;
    memcpy(s->scales, scales, n * sizeof(*scales));
    drop_graph(s);
}

/* Outputs first .. first + n - 1 of the batch. */
static enum gg_status
run_slice(struct model_logprobs *s, const struct batch *b, int32_t first,
          int32_t n, struct gg_error *err)
{
    size_t width = (size_t)s->model->hp.n_embd;
    enum ggml_status st;

    if (!prepare_graph(s, n))
        return error_nomem(err);
    ggml_backend_tensor_set(s->x, s->rows + (size_t)first * width, 0,
                            ggml_nbytes(s->x));
    st = ggml_backend_sched_graph_compute(s->sched, s->graph.cgraph);
    if (st != GGML_STATUS_SUCCESS)
        return session_compute_status(s->sched, st, err);
    for (int32_t i = 0; i < n; i++)
        if (!read_row(s, b, i, first + i))
            return error_nomem(err);
    return session_compute_status(s->sched, st, err);
}

enum gg_status
session_logprobs_run(struct model_logprobs *s, struct ggml_tensor *hidden,
                     const struct batch *b, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (!mem_grow(&s->rows, &s->cap_rows, (size_t)ggml_nelements(hidden),
                  sizeof(*s->rows)))
        return error_nomem(err);
    ggml_backend_tensor_get(hidden, s->rows, 0, ggml_nbytes(hidden));
    set_scales(s, b->scales);
    for (int32_t i = 0; i < b->n_outputs && st == GG_OK; i += s->max_rows) {
        int32_t left = b->n_outputs - i;

        st = run_slice(s, b, i, left < s->max_rows ? left : s->max_rows, err);
    }
    return st;
}

/* ---- birth and death ---------------------------------------------------- */

static bool
allocate(struct model_logprobs *s, ggml_backend_t *backends, int n_backends)
{
    size_t n_vocab = (size_t)s->model->hp.n_vocab;
    size_t n_nodes = max_nodes(s->model), n = s->model->files.n_adapters;

    s->max_rows = AT_ONCE / s->model->hp.n_vocab + 1;
    s->pool_size = n_nodes * ggml_tensor_overhead() +
                   ggml_graph_overhead_custom(n_nodes, false);
    s->pool = mem_alloc(s->pool_size);
    s->scales = n ? mem_array(n, sizeof(*s->scales)) : NULL;
    s->logits = mem_array(n_vocab, sizeof(*s->logits));
    s->probs = mem_array(n_vocab, sizeof(*s->probs));
    if (!s->pool || !s->logits || !s->probs || (n && !s->scales))
        return false;
    s->sched = ggml_backend_sched_new(backends, NULL, n_backends, n_nodes,
                                      false, false);
    return s->sched && prepare_graph(s, s->max_rows);
}

enum gg_status
session_logprobs_start(struct model_logprobs *s, const struct model *model,
                       ggml_backend_t *backends, int n_backends, bool bf16,
                       struct gg_error *err)
{
    *s = (struct model_logprobs){ .model = model, .bf16 = bf16 };
    if (allocate(s, backends, n_backends))
        return GG_OK;
    session_logprobs_clear(s);
    return error_nomem(err);
}

void
session_logprobs_clear(struct model_logprobs *s)
{
    drop_graph(s);
    ggml_backend_sched_free(s->sched);
    mem_free(s->pool);
    mem_free(s->scales);
    mem_free(s->rows);
    mem_free(s->logits);
    mem_free(s->probs);
    session_topk_clear(&s->topk);
    *s = (struct model_logprobs){ 0 };
}

size_t
session_logprobs_size(const struct model_logprobs *s)
{
    size_t n = 0;

    if (!s->sched)
        return 0;
    for (int i = 0; i < ggml_backend_sched_get_n_backends(s->sched); i++)
        n += ggml_backend_sched_get_buffer_size(
            s->sched, ggml_backend_sched_get_backend(s->sched, i));
    return n;
}
