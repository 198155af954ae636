/* sched.h - the scheduler's parts: who computes what, in which pieces
 *
 * A back end is known by its index; a lower one is preferred. */
#ifndef SCHED_SCHED_H
#define SCHED_SCHED_H

#include <ggml-backend.h>

#include "tensor/graph.h"

enum {
    SCHED_MAX_BACKENDS = 16,
    SCHED_NONE = -1
};

/* A tensor that another back end needs, and its copy over there. */
struct sched_copy {
    struct ggml_tensor *from, *to;
    int from_backend, to_backend;
};

/* Nodes in a row on one back end, and the copies to make before them. */
struct sched_split {
    int backend;
    int first, end;           /* nodes of the scheduler's own graph */
    int first_copy, end_copy; /* of the list of copies */
};

struct sched_pin {
    const struct ggml_tensor *t;
    int backend;
};

struct ggml_backend_sched {
    int n_backends;
    ggml_backend_t backends[SCHED_MAX_BACKENDS];
    ggml_backend_buffer_type_t bufts[SCHED_MAX_BACKENDS];
    bool op_offload;
    ggml_gallocr_t galloc;
    ggml_backend_sched_eval_callback callback;
    void *callback_data;

    struct sched_pin *pins;
    size_t n_pins, cap_pins;

    /* The graph that was split last. */
    struct tensor_set set; /* its tensors, and */
    signed char *ids;      /* by slot, who computes or holds them */
    size_t *slots;         /* of its nodes */
    size_t cap_slots;
    struct sched_split *splits;
    size_t n_splits, cap_splits;
    struct sched_copy *copies;
    size_t n_copies, cap_copies;
    struct ggml_context *ctx; /* of the copies */
    /* Nodes and leafs of the caller's graph with copies put in front of the
     * splits that need them, and the back end of each. */
    struct ggml_cgraph graph;
    size_t cap_nodes, cap_leafs;
    int *node_ids, *leaf_ids;
    size_t cap_node_ids, cap_leaf_ids;
    /* The ids that the memory was planned for. */
    int *planned_node_ids, *planned_leaf_ids;
    int n_planned_nodes, n_planned_leafs;
    size_t cap_planned_nodes, cap_planned_leafs;

    const struct ggml_cgraph *allocated; /* the caller's graph, or NULL */
    uint64_t serial; /* of its first split; the others' follow */
};

/* The back end of a tensor, or SCHED_NONE. Where there is one, the set stays
 * empty. */
static inline int
sched_id(const struct ggml_backend_sched *s, const struct ggml_tensor *t)
{
    size_t slot;

    if (s->n_backends == 1)
        return 0;
    slot = tensor_set_find(&s->set, t);
    return s->set.keys[slot] ? s->ids[slot] : SCHED_NONE;
}

/* The back end of the graph's i-th node. */
static inline int
sched_node_id(const struct ggml_backend_sched *s, int i)
{
    return s->n_backends == 1 ? 0 : s->ids[s->slots[i]];
}

/* The first back end that can use a tensor's memory and, if it is computed,
 * compute it; SCHED_NONE if it has no memory yet, or none can. */
int
sched_from_memory(const struct ggml_backend_sched *s,
                  const struct ggml_tensor *t, const struct ggml_tensor *op);

/* Takes the copies of the last split out of a graph's sources again. */
void
sched_restore(struct ggml_backend_sched *s, struct ggml_cgraph *graph);

/* Chooses a back end for each tensor of the graph; false: no memory. Aborts
 * if no back end can compute a node. */
bool
sched_assign(struct ggml_backend_sched *s, struct ggml_cgraph *graph);

/* Cuts the graph where the back end changes, and puts copies into the sources
 * of nodes that cannot use the original; false: no memory. */
bool
sched_split(struct ggml_backend_sched *s, struct ggml_cgraph *graph);

/* The failure of a device, in words; NULL: none has failed. */
const char *
sched_error(const struct ggml_backend_sched *s);

/* ggml_backend_sched_reserve_size(); false: no memory for the plan. */
bool
sched_measure(struct ggml_backend_sched *s, struct ggml_cgraph *graph,
              size_t *sizes);

#endif
