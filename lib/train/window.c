/* window.c - where a graph can be cut, and the pieces with their gradients */
#include "train/window.h"

#include <string.h>

#include "core/mem.h"
#include "tensor/backward.h"
#include "tensor/tensor.h"

enum {
    /* Nodes of gradients for each node, and further ones. */
    GRADIENT_NODES = 12,
    NODES_OTHERS = 64,
};

/* ---- cuts ---------------------------------------------------------------- */

static int *
slot_numbers(const struct ggml_cgraph *graph)
{
    int *number = mem_alloc((graph->visited.mask + 1) * sizeof(*number));

    for (size_t i = 0; number && i <= graph->visited.mask; i++)
        number[i] = -1;
    for (int i = 0; number && i < graph->n_nodes; i++)
        number[tensor_set_find(&graph->visited, graph->nodes[i])] = i;
    return number;
}

/* For each node, the last one that reads it; itself if none does. */
static void
find_last_uses(const struct ggml_cgraph *graph, const int *number, int *last)
{
    for (int i = 0; i < graph->n_nodes; i++) {
        last[i] = i;
        for (int j = 0; j < GGML_MAX_SRC; j++) {
            struct ggml_tensor *src = graph->nodes[i]->src[j];
            int n = src ? number[tensor_set_find(&graph->visited, src)] : -1;

            if (n >= 0)
                last[n] = i;
        }
    }
}

static bool
can_cross(const struct ggml_tensor *t, const struct ggml_tensor *like)
{
    return t->op != GGML_OP_NONE && !t->view_src && t->type == GGML_TYPE_F32 &&
           ggml_are_same_shape(t, like) && ggml_is_contiguous(t);
}

/* Weights are nodes, too, but cross nothing. `crossing` counts what was
 * computed and is read later. */
static void
collect_cuts(const struct ggml_cgraph *graph, const int *last, int *ending,
             struct train_cuts *cuts)
{
    int crossing = 0, n = graph->n_nodes;

    for (int i = 0; i < n; i++)
        if (graph->nodes[i]->op != GGML_OP_NONE)
            ending[last[i]]++;
    for (int i = 0; i < n - 1; i++) {
        struct ggml_tensor *t = graph->nodes[i];

        crossing += t->op != GGML_OP_NONE;
        crossing -= ending[i];
        if (crossing == 1 && last[i] > i && can_cross(t, graph->nodes[n - 1]))
            cuts->nodes[cuts->n++] = i;
    }
}

enum gg_status
train_cuts_find(struct ggml_cgraph *graph, struct train_cuts *cuts,
                struct gg_error *err)
{
    size_t n = (size_t)graph->n_nodes;
    int *number = slot_numbers(graph);
    int *last = mem_array(n, sizeof(*last));
    int *ending = mem_array(n, sizeof(*ending));
    bool done;

    cuts->n = 0;
    cuts->nodes = mem_array(n, sizeof(*cuts->nodes));
    done = number && last && ending && cuts->nodes;
    if (done) {
        find_last_uses(graph, number, last);
        collect_cuts(graph, last, ending, cuts);
    }
    mem_free(number);
    mem_free(last);
    mem_free(ending);
    return done ? GG_OK : error_nomem(err);
}

void
train_cuts_clear(struct train_cuts *cuts)
{
    mem_free(cuts->nodes);
    *cuts = (struct train_cuts){ NULL, 0 };
}

/* ---- copies of nodes ----------------------------------------------------- */

struct copying {
    const struct train_window_spec *spec;
    struct ggml_context *ctx;
    struct ggml_tensor **copies; /* by slot of the base graph */
};

/* The tensor that a copied node reads instead: weights and inputs are there
 * once. */
static struct ggml_tensor *
copy_of(const struct copying *c, struct ggml_tensor *t)
{
    struct ggml_tensor *copy;

    if (!t || t->op == GGML_OP_NONE)
        return t;
    if (t == c->spec->from)
        return c->spec->x;
    copy = c->copies[tensor_set_find(&c->spec->base->visited, t)];
    GGML_ASSERT(copy); /* a cut lets nothing else through */
    return copy;
}

static struct ggml_tensor *
copy_node(struct copying *c, struct ggml_tensor *t)
{
    struct ggml_tensor *view = copy_of(c, t->view_src);
    struct ggml_tensor *n =
        tensor_new(c->ctx, t->type, GGML_MAX_DIMS, t->ne, view, t->view_offs);

    memcpy(n->nb, t->nb, sizeof(n->nb));
    memcpy(n->op_params, t->op_params, sizeof(n->op_params));
    n->op = t->op;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        n->src[i] = copy_of(c, t->src[i]);
    ggml_set_name(n, t->name);
    return n;
}

/* Copies all; returns that of the last, or NULL. */
static struct ggml_tensor *
copy_nodes(struct ggml_context *ctx, const struct train_window_spec *s)
{
    struct copying c = { s, ctx, NULL };
    struct ggml_tensor *y = NULL;

    c.copies = mem_array(s->base->visited.mask + 1, sizeof(*c.copies));
    for (int i = s->first; c.copies && i < s->end; i++) {
        struct ggml_tensor *t = s->base->nodes[i];

        if (t->op == GGML_OP_NONE)
            continue;
        y = copy_node(&c, t);
        c.copies[tensor_set_find(&s->base->visited, t)] = y;
    }
    mem_free(c.copies);
    return y;
}

