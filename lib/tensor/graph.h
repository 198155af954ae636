/* graph.h - a graph: tensors in the order in which they are computed
 *
 * It lies in a context's pool in one piece and holds pointers only. */
#ifndef TENSOR_GRAPH_H
#define TENSOR_GRAPH_H

#include <ggml.h>

/* An open-addressed set of tensors, by address; empty slots are NULL. */
struct tensor_set {
    size_t mask; /* number of slots - 1; a power of two, less 1 */
    struct ggml_tensor **keys;
};

/* The slots that a set needs to hold n tensors. */
size_t
tensor_set_slots(size_t n);

/* The slot where `key` is, or where it is to be put; the latter is empty.
 * Aborts if the set is full. */
static inline size_t
tensor_set_find(const struct tensor_set *set, const struct ggml_tensor *key)
{
    size_t hash = (size_t)((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20;
    size_t slot = hash & set->mask, first = slot;

    while (set->keys[slot] && set->keys[slot] != key) {
        slot = (slot + 1) & set->mask;
        GGML_ASSERT(slot != first);
    }
    return slot;
}

static inline bool
tensor_set_has(const struct tensor_set *set, const struct ggml_tensor *key)
{
    return set->keys[tensor_set_find(set, key)] != NULL;
}

struct ggml_cgraph {
    int size; /* room for nodes, and as many leafs */
    int n_nodes, n_leafs;
    struct ggml_tensor **nodes; /* to compute, each after its sources */
    struct ggml_tensor **leafs; /* constants and inputs */
    struct tensor_set visited;  /* nodes and leafs */
    int32_t *use_counts;        /* by slot of `visited`: as a source of nodes */
    /* Gradients of tensors, and those that gradients are added to; by slot of
     * `visited`. NULL: the graph has no room for them. */
    struct ggml_tensor **grads, **grad_accs;
    /* Not 0: no other graph has it, and as long as it stays, so do nodes,
     * parameters and addresses. */
    uint64_t serial;
};

/* Nodes [first, end) as a graph over the same arrays: no leafs, no room; use
 * counts are those of the whole. */
struct ggml_cgraph
tensor_graph_slice(struct ggml_cgraph *graph, int first, int end);

/* As if no gradients had been requested. */
void
tensor_graph_clear_grads(struct ggml_cgraph *graph);

/* How many times a tensor of the graph is a source in it. */
int
tensor_graph_use_count(const struct ggml_cgraph *graph,
                       const struct ggml_tensor *t);

#endif
