/* step.c - a model's graph, in windows that fit into memory */
#include "train/step.h"

#include <string.h>

#include "alloc/measure.h"
#include "core/mem.h"

enum {
    NODES_PER_LAYER = 192,
    NODES_OTHERS = 256,
};

/* How much an adapter that is trained counts. */
static const float always = 1;

/* ---- the model's graph --------------------------------------------------- */

static enum gg_status
record(struct train_pass *p, int32_t length, int32_t n_rows,
       struct gg_error *err)
{
    size_t n = NODES_PER_LAYER * (size_t)p->model->hp.n_layer + NODES_OTHERS;
    struct ggml_init_params params = {
        .mem_size =
            n * ggml_tensor_overhead() + ggml_graph_overhead_custom(n, false),
        .no_alloc = true,
    };

    p->base = (struct graph){ .ctx = ggml_init(params),
                              .model = p->model,
                              .packing = { .n_rows = n_rows, .length = length },
                              .n_tokens = n_rows * length,
                              .n_outputs = n_rows * length,
                              .end = p->model->hp.n_layer,
                              .named = true, /* for messages */
                              .hidden = true,
                              .scales = &always };
    if (!p->base.ctx)
        return error_nomem(err);
    graph_build(&p->base, n);
    return train_check_ops(p->base.cgraph, err);
}

/* ---- windows ------------------------------------------------------------- */

/* The node after window i of n: cuts are shared out evenly. */
static int
end_of(const struct train_pass *p, int i, int n)
{
    int last = (int)((int64_t)(i + 1) * (p->cuts.n + 1) / n) - 1;

    return last < p->cuts.n ? p->cuts.nodes[last] + 1 : p->base.cgraph->n_nodes;
}

/* Whether what is computed up to a node depends on parameters. */
static bool
depends(const struct train_pass *p, int end)
{
    for (int i = 0; i < end; i++)
        if (p->base.cgraph->nodes[i]->flags & GGML_TENSOR_FLAG_PARAM)
            return true;
    return false;
}

/* Memory for n - 1 crossing tensors, a gradient, and the graph's inputs. */
static enum gg_status
make_crossing(struct train_pass *p, int n, struct gg_error *err)
{
    struct ggml_cgraph *g = p->base.cgraph;
    const struct ggml_tensor *like = g->nodes[g->n_nodes - 1];

    p->ctx = ggml_init((struct ggml_init_params){
        .mem_size = ((size_t)n + 1) * ggml_tensor_overhead(),
        .no_alloc = true });
    p->crossing = mem_array((size_t)n, sizeof(struct ggml_tensor *));
    if (!p->ctx || !p->crossing)
        return error_nomem(err);
    p->dy = ggml_dup_tensor(p->ctx, (struct ggml_tensor *)like);
    ggml_set_input(p->dy);
    for (int i = 0; i < n - 1; i++) {
        p->crossing[i] = ggml_dup_tensor(p->ctx, p->dy);
        ggml_set_input(p->crossing[i]);
        if (depends(p, end_of(p, i, n)))
            ggml_set_param(p->crossing[i]);
    }
    return GG_OK;
}

static enum gg_status
make_windows(struct train_pass *p, int n, struct gg_error *err)
{
    struct train_window_spec s = { .base = p->base.cgraph,
                                   .params = p->params };
    enum gg_status st = make_crossing(p, n, err);

    p->windows = st == GG_OK ? mem_array((size_t)n, sizeof(*p->windows)) : NULL;
    if (st == GG_OK && !p->windows)
        st = error_nomem(err);
    s.dy = p->dy;
    for (int i = 0; i < n && st == GG_OK; i++) {
        s.end = end_of(p, i, n);
        st = train_window_make(&p->windows[i], &s, err);
        p->n_windows += st == GG_OK;
        s.first = s.end;
        s.from = p->base.cgraph->nodes[s.end - 1];
        s.x = p->crossing[i];
    }
    return st;
}

