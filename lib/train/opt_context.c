/* opt_context.c - contexts of ggml-opt.h: made, asked, evaluated */
#include <math.h>

#include "core/mem.h"
#include "tensor/graph.h"
#include "train/opt.h"

struct ggml_opt_optimizer_params
ggml_opt_get_default_optimizer_params(void *userdata)
{
    (void)userdata;
    return (struct ggml_opt_optimizer_params){
        .adamw = { .alpha = 0.001f,
                   .beta1 = 0.9f,
                   .beta2 = 0.999f,
                   .eps = 1e-8f },
        .sgd = { .alpha = 0.001f },
    };
}

struct ggml_opt_optimizer_params
ggml_opt_get_constant_optimizer_params(void *userdata)
{
    return *(const struct ggml_opt_optimizer_params *)userdata;
}

struct ggml_opt_params
ggml_opt_default_params(ggml_backend_sched_t backend_sched,
                        enum ggml_opt_loss_type loss_type)
{
    return (struct ggml_opt_params){
        .backend_sched = backend_sched,
        .loss_type = loss_type,
        .build_type = GGML_OPT_BUILD_TYPE_OPT,
        .opt_period = 1,
        .get_opt_pars = ggml_opt_get_default_optimizer_params,
        .optimizer = GGML_OPT_OPTIMIZER_TYPE_ADAMW,
    };
}

ggml_opt_context_t
ggml_opt_init(struct ggml_opt_params params)
{
    struct ggml_opt_context *c = mem_zalloc(sizeof(*c));

    GGML_ASSERT(c && params.opt_period >= 1);
    GGML_ASSERT(!params.ctx_compute == !params.inputs &&
                !params.inputs == !params.outputs);
    GGML_ASSERT((unsigned)params.optimizer < GGML_OPT_OPTIMIZER_TYPE_COUNT);
    c->params = params;
    c->build_type = params.build_type;
    c->ctx_compute = params.ctx_compute;
    c->inputs = params.inputs;
    c->outputs = params.outputs;
    c->static_graphs = params.ctx_compute != NULL;
    if (c->static_graphs) {
        c->forward = ggml_new_graph_custom(c->ctx_compute,
                                           GGML_DEFAULT_GRAPH_SIZE, true);
        ggml_build_forward_expand(c->forward, c->outputs);
        train_opt_build(c);
    }
    return c;
}

void
ggml_opt_free(ggml_opt_context_t opt_ctx)
{
    if (!opt_ctx)
        return;
    ggml_backend_buffer_free(opt_ctx->buf_static);
    ggml_backend_buffer_free(opt_ctx->buf_cpu);
    ggml_free(opt_ctx->ctx_static);
    ggml_free(opt_ctx->ctx_cpu);
    ggml_free(opt_ctx->ctx_copy);
    mem_free(opt_ctx->slots);
    mem_free(opt_ctx);
}

void
ggml_opt_reset(ggml_opt_context_t opt_ctx, bool optimizer)
{
    train_opt_clear(opt_ctx, optimizer);
    if (optimizer)
        opt_ctx->n_steps = 0;
}

bool
ggml_opt_static_graphs(ggml_opt_context_t opt_ctx)
{
    return opt_ctx->static_graphs;
}

#define TENSOR(name)                                                           \
    struct ggml_tensor *ggml_opt_##name(ggml_opt_context_t opt_ctx)            \
    {                                                                          \
        return opt_ctx->name;                                                  \
    }
TENSOR(inputs)
TENSOR(outputs)
TENSOR(labels)
TENSOR(loss)
TENSOR(pred)
TENSOR(ncorrect)
#undef TENSOR

struct ggml_tensor *
ggml_opt_grad_acc(ggml_opt_context_t opt_ctx, struct ggml_tensor *node)
{
    const struct ggml_cgraph *g = opt_ctx->step ? opt_ctx->step : opt_ctx->grad;

    return g ? ggml_graph_get_grad_acc(g, node) : NULL;
}

enum ggml_opt_optimizer_type
ggml_opt_context_optimizer_type(ggml_opt_context_t c)
{
    return c->params.optimizer;
}

/* ---- evaluation -----------------------------------------------------------
 */

void
ggml_opt_prepare_alloc(ggml_opt_context_t opt_ctx,
                       struct ggml_context *ctx_compute, struct ggml_cgraph *gf,
                       struct ggml_tensor *inputs, struct ggml_tensor *outputs)
{
    GGML_ASSERT(!opt_ctx->static_graphs);
    opt_ctx->ctx_compute = ctx_compute;
    opt_ctx->forward = gf;
    opt_ctx->inputs = inputs;
    opt_ctx->outputs = outputs;
}

