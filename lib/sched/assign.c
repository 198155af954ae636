/* assign.c - choosing who computes what
 *
 * In this order: where the caller pinned it; where its memory is; inputs on
 * the last back end (the CPU); where the weights that it reads are; what its
 * neighbours do, first those that are not on the CPU; the first that can. */
#include <string.h>

#include "backend/buffer.h"
#include "core/mem.h"
#include "sched/sched.h"
#include "tensor/tensor.h"

static bool
supports(const struct ggml_backend_sched *s, int id,
         const struct ggml_tensor *op)
{
    return ggml_backend_supports_op(s->backends[id], op);
}

static bool
uses_memory(const struct ggml_backend_sched *s, int id,
            ggml_backend_buffer_t buffer)
{
    return ggml_backend_supports_buft(s->backends[id],
                                      ggml_backend_buffer_get_type(buffer));
}

int
sched_from_memory(const struct ggml_backend_sched *s,
                  const struct ggml_tensor *t, const struct ggml_tensor *op)
{
    ggml_backend_buffer_t buffer = backend_buffer_of(t);

    for (int id = 0; buffer && id < s->n_backends; id++)
        if (uses_memory(s, id, buffer) &&
            (op->op == GGML_OP_NONE || supports(s, id, op)))
            return id;
    return SCHED_NONE;
}

static size_t
slot_of(struct ggml_backend_sched *s, struct ggml_tensor *t)
{
    size_t slot = tensor_set_find(&s->set, t);

    if (!s->set.keys[slot]) {
        s->set.keys[slot] = t;
        s->ids[slot] = SCHED_NONE;
    }
    return slot;
}

static signed char *
id_of(struct ggml_backend_sched *s, struct ggml_tensor *t)
{
    return &s->ids[slot_of(s, t)];
}

/* A back end that offers to compute this although the weights are on the
 * CPU. */
static int
offloaded(const struct ggml_backend_sched *s, const struct ggml_tensor *t,
          int id)
{
    for (int i = 0; s->op_offload && id == s->n_backends - 1 && i < id; i++)
        if (supports(s, i, t) && ggml_backend_offload_op(s->backends[i], t))
            return i;
    return id;
}

/* Divisors of frequencies, which all layers share, are too few to say where a
 * layer's queries and keys are turned. */
static int
from_weights(const struct ggml_backend_sched *s, const struct ggml_tensor *t)
{
    for (int j = 0; j < GGML_MAX_SRC && t->op != GGML_OP_ROPE; j++) {
        const struct ggml_tensor *src = t->src[j];
        ggml_backend_buffer_t buffer = src ? backend_buffer_of(src) : NULL;
        int id;

        if (!buffer || ggml_backend_buffer_get_usage(buffer) !=
                           GGML_BACKEND_BUFFER_USAGE_WEIGHTS)
            continue;
        id = sched_from_memory(s, src, t);
        if (id != SCHED_NONE)
            return offloaded(s, t, id);
    }
    return SCHED_NONE;
}

static int
from_itself(const struct ggml_backend_sched *s, const struct ggml_tensor *t)
{
    int id = sched_from_memory(s, t, t);

    if (id != SCHED_NONE)
        return id;
    if (backend_buffer_of(t) && !tensor_is_view_op(t->op))
        GGML_ABORT("no back end can compute %s (%s) where its memory is",
                   t->name, ggml_op_desc(t));
    if (t->flags & GGML_TENSOR_FLAG_INPUT)
        return s->n_backends - 1;
    return from_weights(s, t);
}

/* Spreads what is known to what is not, from node to node; with `no_cpu` from
 * other back ends than the last only. */
static void
spread(struct ggml_backend_sched *s, struct ggml_cgraph *g, bool backward,
       bool no_cpu)
{
    int current = SCHED_NONE;

    for (int k = 0; k < g->n_nodes; k++) {
        int i = backward ? g->n_nodes - 1 - k : k;
        struct ggml_tensor *t = g->nodes[i];
        signed char *id = &s->ids[s->slots[i]];

        if (tensor_is_view_op(t->op))
            continue;
        if (*id == SCHED_NONE && current != SCHED_NONE &&
            supports(s, current, t))
            *id = (signed char)current;
        else if (*id != SCHED_NONE)
            current = no_cpu && *id == s->n_backends - 1 ? SCHED_NONE : *id;
    }
}

static _Noreturn void
refuse_tensor(const struct ggml_tensor *t)
{
    GGML_ABORT("no back end can compute %s (%s)", t->name, ggml_op_desc(t));
}