/* ---- gradients ----------------------------------------------------------- */

/* For each node, where its gradients are summed: parameters have such a place.
 */
static struct ggml_tensor **
sums_of(const struct ggml_cgraph *graph, const struct train_params *params)
{
    struct ggml_tensor **sums =
        mem_array((size_t)graph->n_nodes, sizeof(struct ggml_tensor *));

    for (int i = 0; sums && i < graph->n_nodes; i++) {
        const struct train_param *p = train_param_of(params, graph->nodes[i]);

        if (p)
            sums[i] = p->grad;
    }
    return sums;
}

enum gg_status
train_add_gradients(struct ggml_context *ctx, struct ggml_cgraph *graph,
                    struct ggml_tensor *loss, const struct train_params *params,
                    struct ggml_tensor **seed, struct gg_error *err)
{
    struct ggml_tensor **sums = sums_of(graph, params);

    bool done = sums && tensor_build_backward(ctx, graph, sums);

    mem_free(sums);
    if (!done)
        return error_nomem(err);
    *seed = ggml_graph_get_grad(graph, loss);
    ggml_set_input(*seed);
    return GG_OK;
}

static bool
has_parameters(const struct ggml_cgraph *graph)
{
    for (int i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i]->flags & GGML_TENSOR_FLAG_PARAM)
            return true;
    return false;
}

/* The gradient of sum(y * dy) with respect to y is dy: so what comes after
 * the window goes in by ops that have a gradient. */
static enum gg_status
add_gradients(struct train_window *w, const struct train_window_spec *s,
              struct gg_error *err)
{
    struct ggml_tensor *loss = ggml_sum(w->ctx, ggml_mul(w->ctx, w->y, s->dy));
    enum gg_status st;

    ggml_set_loss(loss);
    ggml_build_forward_expand(w->graph, loss);
    st = train_add_gradients(w->ctx, w->graph, loss, s->params, &w->seed, err);
    if (st == GG_OK && s->x && (s->x->flags & GGML_TENSOR_FLAG_PARAM)) {
        w->dx = ggml_graph_get_grad(w->graph, s->x);
        if (w->dx)
            ggml_set_output(w->dx);
    }
    return st;
}

static enum gg_status
make_graph(struct train_window *w, const struct train_window_spec *s,
           size_t size, struct gg_error *err)
{
    w->graph = ggml_new_graph_custom(w->ctx, size, true);
    w->y = copy_nodes(w->ctx, s);
    if (!w->y)
        return error_nomem(err);
    ggml_set_output(w->y);
    ggml_build_forward_expand(w->graph, w->y);
    w->n_forward = w->graph->n_nodes;
    return has_parameters(w->graph) ? add_gradients(w, s, err) : GG_OK;
}

enum gg_status
train_window_make(struct train_window *w, const struct train_window_spec *s,
                  struct gg_error *err)
{
    size_t size = GRADIENT_NODES * (size_t)(s->end - s->first) + NODES_OTHERS;
    struct ggml_init_params params = {
        .mem_size = size * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(size, true),
        .no_alloc = true,
    };
    enum gg_status st;

    *w = (struct train_window){ .ctx = ggml_init(params) };
    st = w->ctx ? make_graph(w, s, size, err) : error_nomem(err);
    if (st != GG_OK)
        train_window_clear(w);
    return st;
}

void
train_window_clear(struct train_window *w)
{
    ggml_free(w->ctx);
    *w = (struct train_window){ 0 };
}

/* ---- what has a gradient ------------------------------------------------- */

/* Whether a node is a parameter or made of one; `needs` tells of those before
 * it. */
static bool
needs_gradient(const struct ggml_cgraph *graph, const int *number,
               const bool *needs, int i)
{
    const struct ggml_tensor *t = graph->nodes[i];

    if (t->flags & GGML_TENSOR_FLAG_PARAM)
        return true;
    for (int j = 0; j < GGML_MAX_SRC; j++) {
        struct ggml_tensor *src = t->src[j];
        int n = src ? number[tensor_set_find(&graph->visited, src)] : -1;

        if (n >= 0 && needs[n])
            return true;
    }
    return false;
}

enum gg_status
train_check_ops(struct ggml_cgraph *graph, struct gg_error *err)
{
    int *number = slot_numbers(graph);
    bool *needs = mem_array((size_t)graph->n_nodes, sizeof(*needs));
    enum gg_status st = number && needs ? GG_OK : error_nomem(err);

    for (int i = 0; st == GG_OK && i < graph->n_nodes; i++) {
        const struct ggml_tensor *t = graph->nodes[i];

        needs[i] = needs_gradient(graph, number, needs, i);
        if (needs[i] && !tensor_backward_supports(t))
            st = error_set(err, GG_ERR_UNSUPPORTED,
                           "the model cannot be trained: %s (%s) has no "
                           "gradient here",
                           ggml_op_desc(t), t->name);
    }
    mem_free(number);
    mem_free(needs);
    return st;
}
