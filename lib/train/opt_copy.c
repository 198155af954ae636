/* opt_copy.c - a copy of a graph, tensor by tensor */
#include "core/mem.h"
#include "tensor/graph.h"
#include "train/opt.h"

struct copying {
    struct ggml_context *ctx;
    struct tensor_set done;
    struct ggml_tensor **copies; /* by slot of `done` */
};

/* The copy has data and buffer of the original, if that has some. */
static struct ggml_tensor *
copy_of(struct copying *c, struct ggml_tensor *t)
{
    size_t slot;
    struct ggml_tensor *copy;

    if (!t)
        return NULL;
    slot = tensor_set_find(&c->done, t);
    if (c->done.keys[slot])
        return c->copies[slot];
    copy = ggml_dup_tensor(c->ctx, t);
    c->done.keys[slot] = t;
    c->copies[slot] = copy;
    *copy = *t;
    copy->view_src = copy_of(c, t->view_src);
    for (int i = 0; i < GGML_MAX_SRC; i++)
        copy->src[i] = copy_of(c, t->src[i]);
    return copy;
}

/* Sources come before what they are sources of, so that nothing goes deep. */
struct ggml_cgraph *
train_opt_copy_graph(const struct ggml_cgraph *g, struct ggml_context **ctx)
{
    size_t n = 2 * (size_t)(g->n_nodes + g->n_leafs), size = (size_t)g->size;
    size_t slots = tensor_set_slots(2 * n);
    struct ggml_init_params params = { .mem_size = n * ggml_tensor_overhead() +
                                                   ggml_graph_overhead_custom(
                                                       size, false),
                                       .no_alloc = true };
    struct copying c = { .ctx = ggml_init(params),
                         .done = { slots - 1,
                                   mem_array(slots, sizeof(*c.done.keys)) },
                         .copies = mem_array(slots, sizeof(*c.copies)) };
    struct ggml_cgraph *copy;

    GGML_ASSERT(c.ctx && c.done.keys && c.copies);
    copy = ggml_new_graph_custom(c.ctx, size, false);
    for (int i = 0; i < g->n_leafs; i++)
        ggml_build_forward_expand(copy, copy_of(&c, g->leafs[i]));
    for (int i = 0; i < g->n_nodes; i++)
        ggml_build_forward_expand(copy, copy_of(&c, g->nodes[i]));
    mem_free(c.done.keys);
    mem_free(c.copies);
    *ctx = c.ctx;
    return copy;
}