/* The back end that can compute it and has most of its sources. */
static int
best_of_all(struct ggml_backend_sched *s, const struct ggml_tensor *t)
{
    int best = SCHED_NONE, most = -1;

    for (int id = 0; id < s->n_backends; id++) {
        int n = 0;

        if (!supports(s, id, t))
            continue;
        for (int j = 0; j < GGML_MAX_SRC; j++)
            if (t->src[j] && *id_of(s, t->src[j]) == id)
                n++;
        if (n > most) {
            most = n;
            best = id;
        }
    }
    if (best == SCHED_NONE)
        refuse_tensor(t);
    return best;
}

/* Views are where their source is; what has no place yet goes to its user. */
static void
settle_tensor(struct ggml_backend_sched *s, struct ggml_tensor *t, int user)
{
    signed char *id = id_of(s, t);

    if (*id != SCHED_NONE)
        return;
    if (t->view_src) {
        settle_tensor(s, t->view_src, user);
        user = *id_of(s, t->view_src);
    }
    *id = (signed char)user;
}

/* An op that works in place can only be computed where the memory is. */
static int
settle_in_place(struct ggml_backend_sched *s, struct ggml_tensor *t, int id)
{
    int owner = *id_of(s, t->view_src);

    if (owner == SCHED_NONE || backend_buffer_of(t))
        return id;
    if (!supports(s, owner, t))
        refuse_tensor(t);
    return owner;
}

static void
settle_all(struct ggml_backend_sched *s, struct ggml_cgraph *g)
{
    for (int i = 0; i < g->n_nodes; i++) {
        struct ggml_tensor *t = g->nodes[i];
        int id;

        if (tensor_is_view_op(t->op))
            continue; /* with its first user */
        id = s->ids[s->slots[i]];
        if (id == SCHED_NONE)
            id = best_of_all(s, t);
        if (t->view_src)
            id = settle_in_place(s, t, id);
        s->ids[s->slots[i]] = (signed char)id;
        for (int j = 0; j < GGML_MAX_SRC; j++)
            if (t->src[j])
                settle_tensor(s, t->src[j], id);
    }
    for (int i = 0; i < g->n_nodes; i++)
        if (s->ids[s->slots[i]] == SCHED_NONE)
            settle_tensor(s, g->nodes[i], s->n_backends - 1);
    for (int i = 0; i < g->n_leafs; i++)
        settle_tensor(s, g->leafs[i], s->n_backends - 1);
}

/* A tensor may be met that is neither node nor leaf: what a view is of. */
static bool
clear_set(struct ggml_backend_sched *s, const struct ggml_cgraph *g)
{
    size_t n = 2 * (size_t)(g->n_nodes + g->n_leafs) + s->n_pins;
    size_t slots = tensor_set_slots(2 * n);

    if (!s->set.keys || s->set.mask + 1 < slots) {
        mem_free(s->set.keys);
        mem_free(s->ids);
        s->set.keys = mem_array(slots, sizeof(*s->set.keys));
        s->ids = mem_array(slots, sizeof(*s->ids));
        s->set.mask = slots - 1;
        if (!s->set.keys || !s->ids) {
            mem_free(s->set.keys);
            s->set.keys = NULL;
            return false;
        }
    }
    memset(s->set.keys, 0, (s->set.mask + 1) * sizeof(*s->set.keys));
    return true;
}

static size_t
assign_known(struct ggml_backend_sched *s, struct ggml_tensor *t)
{
    size_t slot = slot_of(s, t);

    if (s->ids[slot] == SCHED_NONE)
        s->ids[slot] = (signed char)from_itself(s, t);
    return slot;
}

/* There is nothing to choose. */
static void
check_alone(const struct ggml_backend_sched *s, const struct ggml_cgraph *g)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (!tensor_is_view_op(g->nodes[i]->op) && !supports(s, 0, g->nodes[i]))
            refuse_tensor(g->nodes[i]);
}

bool
sched_assign(struct ggml_backend_sched *s, struct ggml_cgraph *graph)
{
    if (s->n_backends == 1) {
        check_alone(s, graph);
        return true;
    }
    if (!clear_set(s, graph) ||
        !mem_grow(&s->slots, &s->cap_slots, (size_t)graph->n_nodes,
                  sizeof(*s->slots)))
        return false;
    for (size_t i = 0; i < s->n_pins; i++)
        *id_of(s, (struct ggml_tensor *)s->pins[i].t) =
            (signed char)s->pins[i].backend;
    for (int i = 0; i < graph->n_leafs; i++)
        assign_known(s, graph->leafs[i]);
    for (int i = 0; i < graph->n_nodes; i++)
        s->slots[i] = assign_known(s, graph->nodes[i]);
    spread(s, graph, false, true);
    spread(s, graph, true, true);
    spread(s, graph, false, false);
    spread(s, graph, true, false);
    settle_all(s, graph);
    return true;
}
