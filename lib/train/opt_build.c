/* opt_build.c - graphs of ggml-opt.h: loss, gradients, steps */
#include "core/mem.h"
#include "tensor/graph.h"
#include "train/opt.h"

static bool
is_param(const struct ggml_tensor *t)
{
    return (t->flags & GGML_TENSOR_FLAG_PARAM) != 0;
}

/* A step after each evaluation uses gradients where they are. */
bool
train_opt_accumulates(const struct ggml_opt_context *c)
{
    const struct ggml_opt_params *p = &c->params;

    return p->build_type == GGML_OPT_BUILD_TYPE_GRAD ||
           (p->build_type == GGML_OPT_BUILD_TYPE_OPT && p->opt_period > 1);
}

static bool
has_moments(const struct ggml_opt_context *c)
{
    return c->params.build_type == GGML_OPT_BUILD_TYPE_OPT &&
           c->params.optimizer == GGML_OPT_OPTIMIZER_TYPE_ADAMW;
}

/* ---- the loss -------------------------------------------------------------
 */

static struct ggml_tensor *
set_tensor_name(struct ggml_tensor *t, const char *name)
{
    return ggml_set_name(t, name);
}

/* A step sees the mean of its evaluations. */
static struct ggml_tensor *
share_of_step(const struct ggml_opt_context *c, struct ggml_context *ctx,
              struct ggml_tensor *sum, int64_t n)
{
    float share = 1 / ((float)c->params.opt_period * (float)n);

    return share < 1 ? ggml_scale(ctx, sum, share) : sum;
}

static struct ggml_tensor *
new_labels(const struct ggml_opt_context *c, struct ggml_context *ctx)
{
    struct ggml_tensor *labels = ggml_dup_tensor(ctx, c->outputs);

    ggml_set_input(labels);
    return set_tensor_name(labels, "labels");
}

static struct ggml_tensor *
squared_error(struct ggml_opt_context *c, struct ggml_context *ctx)
{
    struct ggml_tensor *error = ggml_sub(ctx, c->outputs, c->labels);

    error = ggml_sum(ctx, ggml_sqr(ctx, error));
    return share_of_step(c, ctx, error, ggml_nelements(c->outputs));
}

static struct ggml_tensor *
make_loss(struct ggml_opt_context *c, struct ggml_context *ctx)
{
    enum ggml_opt_loss_type type = c->params.loss_type;
    struct ggml_tensor *loss;

    c->loss_per_datapoint = type != GGML_OPT_LOSS_TYPE_SUM;
    if (type == GGML_OPT_LOSS_TYPE_CROSS_ENTROPY ||
        type == GGML_OPT_LOSS_TYPE_MEAN_SQUARED_ERROR)
        c->labels = new_labels(c, ctx);
    switch (type) {
    case GGML_OPT_LOSS_TYPE_CROSS_ENTROPY:
        loss = ggml_cross_entropy_loss(ctx, c->outputs, c->labels);
        return share_of_step(c, ctx, loss, 1);
    case GGML_OPT_LOSS_TYPE_MEAN_SQUARED_ERROR:
        return squared_error(c, ctx);
    case GGML_OPT_LOSS_TYPE_MEAN:
        loss = ggml_sum(ctx, c->outputs);
        return share_of_step(c, ctx, loss, ggml_nelements(c->outputs));
    default:
        return ggml_sum(ctx, c->outputs);
    }
}

static void
add_output(struct ggml_opt_context *c, struct ggml_tensor *t, const char *name)
{
    ggml_set_output(set_tensor_name(t, name));
    ggml_build_forward_expand(c->forward, t);
}

/* The class of a point is its greatest output. */
static void
build_loss(struct ggml_opt_context *c)
{
    struct ggml_context *ctx =
        c->static_graphs ? c->ctx_static : c->ctx_compute;

    c->loss = make_loss(c, ctx);
    ggml_set_loss(c->loss);
    add_output(c, c->loss, "loss");
    if (c->params.loss_type != GGML_OPT_LOSS_TYPE_CROSS_ENTROPY)
        return;
    c->pred = ggml_argmax(ctx, c->outputs);
    add_output(c, c->pred, "pred");
    c->ncorrect = ggml_count_equal(ctx, c->pred, ggml_argmax(ctx, c->labels));
    add_output(c, c->ncorrect, "ncorrect");
}

/* ---- what outlives a graph ------------------------------------------------
 */

static int
count_params(const struct ggml_cgraph *g)
{
    int n = 0;

    for (int i = 0; i < g->n_nodes; i++) {
        GGML_ASSERT(!(g->nodes[i]->flags & GGML_TENSOR_FLAG_LOSS));
        n += is_param(g->nodes[i]);
    }
    return n;
}

static struct ggml_tensor *
like(struct ggml_opt_context *c, const struct ggml_tensor *t,
     const char *format)
{
    struct ggml_tensor *x =
        ggml_new_tensor(c->ctx_static, GGML_TYPE_F32, GGML_MAX_DIMS, t->ne);

    return ggml_format_name(x, format, t->name);
}