static struct ggml_cgraph *
graph_of(const struct ggml_opt_context *c, enum ggml_opt_build_type type)
{
    return type == GGML_OPT_BUILD_TYPE_FORWARD ? c->forward
           : type == GGML_OPT_BUILD_TYPE_GRAD  ? c->grad
                                               : c->step;
}

/* The last evaluation of a period ends in a step. */
static enum ggml_opt_build_type
next_build_type(const struct ggml_opt_context *c, bool backward)
{
    if (!backward)
        return GGML_OPT_BUILD_TYPE_FORWARD;
    return c->in_period + 1 == c->params.opt_period ? GGML_OPT_BUILD_TYPE_OPT
                                                    : GGML_OPT_BUILD_TYPE_GRAD;
}

/* A static graph is in memory that the scheduler gave it for another of the
 * three as long as that was used: its copy is what is placed. */
static void
allocate(struct ggml_opt_context *c, struct ggml_cgraph *g)
{
    ggml_backend_sched_reset(c->params.backend_sched);
    ggml_free(c->ctx_copy);
    c->ctx_copy = NULL;
    c->to_compute =
        c->static_graphs ? train_opt_copy_graph(g, &c->ctx_copy) : g;
    GGML_ASSERT(
        ggml_backend_sched_alloc_graph(c->params.backend_sched, c->to_compute));
    c->allocated = g;
}

void
ggml_opt_alloc(ggml_opt_context_t opt_ctx, bool backward)
{
    struct ggml_opt_context *c = opt_ctx;
    struct ggml_cgraph *g;

    GGML_ASSERT(!c->ready);
    c->build_type = next_build_type(c, backward);
    if (c->build_type > c->params.build_type)
        c->build_type = c->params.build_type;
    if (backward && c->in_period == 0 && c->buf_static &&
        c->params.build_type == GGML_OPT_BUILD_TYPE_OPT)
        train_opt_clear(c, false);
    if (!c->static_graphs)
        train_opt_build(c);
    g = graph_of(c, c->build_type);
    GGML_ASSERT(g);
    if (c->allocated != g)
        allocate(c, g);
    c->ready = true;
}

static void
set_adamw(struct ggml_opt_context *c,
          const struct ggml_opt_optimizer_params *all)
{
    float *p = ggml_get_data_f32(c->step_params);
    float t = (float)(c->n_steps + 1);

    GGML_ASSERT(all->adamw.alpha > 0 && all->adamw.eps >= 0);
    GGML_ASSERT(all->adamw.beta1 >= 0 && all->adamw.beta1 <= 1);
    GGML_ASSERT(all->adamw.beta2 >= 0 && all->adamw.beta2 <= 1);
    GGML_ASSERT(all->adamw.wd >= 0 && all->adamw.wd <= 1);
    p[0] = all->adamw.alpha;
    p[1] = all->adamw.beta1;
    p[2] = all->adamw.beta2;
    p[3] = all->adamw.eps;
    p[4] = all->adamw.wd;
    p[5] = 1 / (1 - powf(all->adamw.beta1, t));
    p[6] = 1 / (1 - powf(all->adamw.beta2, t));
}

static void
set_sgd(struct ggml_opt_context *c, const struct ggml_opt_optimizer_params *all)
{
    float *p = ggml_get_data_f32(c->step_params);

    GGML_ASSERT(all->sgd.alpha > 0 && all->sgd.wd >= 0 && all->sgd.wd <= 1);
    p[0] = all->sgd.alpha;
    p[1] = all->sgd.wd;
}

static void
set_step_params(struct ggml_opt_context *c)
{
    struct ggml_opt_optimizer_params p =
        c->params.get_opt_pars(c->params.get_opt_pars_ud);

    if (c->params.optimizer == GGML_OPT_OPTIMIZER_TYPE_ADAMW)
        set_adamw(c, &p);
    else
        set_sgd(c, &p);
}

/* Graphs that are not static are the caller's, who frees them. */
static void
forget_graphs(struct ggml_opt_context *c)
{
    c->forward = c->grad = c->step = NULL;
    c->allocated = c->to_compute = NULL;
}

void
ggml_opt_eval(ggml_opt_context_t opt_ctx, ggml_opt_result_t result)
{
    struct ggml_opt_context *c = opt_ctx;
    bool step = c->build_type == GGML_OPT_BUILD_TYPE_OPT;
    enum ggml_status status;

    GGML_ASSERT(c->ready);
    if (step)
        set_step_params(c);
    status = ggml_backend_sched_graph_compute(c->params.backend_sched,
                                              c->to_compute);
    GGML_ASSERT(status == GGML_STATUS_SUCCESS);
    c->n_steps += step;
    c->in_period = (c->in_period + 1) % c->params.opt_period;
    c->ready = false;
    if (result)
        train_opt_result_add(result, c);
    if (!c->static_graphs)
        forget_graphs(c);
}
