/* graph.c - collecting a graph: depth first, each tensor once */
#include "tensor/graph.h"

#include <string.h>

#include "core/check.h"
#include "core/log.h"
#include "tensor/context.h"
#include "tensor/tensor.h"

size_t
tensor_set_slots(size_t n)
{
    size_t slots = 16;

    while (slots < n)
        slots *= 2;
    return slots;
}

/* Bytes of the object, and with g where its arrays lie. Pointers first, so
 * that all of them are aligned. */
static size_t
lay_out_graph(size_t size, bool grads, struct ggml_cgraph *g)
{
    size_t slots = tensor_set_slots(2 * size); /* nodes and leafs */
    size_t pointers = 2 * size + slots * (grads ? 3 : 1);

    if (g) {
        g->nodes = (void *)(g + 1);
        g->leafs = g->nodes + size;
        g->visited.keys = g->leafs + size;
        g->visited.mask = slots - 1;
        g->grads = grads ? g->visited.keys + slots : NULL;
        g->grad_accs = grads ? g->grads + slots : NULL;
        g->use_counts = (void *)(g->nodes + pointers);
    }
    return sizeof(*g) + pointers * sizeof(void *) + slots * sizeof(int32_t);
}

size_t
ggml_graph_overhead_custom(size_t size, bool grads)
{
    return sizeof(struct ggml_object) +
           GGML_PAD(lay_out_graph(size, grads, NULL), (size_t)GGML_MEM_ALIGN);
}

size_t
ggml_graph_overhead(void)
{
    return ggml_graph_overhead_custom(GGML_DEFAULT_GRAPH_SIZE, false);
}

struct ggml_cgraph *
ggml_new_graph_custom(struct ggml_context *ctx, size_t size, bool grads)
{
    struct ggml_cgraph *g;

    GGML_ASSERT(size <= INT32_MAX / 8);
    g = tensor_context_new_object(ctx, GGML_OBJECT_TYPE_GRAPH,
                                  lay_out_graph(size, grads, NULL));
    g->size = (int)size;
    lay_out_graph(size, grads, g);
    ggml_graph_clear(g);
    return g;
}

struct ggml_cgraph *
ggml_new_graph(struct ggml_context *ctx)
{
    return ggml_new_graph_custom(ctx, GGML_DEFAULT_GRAPH_SIZE, false);
}

void
ggml_graph_clear(struct ggml_cgraph *cgraph)
{
    cgraph->n_nodes = cgraph->n_leafs = 0;
    cgraph->serial = 0;
    memset(cgraph->visited.keys, 0,
           (cgraph->visited.mask + 1) * sizeof(*cgraph->visited.keys));
    tensor_graph_clear_grads(cgraph);
}

void
tensor_graph_clear_grads(struct ggml_cgraph *graph)
{
    size_t size = (graph->visited.mask + 1) * sizeof(*graph->grads);

    if (!graph->grads)
        return;
    memset(graph->grads, 0, size);
    memset(graph->grad_accs, 0, size);
}

static void
append(struct ggml_cgraph *g, struct ggml_tensor *t)
{
    bool leaf = t->op == GGML_OP_NONE && !(t->flags & GGML_TENSOR_FLAG_PARAM);
    int *n = leaf ? &g->n_leafs : &g->n_nodes;

    GGML_ASSERT(*n < g->size);
    if (!t->name[0])
        tensor_name_number(t, leaf ? "leaf_" : "node_", *n);
    (leaf ? g->leafs : g->nodes)[(*n)++] = t;
}

/* t is computed, and so are its sources, which are in the graph. */
static void
select_node(struct ggml_tensor *t)
{
    if (t->op == GGML_OP_NONE)
        return;
    t->flags |= GGML_TENSOR_FLAG_COMPUTE;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (t->src[i] && !(t->src[i]->flags & GGML_TENSOR_FLAG_COMPUTE))
            select_node(t->src[i]);
}

/* Appends t after its sources; returns its slot. Goes as deep as the graph
 * is, which the size that the caller gave it bounds. A cast is its own
 * source. */
static size_t
visit(struct ggml_cgraph *g, struct ggml_tensor *t, bool selected)
{
    size_t slot = tensor_set_find(&g->visited, t);

    if (g->visited.keys[slot]) {
        if (selected)
            select_node(t);
        return slot;
    }
    g->visited.keys[slot] = t;
    g->use_counts[slot] = 0;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (t->src[i] && t->src[i] != t)
            g->use_counts[visit(g, t->src[i], selected)]++;
    if (selected && t->op != GGML_OP_NONE)
        t->flags |= GGML_TENSOR_FLAG_COMPUTE;
    append(g, t);
    return slot;
}

void
ggml_build_forward_expand(struct ggml_cgraph *cgraph,
                          struct ggml_tensor *tensor)
{
    visit(cgraph, tensor, true);
}

void
ggml_build_forward_order(struct ggml_cgraph *cgraph, struct ggml_tensor *tensor)
{
    visit(cgraph, tensor, false);
}