static void
drop_windows(struct train_pass *p)
{
    for (int i = 0; i < p->n_windows; i++)
        train_window_clear(&p->windows[i]);
    mem_free(p->windows);
    mem_free(p->crossing);
    ggml_free(p->ctx);
    p->windows = NULL;
    p->crossing = NULL;
    p->ctx = NULL;
    p->n_windows = 0;
}

static size_t
inputs_size(const struct train_pass *p)
{
    struct ggml_tensor *t = ggml_get_first_tensor(p->base.ctx);
    size_t size = 0;

    for (; t; t = ggml_get_next_tensor(p->base.ctx, t))
        if (t->flags & GGML_TENSOR_FLAG_INPUT)
            size += GGML_PAD(ggml_nbytes(t),
                             ggml_backend_get_alignment(p->backend));
    return size;
}

/* Bytes of what was made, without the head's. */
static enum gg_status
measure(struct train_pass *p, size_t *all, struct gg_error *err)
{
    size_t largest = 0, size;

    for (int i = 0; i < p->n_windows; i++) {
        if (!alloc_gallocr_measure(p->galloc, p->windows[i].graph, NULL, NULL,
                                   &size))
            return error_nomem(err);
        largest = size > largest ? size : largest;
    }
    *all = largest + inputs_size(p) + (size_t)p->n_windows * ggml_nbytes(p->dy);
    return GG_OK;
}

/* As few windows as fit; where even the smallest do not, these, and an error
 * that tells what they take. */
static enum gg_status
fit(struct train_pass *p, size_t limit, struct gg_error *err)
{
    size_t head = 0, windows = 0;
    int most = p->cuts.n + 1;
    enum gg_status st = train_head_size(&p->head, &head, err);

    for (int n = 1;; n++) {
        if (st == GG_OK)
            st = make_windows(p, n, err);
        if (st == GG_OK)
            st = measure(p, &windows, err);
        if (st != GG_OK)
            return st;
        p->size = windows + head;
        if (limit == 0 || p->size <= limit)
            return GG_OK;
        if (n == most)
            return error_set(err, GG_ERR_NOMEM,
                             "activations take %zu bytes even in %d windows; "
                             "the limit is %zu",
                             p->size, n, limit);
        drop_windows(p);
    }
}

/* ---- memory -------------------------------------------------------------- */

static enum gg_status
place_inputs(struct train_pass *p, struct gg_error *err)
{
    size_t size =
        inputs_size(p) + ((size_t)p->n_windows + 1) * (ggml_nbytes(p->dy) + 64);
    struct ggml_tensor *t = ggml_get_first_tensor(p->base.ctx);
    struct ggml_tallocr talloc;

    p->buffer = ggml_backend_alloc_buffer(p->backend, size);
    if (!p->buffer)
        return error_nomem(err);
    talloc = ggml_tallocr_new(p->buffer);
    for (; t; t = ggml_get_next_tensor(p->base.ctx, t))
        if (t->flags & GGML_TENSOR_FLAG_INPUT &&
            ggml_tallocr_alloc(&talloc, t) != GGML_STATUS_SUCCESS)
            return error_nomem(err);
    t = ggml_get_first_tensor(p->ctx);
    for (; t; t = ggml_get_next_tensor(p->ctx, t))
        if (ggml_tallocr_alloc(&talloc, t) != GGML_STATUS_SUCCESS)
            return error_nomem(err);
    return GG_OK;
}

/* All windows lie in the same memory, one at a time. It is as large as the
 * largest before any of them gets its place, and so does not move. */
static enum gg_status
place_windows(struct train_pass *p, struct gg_error *err)
{
    bool done = true;

    for (int i = 0; i < p->n_windows && done; i++)
        done = ggml_gallocr_reserve(p->galloc, p->windows[i].graph);
    for (int i = 0; i < p->n_windows && done; i++)
        done = ggml_gallocr_alloc_graph(p->galloc, p->windows[i].graph);
    return done ? GG_OK : error_nomem(err);
}

enum gg_status
train_pass_init(struct train_pass *p, const struct model *model,
                struct train_params *params, ggml_backend_t backend,
                int32_t length, int32_t n_rows, size_t limit,
                struct gg_error *err)
{
    enum gg_status st;

