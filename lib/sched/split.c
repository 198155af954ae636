/* split.c - pieces of a graph for one back end each, with copies between */
#include <string.h>

#include "backend/buffer.h"
#include "core/mem.h"
#include "sched/sched.h"
#include "tensor/tensor.h"

/* Whether back end `id` can read a tensor where it is, or will be. */
static bool
can_read(const struct ggml_backend_sched *s, int id,
         const struct ggml_tensor *t)
{
    ggml_backend_buffer_t buffer = backend_buffer_of(t);
    int from = sched_id(s, t);

    if (from == id && !buffer)
        return true;
    return ggml_backend_supports_buft(
        s->backends[id],
        buffer ? ggml_backend_buffer_get_type(buffer) : s->bufts[from]);
}

/* At most how many copies the graph needs. */
static size_t
count_copies(const struct ggml_backend_sched *s, const struct ggml_cgraph *g)
{
    size_t n = 0;

    for (int i = 0; i < g->n_nodes; i++) {
        const struct ggml_tensor *t = g->nodes[i];

        for (int j = 0; j < GGML_MAX_SRC && !tensor_is_view_op(t->op); j++)
            if (t->src[j] && t->src[j] != t &&
                !can_read(s, sched_node_id(s, i), t->src[j]))
                n++;
    }
    return n;
}

static struct ggml_tensor *
find_copy(const struct ggml_backend_sched *s, const struct ggml_tensor *t,
          int id)
{
    for (size_t i = s->n_copies; i-- > 0;)
        if (s->copies[i].from == t && s->copies[i].to_backend == id)
            return s->copies[i].to;
    return NULL;
}

/* The copy has the original as its source, so that the allocator keeps that
 * until it is copied; but it is computed by nobody. */
static struct ggml_tensor *
new_copy(struct ggml_backend_sched *s, struct ggml_tensor *t, int id)
{
    struct ggml_tensor *to = ggml_dup_tensor(s->ctx, t);

    memcpy(to->nb, t->nb, sizeof(to->nb));
    to->src[0] = t;
    ggml_format_name(to, "%s#%s", ggml_backend_name(s->backends[id]), t->name);
    s->copies[s->n_copies++] = (struct sched_copy){ t, to, sched_id(s, t), id };
    return to;
}

static void
append_node(struct ggml_backend_sched *s, struct ggml_tensor *t, int id)
{
    s->node_ids[s->graph.n_nodes] = id;
    s->graph.nodes[s->graph.n_nodes++] = t;
}

/* The nodes of g from i on that one back end computes; the index after. */
static int
end_of_split(const struct ggml_backend_sched *s, const struct ggml_cgraph *g,
             int i, int *id)
{
    *id = SCHED_NONE;
    for (; i < g->n_nodes; i++) {
        const struct ggml_tensor *t = g->nodes[i];

        if (tensor_is_view_op(t->op))
            continue;
        if (*id == SCHED_NONE)
            *id = sched_node_id(s, i);
        else if (*id != sched_node_id(s, i))
            break;
    }
    if (*id == SCHED_NONE) /* views only */
        *id = s->n_backends - 1;
    return i;
}

static void
add_copies(struct ggml_backend_sched *s, const struct ggml_cgraph *g, int i,
           int end, int id)
{
    for (; i < end; i++) {
        struct ggml_tensor *t = g->nodes[i];

        for (int j = 0; j < GGML_MAX_SRC && !tensor_is_view_op(t->op); j++) {
            struct ggml_tensor *src = t->src[j], *copy;

            if (!src || src == t || can_read(s, id, src))
                continue;
            copy = find_copy(s, src, id);
            if (!copy) {
                copy = new_copy(s, src, id);
                append_node(s, copy, id);
            }
            t->src[j] = copy;
        }
    }
}

static void
add_split(struct ggml_backend_sched *s, const struct ggml_cgraph *g, int i,
          int end, int id)
{
    struct sched_split *split = &s->splits[s->n_splits++];

    split->backend = id;
    split->first_copy = (int)s->n_copies;
    if (s->n_backends > 1)
        add_copies(s, g, i, end, id);
    split->end_copy = (int)s->n_copies;
    split->first = s->graph.n_nodes;
    for (; i < end; i++)
        append_node(s, g->nodes[i], sched_node_id(s, i));
    split->end = s->graph.n_nodes;
}

static bool
grow_copies(struct ggml_backend_sched *s, const struct ggml_cgraph *g,
            size_t n_copies)
{
    size_t n = (size_t)g->n_nodes + n_copies, m = (size_t)g->n_leafs;

    return mem_grow(&s->graph.nodes, &s->cap_nodes, n, sizeof(void *)) &&
           mem_grow(&s->graph.leafs, &s->cap_leafs, m, sizeof(void *)) &&
           mem_grow(&s->node_ids, &s->cap_node_ids, n, sizeof(int)) &&
           mem_grow(&s->leaf_ids, &s->cap_leaf_ids, m, sizeof(int)) &&
           mem_grow(&s->copies, &s->cap_copies, n_copies, sizeof(*s->copies));
}

static bool
renew_context(struct ggml_backend_sched *s, size_t n_copies)
{
    size_t size = n_copies * ggml_tensor_overhead();

    if (s->ctx && ggml_get_mem_size(s->ctx) >= size) {
        ggml_reset(s->ctx);
        return true;
    }
    ggml_free(s->ctx);
    s->ctx = ggml_init(
        (struct ggml_init_params){ .mem_size = size, .no_alloc = true });
    return s->ctx != NULL;
}

static bool
is_copy(const struct ggml_backend_sched *s, const struct ggml_tensor *t)
{
    uintptr_t start = (uintptr_t)ggml_get_mem_buffer(s->ctx);

    return (uintptr_t)t - start < ggml_get_mem_size(s->ctx);
}

void
sched_restore(struct ggml_backend_sched *s, struct ggml_cgraph *graph)
{
    for (int i = 0; i < graph->n_nodes && s->n_copies; i++)
        for (int j = 0; j < GGML_MAX_SRC; j++) {
            struct ggml_tensor **src = &graph->nodes[i]->src[j];

            if (*src && is_copy(s, *src))
                *src = (*src)->src[0];
        }
}

bool
sched_split(struct ggml_backend_sched *s, struct ggml_cgraph *graph)
{
    size_t most = s->n_backends == 1 ? 0 : count_copies(s, graph);
    int id, end;

    if (!grow_copies(s, graph, most) || !renew_context(s, most))
        return false;
    s->n_splits = s->n_copies = 0;
    s->graph.n_nodes = 0;
    s->graph.n_leafs = graph->n_leafs;
    s->graph.visited = graph->visited;
    s->graph.use_counts = graph->use_counts;
    for (int i = 0; i < graph->n_leafs; i++) {
        s->graph.leafs[i] = graph->leafs[i];
        s->leaf_ids[i] = sched_id(s, graph->leafs[i]);
    }
    for (int i = 0; i < graph->n_nodes; i = end) {
        end = end_of_split(s, graph, i, &id);
        if (!mem_grow(&s->splits, &s->cap_splits, s->n_splits + 1,
                      sizeof(*s->splits)))
            return false;
        add_split(s, graph, i, end, id);
    }
    return true;
}
