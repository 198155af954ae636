/* backward_grads.c - gradients that a backward rule adds */
#include "tensor/backward.h"

#include "tensor/tensor.h"

size_t
tensor_backward_slot(const struct backward *b, const struct ggml_tensor *t)
{
    size_t slot = tensor_set_find(&b->graph->visited, t);

    GGML_ASSERT(b->graph->visited.keys[slot]);
    return slot;
}

bool
tensor_backward_wants(const struct backward *b, const struct ggml_tensor *src)
{
    return src && tensor_set_has(&b->graph->visited, src) &&
           b->needed[tensor_backward_slot(b, src)];
}

/* Nodes of gradients come after all that they are made of. */
static void
set_grad(struct backward *b, struct ggml_tensor *src, struct ggml_tensor *grad)
{
    ggml_format_name(grad, "grad for %s", src->name);
    b->graph->grads[tensor_backward_slot(b, src)] = grad;
    ggml_build_forward_expand(b->graph, grad);
}

/* A gradient that others are added to stays where it is. */
void
tensor_backward_add(struct backward *b, struct ggml_tensor *src,
                    struct ggml_tensor *grad)
{
    struct ggml_tensor *sum = ggml_graph_get_grad(b->graph, src);

    GGML_ASSERT(ggml_are_same_shape(src, grad));
    if (!sum)
        set_grad(b, src, grad);
    else if (ggml_graph_get_grad_acc(b->graph, src))
        set_grad(b, src, ggml_add_inplace(b->ctx, sum, grad));
    else
        set_grad(b, src, ggml_add(b->ctx, sum, grad));
}

void
tensor_backward_add_repeated(struct backward *b, struct ggml_tensor *src,
                             struct ggml_tensor *grad)
{
    if (!tensor_backward_wants(b, src))
        return;
    if (!ggml_are_same_shape(src, grad))
        grad = ggml_repeat_back(b->ctx, grad, src);
    tensor_backward_add(b, src, grad);
}

void
tensor_backward_add_part(struct backward *b, struct ggml_tensor *src,
                         struct ggml_tensor *grad, const size_t nb[3],
                         size_t offset)
{
    struct ggml_tensor *sum = ggml_graph_get_grad(b->graph, src);
    bool stays = ggml_graph_get_grad_acc(b->graph, src) != NULL;

    if (!sum)
        sum = ggml_fill(b->ctx,
                        ggml_new_tensor(b->ctx, GGML_TYPE_F32, 4, src->ne), 0);
    set_grad(
        b, src,
        stays ? ggml_acc_inplace(b->ctx, sum, grad, nb[0], nb[1], nb[2], offset)
              : ggml_acc(b->ctx, sum, grad, nb[0], nb[1], nb[2], offset));
}