    *p = (struct train_pass){ .model = model,
                              .params = params,
                              .backend = backend };
    p->galloc = ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend));
    st = p->galloc ? record(p, length, n_rows, err) : error_nomem(err);
    if (st == GG_OK)
        st = train_cuts_find(p->base.cgraph, &p->cuts, err);
    if (st == GG_OK)
        st = train_head_init(&p->head, model, params, backend, p->base.n_tokens,
                             err);
    if (st == GG_OK)
        st = fit(p, limit, err);
    if (st == GG_OK && !params->measured)
        st = train_input_init(&p->input, &p->base, err);
    if (st == GG_OK && !params->measured)
        st = place_inputs(p, err);
    if (st == GG_OK && !params->measured)
        st = place_windows(p, err);
    if (st != GG_OK)
        train_pass_clear(p);
    return st;
}

void
train_pass_clear(struct train_pass *p)
{
    drop_windows(p);
    train_cuts_clear(&p->cuts);
    train_head_clear(&p->head);
    train_input_clear(&p->input);
    ggml_gallocr_free(p->galloc);
    ggml_backend_buffer_free(p->buffer);
    ggml_free(p->base.ctx);
    *p = (struct train_pass){ 0 };
}

/* ---- running ------------------------------------------------------------- */

static void
set_step_inputs(struct train_pass *p)
{
    const struct train_input *in = &p->input;
    struct graph *g = &p->base;
    size_t n = (size_t)in->length * (size_t)in->n_rows;

    memcpy(g->ids->data, in->ids, n * sizeof(*in->ids));
    memcpy(g->positions->data, in->positions, n * sizeof(*in->positions));
    for (int k = 0; k < CACHE_KINDS; k++)
        if (in->masks[k])
            memcpy(g->packing.masks[k]->data, in->masks[k],
                   ggml_nbytes(g->packing.masks[k]));
}

static enum gg_status
forward(struct train_pass *p, int i, struct gg_error *err)
{
    struct train_window *w = &p->windows[i];

    return train_compute(p->backend, w->graph, 0, w->n_forward, err);
}

/* Through all windows; the last one's activations stay. */
static enum gg_status
forward_all(struct train_pass *p, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (int i = 0; i < p->n_windows && st == GG_OK; i++) {
        st = forward(p, i, err);
        if (st == GG_OK && i < p->n_windows - 1)
            memcpy(p->crossing[i]->data, p->windows[i].y->data,
                   ggml_nbytes(p->dy));
    }
    return st;
}

/* Its activations are there, and dy is set; then dy is that of what the window
 * reads. */
static enum gg_status
backward(struct train_pass *p, int i, struct gg_error *err)
{
    struct train_window *w = &p->windows[i];
    enum gg_status st;

    *(float *)w->seed->data = 1;
    st = train_compute(p->backend, w->graph, w->n_forward, w->graph->n_nodes,
                       err);
    if (st == GG_OK && w->dx)
        memcpy(p->dy->data, w->dx->data, ggml_nbytes(p->dy));
    return st;
}

static enum gg_status
backward_all(struct train_pass *p, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    bool more = true;

    for (int i = p->n_windows; i-- > 0 && st == GG_OK && more;) {
        if (!p->windows[i].seed)
            break;
        if (i < p->n_windows - 1)
            st = forward(p, i, err);
        if (st == GG_OK)
            st = backward(p, i, err);
        more = p->windows[i].dx != NULL;
    }
    return st;
}

enum gg_status
train_pass_run(struct train_pass *p, const struct train_set *set,
               const struct train_batch *batch, int32_t first, bool gradient,
               double scale, double *loss, struct gg_error *err)
{
    const struct train_window *last = &p->windows[p->n_windows - 1];
    enum gg_status st;

    train_input_fill(&p->input, set, batch, first);
    set_step_inputs(p);
    st = forward_all(p, err);
    if (st == GG_OK)
        st = train_head_run(&p->head, &p->input, last->y->data,
                            gradient ? p->dy->data : NULL, scale, loss, err);
    return st == GG_OK && gradient ? backward_all(p, err) : st;
}
