/* copy.c - a graph with its data once more, on another back end; comparing */
#include <string.h>

#include "backend/buffer.h"
#include "core/mem.h"
#include "sched/sched.h"
#include "tensor/tensor.h"

struct copier {
    struct ggml_backend_graph_copy out;
    struct tensor_set set; /* of the original's tensors */
    struct ggml_tensor **to;
};

static bool
init_copier(struct copier *c, const struct ggml_cgraph *g)
{
    /* Nodes, leafs, and what views are of. */
    size_t n = 2 * (size_t)(g->n_nodes + GGML_MAX_SRC * g->n_nodes);
    size_t slots = tensor_set_slots(2 * n);
    struct ggml_init_params params = {
        .mem_size = n * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom((size_t)g->n_nodes, false),
        .no_alloc = true,
    };

    memset(c, 0, sizeof(*c));
    c->set.mask = slots - 1;
    c->set.keys = mem_array(slots, sizeof(*c->set.keys));
    c->to = mem_array(slots, sizeof(*c->to));
    c->out.ctx_allocated = ggml_init(params);
    c->out.ctx_unallocated = ggml_init(params);
    return c->set.keys && c->to && c->out.ctx_allocated &&
           c->out.ctx_unallocated;
}

/* Views live in a context of their own, so that the other can be allocated
 * as a whole. */
static struct ggml_tensor *
copy_tensor(struct copier *c, struct ggml_tensor *t)
{
    size_t slot = tensor_set_find(&c->set, t);
    struct ggml_tensor *to;

    if (c->set.keys[slot])
        return c->to[slot];
    to = ggml_dup_tensor(
        t->view_src ? c->out.ctx_unallocated : c->out.ctx_allocated, t);
    c->set.keys[slot] = t;
    c->to[slot] = to;
    memcpy(to->nb, t->nb, sizeof(to->nb));
    memcpy(to->op_params, t->op_params, sizeof(to->op_params));
    memcpy(to->name, t->name, sizeof(to->name));
    to->op = t->op;
    to->flags = t->flags;
    to->view_offs = t->view_offs;
    if (t->view_src)
        to->view_src = copy_tensor(c, t->view_src);
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (t->src[i])
            to->src[i] = copy_tensor(c, t->src[i]);
    return to;
}

static bool
init_data(struct copier *c)
{
    for (size_t i = 0; i <= c->set.mask; i++) {
        struct ggml_tensor *from = c->set.keys[i], *to = c->to[i];

        if (!from)
            continue;
        if (from->view_src) {
            if (ggml_backend_view_init(to) != GGML_STATUS_SUCCESS)
                return false;
        } else if (from->data && from->op == GGML_OP_NONE) {
            ggml_backend_tensor_copy(from, to);
        }
    }
    return true;
}

static bool
copy_graph(struct copier *c, ggml_backend_t backend, struct ggml_cgraph *g)
{
    struct ggml_cgraph *to;

    if (!init_copier(c, g))
        return false;
    for (int i = 0; i < g->n_nodes; i++)
        copy_tensor(c, g->nodes[i]);
    c->out.buffer =
        ggml_backend_alloc_ctx_tensors(c->out.ctx_allocated, backend);
    if (!c->out.buffer || !init_data(c))
        return false;
    to = ggml_new_graph_custom(c->out.ctx_allocated, (size_t)g->n_nodes, false);
    for (int i = 0; i < g->n_nodes; i++)
        ggml_graph_add_node(to, copy_tensor(c, g->nodes[i]));
    c->out.graph = to;
    return true;
}

struct ggml_backend_graph_copy
ggml_backend_graph_copy(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    struct copier c;

    if (!copy_graph(&c, backend, graph)) {
        ggml_backend_graph_copy_free(c.out);
        memset(&c.out, 0, sizeof(c.out));
    }
    mem_free(c.set.keys);
    mem_free(c.to);
    return c.out;
}

void
ggml_backend_graph_copy_free(struct ggml_backend_graph_copy copy)
{
    ggml_backend_buffer_free(copy.buffer);
    ggml_free(copy.ctx_allocated);
    ggml_free(copy.ctx_unallocated);
}

static bool
is_wanted(const struct ggml_tensor *t, struct ggml_tensor const *const *list,
          size_t n)
{
    while (n-- > 0)
        if (list[n] == t)
            return true;
    return false;
}

/* Both compute all of it; then the listed nodes are shown. */
static void
compare_listed(ggml_backend_t backend1, ggml_backend_t backend2,
               struct ggml_cgraph *g1, struct ggml_cgraph *g2,
               ggml_backend_eval_callback callback, void *user_data,
               struct ggml_tensor const *const *list, size_t n)
{
    ggml_backend_graph_compute(backend1, g1);
    ggml_backend_graph_compute(backend2, g2);
    for (int i = 0; i < g1->n_nodes; i++)
        if (is_wanted(g1->nodes[i], list, n))
            callback(i, g1->nodes[i], g2->nodes[i], user_data);
}

bool
ggml_backend_compare_graph_backend(
    ggml_backend_t backend1, ggml_backend_t backend2, struct ggml_cgraph *graph,
    ggml_backend_eval_callback callback, void *user_data,
    struct ggml_tensor const *const *test_nodes, size_t num_test_nodes)
{
    struct ggml_backend_graph_copy copy =
        ggml_backend_graph_copy(backend2, graph);

    if (!copy.graph)
        return false;
    if (num_test_nodes)
        compare_listed(backend1, backend2, graph, copy.graph, callback,
                       user_data, test_nodes, num_test_nodes);
    for (int i = 0; !num_test_nodes && i < graph->n_nodes; i++) {
        struct ggml_cgraph one = tensor_graph_slice(graph, i, i + 1);
        struct ggml_cgraph two = tensor_graph_slice(copy.graph, i, i + 1);

        ggml_backend_graph_compute(backend1, &one);
        ggml_backend_graph_compute(backend2, &two);
        if (!tensor_is_view_op(graph->nodes[i]->op) &&
            !callback(i, graph->nodes[i], copy.graph->nodes[i], user_data))
            break;
    }
    ggml_backend_graph_copy_free(copy);
    return true;
}