struct ggml_tensor *
ggml_build_forward_select(struct ggml_cgraph *cgraph,
                          struct ggml_tensor **tensors, int n_tensors, int idx)
{
    GGML_ASSERT(idx >= 0 && idx < n_tensors);
    for (int i = 0; i < n_tensors; i++)
        visit(cgraph, tensors[i], i == idx);
    return tensors[idx];
}

void
ggml_graph_add_node(struct ggml_cgraph *cgraph, struct ggml_tensor *tensor)
{
    GGML_ASSERT(cgraph->n_nodes < cgraph->size);
    cgraph->nodes[cgraph->n_nodes++] = tensor;
}

/* Slots differ where sizes do. */
static void
copy_slots(const struct ggml_cgraph *src, struct ggml_cgraph *dst)
{
    for (size_t i = 0; i <= src->visited.mask; i++) {
        struct ggml_tensor *t = src->visited.keys[i];
        size_t to;

        if (!t)
            continue;
        to = tensor_set_find(&dst->visited, t);
        dst->visited.keys[to] = t;
        dst->use_counts[to] = src->use_counts[i];
        if (src->grads) {
            dst->grads[to] = src->grads[i];
            dst->grad_accs[to] = src->grad_accs[i];
        }
    }
}

void
ggml_graph_cpy(struct ggml_cgraph *src, struct ggml_cgraph *dst)
{
    GGML_ASSERT(dst->size >= src->n_nodes && dst->size >= src->n_leafs);
    GGML_ASSERT(dst->visited.mask >= src->visited.mask);
    GGML_ASSERT(dst->grads || !src->grads);
    ggml_graph_clear(dst);
    dst->n_nodes = src->n_nodes;
    dst->n_leafs = src->n_leafs;
    memcpy(dst->nodes, src->nodes, (size_t)src->n_nodes * sizeof(*dst->nodes));
    memcpy(dst->leafs, src->leafs, (size_t)src->n_leafs * sizeof(*dst->leafs));
    copy_slots(src, dst);
}

struct ggml_cgraph *
ggml_graph_dup(struct ggml_context *ctx, struct ggml_cgraph *cgraph,
               bool force_grads)
{
    struct ggml_cgraph *dup = ggml_new_graph_custom(
        ctx, (size_t)cgraph->size, cgraph->grads || force_grads);

    ggml_graph_cpy(cgraph, dup);
    return dup;
}

static struct ggml_tensor *
find_grad(const struct ggml_cgraph *g, struct ggml_tensor **grads,
          const struct ggml_tensor *node)
{
    size_t slot;

    if (!grads)
        return NULL;
    slot = tensor_set_find(&g->visited, node);
    return g->visited.keys[slot] ? grads[slot] : NULL;
}

struct ggml_tensor *
ggml_graph_get_grad(const struct ggml_cgraph *cgraph,
                    const struct ggml_tensor *node)
{
    return find_grad(cgraph, cgraph->grads, node);
}

struct ggml_tensor *
ggml_graph_get_grad_acc(const struct ggml_cgraph *cgraph,
                        const struct ggml_tensor *node)
{
    return find_grad(cgraph, cgraph->grad_accs, node);
}

struct ggml_cgraph
tensor_graph_slice(struct ggml_cgraph *graph, int first, int end)
{
    struct ggml_cgraph slice = *graph;

    slice.size = slice.n_leafs = 0;
    slice.leafs = NULL;
    slice.nodes = graph->nodes + first;
    slice.n_nodes = end - first;
    return slice;
}

int
tensor_graph_use_count(const struct ggml_cgraph *graph,
                       const struct ggml_tensor *t)
{
    size_t slot = tensor_set_find(&graph->visited, t);

    return graph->visited.keys[slot] ? graph->use_counts[slot] : 0;
}

int
ggml_graph_size(struct ggml_cgraph *cgraph)
{
    return cgraph->size;
}

/* Negative i counts from the end. */
struct ggml_tensor *
ggml_graph_node(struct ggml_cgraph *cgraph, int i)
{
    if (i < 0)
        i += cgraph->n_nodes;
    GGML_ASSERT(i >= 0 && i < cgraph->n_nodes);
    return cgraph->nodes[i];
}

struct ggml_tensor **
ggml_graph_nodes(struct ggml_cgraph *cgraph)
{
    return cgraph->nodes;
}

int
ggml_graph_n_nodes(struct ggml_cgraph *cgraph)
{
    return cgraph->n_nodes;
}

static struct ggml_tensor *
find_named(struct ggml_tensor **array, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(array[i]->name, name) == 0)
            return array[i];
    return NULL;
}

struct ggml_tensor *
ggml_graph_get_tensor(const struct ggml_cgraph *cgraph, const char *name)
{
    struct ggml_tensor *t = find_named(cgraph->leafs, cgraph->n_leafs, name);

    return t ? t : find_named(cgraph->nodes, cgraph->n_nodes, name);
}
