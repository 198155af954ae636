/* backward.c - the backward pass: from the loss to what is to be optimised */
#include "tensor/backward.h"

#include "core/mem.h"
#include "tensor/tensor.h"

static bool
has_flag(const struct ggml_cgraph *g, enum ggml_tensor_flag flag)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i]->flags & flag)
            return true;
    return false;
}

/* An op that works in the memory of another would change what gradients
 * need. */
static bool
keeps_its_sources(const struct ggml_tensor *t)
{
    return !t->view_src || tensor_is_view_op(t->op) || t->op == GGML_OP_CPY ||
           t->op == GGML_OP_SET_ROWS;
}

static bool
is_needed(const struct backward *b, const struct ggml_tensor *t)
{
    bool needed = t->flags & (GGML_TENSOR_FLAG_PARAM | GGML_TENSOR_FLAG_LOSS);

    for (int i = 0; i < GGML_MAX_SRC && !needed; i++)
        needed = t->src[i] != t && tensor_backward_wants(b, t->src[i]) &&
                 !tensor_backward_ends_at(t, i);
    return needed && t->type != GGML_TYPE_I32 && t->type != GGML_TYPE_I64;
}

/* The loss has a gradient from the start: ggml_graph_reset() makes it one. It
 * is kept, as a graph may be computed again. */
static void
start_grad(struct backward *b, struct ggml_tensor *t, struct ggml_tensor *acc)
{
    size_t slot = tensor_backward_slot(b, t);

    if (!acc && t->flags & GGML_TENSOR_FLAG_LOSS) {
        acc = ggml_new_tensor(b->ctx, GGML_TYPE_F32, GGML_MAX_DIMS, t->ne);
        ggml_set_output(acc);
    }
    b->graph->grad_accs[slot] = b->graph->grads[slot] = acc;
}

static void
mark_needed(struct backward *b, struct ggml_tensor **grad_accs)
{
    for (int i = 0; i < b->graph->n_nodes; i++) {
        struct ggml_tensor *t = b->graph->nodes[i];

        if (!is_needed(b, t))
            continue;
        GGML_ASSERT(t->type == GGML_TYPE_F32 || t->type == GGML_TYPE_F16 ||
                    t->type == GGML_TYPE_BF16);
        GGML_ASSERT(keeps_its_sources(t));
        b->needed[tensor_backward_slot(b, t)] = true;
        start_grad(b, t, grad_accs ? grad_accs[i] : NULL);
    }
}

static bool
any_source_wanted(const struct backward *b, const struct ggml_tensor *t)
{
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (t->src[i] != t && tensor_backward_wants(b, t->src[i]) &&
            !tensor_backward_ends_at(t, i))
            return true;
    return false;
}

static void
hand_on(struct backward *b, struct ggml_tensor *t)
{
    struct ggml_tensor *grad = ggml_graph_get_grad(b->graph, t);
    tensor_backward_rule rule = tensor_backward_rule_of(t);

    if (!grad || !any_source_wanted(b, t))
        return;
    if (!rule)
        GGML_ABORT("no backward pass through %s", ggml_op_desc(t));
    rule(b, t, grad);
}

bool
tensor_build_backward(struct ggml_context *ctx, struct ggml_cgraph *cgraph,
                      struct ggml_tensor **grad_accs)
{
    struct backward b = { .ctx = ctx, .graph = cgraph };

    GGML_ASSERT(cgraph->n_nodes > 0 && cgraph->grads);
    if (!has_flag(cgraph, GGML_TENSOR_FLAG_PARAM))
        GGML_ABORT("no parameters: ggml_set_param() says what they are");
    if (!has_flag(cgraph, GGML_TENSOR_FLAG_LOSS))
        GGML_ABORT("no loss: ggml_set_loss() says what it is");
    tensor_graph_clear_grads(cgraph);
    b.needed = mem_array(cgraph->visited.mask + 1, sizeof(*b.needed));
    if (!b.needed)
        return false;
    mark_needed(&b, grad_accs);
    for (int i = cgraph->n_nodes - 1; i >= 0; i--)
        hand_on(&b, cgraph->nodes[i]);
    mem_free(b.needed);
    return true;
}

void
ggml_build_backward_expand(struct ggml_context *ctx, struct ggml_cgraph *cgraph,
                           struct ggml_tensor **grad_accs)
{
    bool done = tensor_build_backward(ctx, cgraph, grad_accs);

    GGML_ASSERT(done);
}