static void
make_slots(struct ggml_opt_context *c)
{
    struct opt_slots *s = c->slots;

    c->loss_acc = like(c, c->loss, "gradient of %s");
    for (int i = 0; i < c->forward->n_nodes; i++) {
        const struct ggml_tensor *t = c->forward->nodes[i];

        if (!is_param(t))
            continue;
        if (train_opt_accumulates(c))
            s->acc = like(c, t, "gradient of %s");
        if (has_moments(c)) {
            s->m = like(c, t, "AdamW m for %s");
            s->v = like(c, t, "AdamW v for %s");
        }
        s++;
    }
}

/* Room for three tensors a parameter, and for the results of static graphs. */
static void
start_static(struct ggml_opt_context *c)
{
    if (c->ctx_static)
        return;
    c->n_slots = count_params(c->forward);
    c->ctx_static = train_opt_new_context(3 * (size_t)c->n_slots + 12);
    c->slots = mem_array((size_t)c->n_slots + 1, sizeof(*c->slots));
    GGML_ASSERT(c->slots);
}

static void
finish_static(struct ggml_opt_context *c)
{
    if (c->buf_static || !ggml_get_first_tensor(c->ctx_static))
        return;
    c->buf_static = ggml_backend_alloc_ctx_tensors(
        c->ctx_static,
        ggml_backend_sched_get_backend(c->params.backend_sched, 0));
    GGML_ASSERT(c->buf_static);
    train_opt_clear(c, true);
}

static void
zero(struct ggml_tensor *t)
{
    if (t)
        ggml_set_zero(t);
}

void
train_opt_clear(struct ggml_opt_context *c, bool moments)
{
    const float one = 1;

    if (c->loss_acc)
        ggml_backend_tensor_set(c->loss_acc, &one, 0, sizeof(one));
    for (int i = 0; i < c->n_slots; i++) {
        zero(c->slots[i].acc);
        zero(moments ? c->slots[i].m : NULL);
        zero(moments ? c->slots[i].v : NULL);
    }
}

/* ---- gradients and steps --------------------------------------------------
 */

static void
build_grad(struct ggml_opt_context *c)
{
    int n = c->forward->n_nodes, slot = 0;
    struct ggml_tensor **accs = mem_array((size_t)n, sizeof(*accs));

    GGML_ASSERT(accs);
    for (int i = 0; i < n; i++) {
        const struct ggml_tensor *t = c->forward->nodes[i];

        if (is_param(t))
            accs[i] = c->slots[slot++].acc;
        else if (t == c->loss)
            accs[i] = c->loss_acc;
    }
    c->grad = ggml_graph_dup(c->ctx_compute, c->forward, true);
    ggml_build_backward_expand(c->ctx_compute, c->grad, accs);
    mem_free(accs);
}

static struct ggml_tensor *
step_of(struct ggml_opt_context *c, struct ggml_tensor *t,
        struct ggml_tensor *grad, const struct opt_slots *s)
{
    if (c->params.optimizer == GGML_OPT_OPTIMIZER_TYPE_ADAMW)
        return ggml_opt_step_adamw(c->ctx_compute, t, grad, s->m, s->v,
                                   c->step_params);
    return ggml_opt_step_sgd(c->ctx_compute, t, grad, c->step_params);
}

static void
make_step_params(struct ggml_opt_context *c)
{
    if (c->step_params)
        return;
    c->ctx_cpu = train_opt_new_context(1);
    c->step_params =
        ggml_new_tensor_1d(c->ctx_cpu, GGML_TYPE_F32, has_moments(c) ? 7 : 2);
    ggml_set_input(c->step_params);
    ggml_format_name(c->step_params, "%s_params",
                     ggml_opt_optimizer_name(c->params.optimizer));
    c->buf_cpu = ggml_backend_alloc_ctx_tensors_from_buft(
        c->ctx_cpu, ggml_backend_cpu_buffer_type());
    GGML_ASSERT(c->buf_cpu);
}

static void
build_step(struct ggml_opt_context *c)
{
    int slot = 0;

    make_step_params(c);
    c->step = ggml_graph_dup(c->ctx_compute, c->grad, true);
    for (int i = 0; i < c->forward->n_nodes; i++) {
        struct ggml_tensor *t = c->forward->nodes[i], *grad, *step;

        if (!is_param(t))
            continue;
        grad = ggml_graph_get_grad(c->grad, t);
        if (grad) {
            step = step_of(c, t, grad, &c->slots[slot]);
            ggml_format_name(step, "%s step for %s",
                             ggml_opt_optimizer_name(c->params.optimizer),
                             t->name);
            ggml_build_forward_expand(c->step, step);
        }
        slot++;
    }
}

void
train_opt_build(struct ggml_opt_context *c)
{
    GGML_ASSERT(c->ctx_compute && c->forward);
    GGML_ASSERT(!c->static_graphs || c->inputs->data);
    GGML_ASSERT(c->build_type <= c->params.build_type);
    ggml_set_input(c->inputs);
    ggml_set_output(c->outputs);
    start_static(c);
    build_loss(c);
    if (!c->loss_acc && c->params.build_type > GGML_OPT_BUILD_TYPE_FORWARD)
        make_slots(c);
    finish_static(c);
    if (c->build_type >= GGML_OPT_BUILD_TYPE_GRAD)
        build_grad(c);
    if (c->build_type >= GGML_OPT_BUILD_TYPE_OPT)
        build_step(c);
}
