/* plan.h - which tensors of a graph lie where, worked out before there is
 * memory
 *
 * A tensor's memory is handed to others after the last node that needs it,
 * directly or through a view. Results that nothing in the graph reads, and
 * outputs, keep theirs; leafs and inputs have theirs from the start. An op
 * that works element by element may write over a source that ends with it.
 *
 * A plan made for one graph serves every graph of the same structure whose
 * tensors are not larger. */
#ifndef ALLOC_PLAN_H
#define ALLOC_PLAN_H

#include <ggml-backend.h>

#include "alloc/arena.h"
#include "tensor/graph.h"

struct plan_item {
    struct ggml_tensor *t; /* of the latest graph */
    int owner;             /* the item whose memory this is; may be itself */
    int32_t flags;
    bool used; /* a node reads it */
    /* The rest is about owners. */
    bool ours; /* memory is planned for it; else it had its own */
    bool kept; /* for good */
    bool placed, gone;
    int last;   /* node that needs it last, or -1 */
    int buffer; /* id, as the caller counts */
    size_t size;
    struct arena_place at;
};

/* A tensor whose memory is kept until a node has been computed, as if that
 * read it. */
struct plan_dep {
    struct ggml_tensor *t, *until;
};

struct plan {
    struct plan_item *items;
    size_t n_items, cap_items;
    struct tensor_set set;
    int *index; /* of items, by slot of the set */
    /* The structure: items in the order in which leafs, nodes and sources
     * are met; TRACE_END closes a node. */
    int *trace;
    size_t n_trace, cap_trace;
    signed char *shares; /* by node: the source it writes over, or -1 */
    size_t cap_shares;
    struct plan_dep *deps;
    size_t n_deps, cap_deps;
    bool stay; /* no node writes over a source that has another buffer id */
    bool valid;
};

/* The meaning of a caller's buffer id. */
struct plan_buffer {
    ggml_backend_buffer_type_t buft;
    struct arena *arena; /* several ids may have one */
};

/* Plans a graph: ids say which buffer each node and leaf goes to (NULL: the
 * first). The arenas are to be empty. False: no memory. */
bool
alloc_plan_make(struct plan *p, struct plan_buffer *buffers,
                const struct ggml_cgraph *graph, const int *node_ids,
                const int *leaf_ids);

/* True if the plan serves this graph; then the items' tensors are its. */
bool
alloc_plan_fits(struct plan *p, const struct plan_buffer *buffers,
                const struct ggml_cgraph *graph);

void
alloc_plan_clear(struct plan *p);

#endif
