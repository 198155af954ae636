/* sched.c - the scheduler: one graph over several back ends */
#include "sched/sched.h"

#include <stdatomic.h>
#include <string.h>

#include "alloc/measure.h"
#include "backend/impl.h"
#include "core/log.h"
#include "core/mem.h"

ggml_backend_sched_t
ggml_backend_sched_new(ggml_backend_t *backends,
                       ggml_backend_buffer_type_t *bufts, int n_backends,
                       size_t graph_size, bool parallel, bool op_offload)
{
    struct ggml_backend_sched *s = mem_zalloc(sizeof(*s));

    (void)graph_size; /* all arrays grow with the graphs */
    (void)parallel;   /* one copy of each input */
    GGML_ASSERT(n_backends > 0 && n_backends <= SCHED_MAX_BACKENDS);
    if (!s)
        return NULL;
    s->n_backends = n_backends;
    s->op_offload = op_offload;
    for (int i = 0; i < n_backends; i++) {
        s->backends[i] = backends[i];
        s->bufts[i] = bufts ? bufts[i]
                            : ggml_backend_get_default_buffer_type(backends[i]);
        GGML_ASSERT(ggml_backend_supports_buft(backends[i], s->bufts[i]));
    }
    s->galloc = ggml_gallocr_new_n(s->bufts, n_backends);
    if (!s->galloc) {
        mem_free(s);
        return NULL;
    }
    alloc_gallocr_stay(s->galloc);
    return s;
}

void
ggml_backend_sched_free(ggml_backend_sched_t sched)
{
    if (!sched)
        return;
    ggml_gallocr_free(sched->galloc);
    ggml_free(sched->ctx);
    mem_free(sched->pins);
    mem_free(sched->set.keys);
    mem_free(sched->ids);
    mem_free(sched->slots);
    mem_free(sched->splits);
    mem_free(sched->copies);
    mem_free(sched->graph.nodes);
    mem_free(sched->graph.leafs);
    mem_free(sched->node_ids);
    mem_free(sched->leaf_ids);
    mem_free(sched->planned_node_ids);
    mem_free(sched->planned_leaf_ids);
    mem_free(sched);
}

/* -- What it is made of, and how it did -- */

static int
index_of(const struct ggml_backend_sched *s, ggml_backend_t backend)
{
    for (int i = 0; i < s->n_backends; i++)
        if (s->backends[i] == backend)
            return i;
    GGML_ABORT("the scheduler does not have back end %s",
               ggml_backend_name(backend));
}

int
ggml_backend_sched_get_n_backends(ggml_backend_sched_t sched)
{
    return sched->n_backends;
}

ggml_backend_t
ggml_backend_sched_get_backend(ggml_backend_sched_t sched, int i)
{
    GGML_ASSERT(i >= 0 && i < sched->n_backends);
    return sched->backends[i];
}

int
ggml_backend_sched_get_n_splits(ggml_backend_sched_t sched)
{
    return (int)sched->n_splits;
}

int
ggml_backend_sched_get_n_copies(ggml_backend_sched_t sched)
{
    (void)sched;
    return 1;
}

ggml_backend_buffer_type_t
ggml_backend_sched_get_buffer_type(ggml_backend_sched_t sched,
                                   ggml_backend_t backend)
{
    return sched->bufts[index_of(sched, backend)];
}

size_t
ggml_backend_sched_get_buffer_size(ggml_backend_sched_t sched,
                                   ggml_backend_t backend)
{
    return ggml_gallocr_get_buffer_size(sched->galloc,
                                        index_of(sched, backend));
}

/* -- Preparing a graph -- */

void
ggml_backend_sched_set_tensor_backend(ggml_backend_sched_t sched,
                                      struct ggml_tensor *node,
                                      ggml_backend_t backend)
{
    int id = index_of(sched, backend);

    GGML_ASSERT(mem_grow(&sched->pins, &sched->cap_pins, sched->n_pins + 1,
                         sizeof(*sched->pins)));
    sched->pins[sched->n_pins++] = (struct sched_pin){ node, id };
}

ggml_backend_t
ggml_backend_sched_get_tensor_backend(ggml_backend_sched_t sched,
                                      struct ggml_tensor *node)
{
    int id = SCHED_NONE;

    if (sched->set.keys || sched->allocated)
        id = sched_id(sched, node);
    for (size_t i = sched->n_pins; id == SCHED_NONE && i-- > 0;)
        if (sched->pins[i].t == node)
            id = sched->pins[i].backend;
    return id == SCHED_NONE ? NULL : sched->backends[id];
}

/* Where tensors that a back end keeps go, and whether there was memory. */
struct keeping {
    ggml_gallocr_t galloc;
    bool done;
};

static void
keep(void *user_data, struct ggml_tensor *tensor, struct ggml_tensor *until)
{
    struct keeping *k = user_data;

    k->done = k->done && alloc_gallocr_keep(k->galloc, tensor, until);
}

/* Back ends see the graphs that they will compute. */
static bool
optimise(struct ggml_backend_sched *s)
{
    struct keeping k = { s->galloc, true };
    struct ggml_backend_graph_optimize_params params = { keep, &k };

    alloc_gallocr_keep_none(s->galloc);
    for (size_t i = 0; i < s->n_splits; i++) {
        const struct sched_split *piece = &s->splits[i];
        ggml_backend_t backend = s->backends[piece->backend];
        struct ggml_cgraph part;

        if (!backend->iface->graph_optimize)
            continue;
        part = tensor_graph_slice(&s->graph, piece->first, piece->end);
        backend->iface->graph_optimize(backend, &part, &params);
    }
    return k.done;
}

static bool
split_graph(struct ggml_backend_sched *s, struct ggml_cgraph *graph)
{
    s->allocated = NULL;
    sched_restore(s, graph);
    return sched_assign(s, graph) && sched_split(s, graph) && optimise(s);
}

void
ggml_backend_sched_split_graph(ggml_backend_sched_t sched,
                               struct ggml_cgraph *graph)
{
    GGML_ASSERT(split_graph(sched, graph));
}

static bool
same_ints(const int *a, const int *b, int n)
{
    return n == 0 || memcmp(a, b, (size_t)n * sizeof(*a)) == 0;
}

/* The allocator's plan holds as long as every tensor stays in its buffer. */
static bool
same_ids(const struct ggml_backend_sched *s)
{
    return s->n_planned_nodes == s->graph.n_nodes &&
           s->n_planned_leafs == s->graph.n_leafs &&
           same_ints(s->planned_node_ids, s->node_ids, s->graph.n_nodes) &&
           same_ints(s->planned_leaf_ids, s->leaf_ids, s->graph.n_leafs);
}

static void
copy_ints(int *to, const int *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
}

static bool
reserve_buffers(struct ggml_backend_sched *s)
{
    size_t n = (size_t)s->graph.n_nodes, m = (size_t)s->graph.n_leafs;

    ggml_backend_sched_synchronize(s);
    if (!mem_grow(&s->planned_node_ids, &s->cap_planned_nodes, n,
                  sizeof(int)) ||
        !mem_grow(&s->planned_leaf_ids, &s->cap_planned_leafs, m,
                  sizeof(int)) ||
        !ggml_gallocr_reserve_n(s->galloc, &s->graph, s->node_ids, s->leaf_ids))
        return false;
    copy_ints(s->planned_node_ids, s->node_ids, n);
    copy_ints(s->planned_leaf_ids, s->leaf_ids, m);
    s->n_planned_nodes = s->graph.n_nodes;
    s->n_planned_leafs = s->graph.n_leafs;
    return true;
}

bool
ggml_backend_sched_reserve(ggml_backend_sched_t sched,
                           struct ggml_cgraph *measure_graph)
{
    bool done = split_graph(sched, measure_graph) && reserve_buffers(sched);

    sched_restore(sched, measure_graph);
    ggml_backend_sched_reset(sched);
    return done;
}

bool
sched_measure(struct ggml_backend_sched *s, struct ggml_cgraph *graph,
              size_t *sizes)
{
    bool done = split_graph(s, graph) &&
                alloc_gallocr_measure(s->galloc, &s->graph, s->node_ids,
                                      s->leaf_ids, sizes);

    sched_restore(s, graph);
    s->n_planned_nodes = -1;
    ggml_backend_sched_reset(s);
    return done;
}

void
ggml_backend_sched_reserve_size(ggml_backend_sched_t sched,
                                struct ggml_cgraph *measure_graph,
                                size_t *sizes)
{
    GGML_ASSERT(sched_measure(sched, measure_graph, sizes));
}

/* n numbers that nobody else has, the first of them. */
static uint64_t
new_serials(size_t n)
{
    static atomic_uint_fast64_t last = 1;

    return atomic_fetch_add(&last, n);
}

bool
ggml_backend_sched_alloc_graph(ggml_backend_sched_t sched,
                               struct ggml_cgraph *graph)
{
    if (!split_graph(sched, graph))
        return false;
    if (!same_ids(sched) ||
        !ggml_gallocr_alloc_graph(sched->galloc, &sched->graph)) {
        if (!reserve_buffers(sched) ||
            !ggml_gallocr_alloc_graph(sched->galloc, &sched->graph)) {
            log_say(GGML_LOG_LEVEL_ERROR, "a graph could not be allocated\n");
            return false;
        }
    }
    sched->allocated = graph;
    sched->serial = new_serials(sched->n_splits);
    return true;
}

void
ggml_backend_sched_reset(ggml_backend_sched_t sched)
{
    sched->n_pins = 0;
    sched->allocated = NULL;
    if (sched->set.keys)
        memset(sched->set.keys, 0,
               (sched->set.mask + 1) * sizeof(*sched->set.keys));
}

/* -- Computing -- */

void
ggml_backend_sched_synchronize(ggml_backend_sched_t sched)
{
    for (int i = 0; i < sched->n_backends; i++)
        ggml_backend_synchronize(sched->backends[i]);
}

void
ggml_backend_sched_set_eval_callback(ggml_backend_sched_t sched,
                                     ggml_backend_sched_eval_callback callback,
                                     void *user_data)
{
    sched->callback = callback;
    sched->callback_data = user_data;
}

static void
make_copies(struct ggml_backend_sched *s, const struct sched_split *piece)
{
    for (int i = piece->first_copy; i < piece->end_copy; i++) {
        const struct sched_copy *c = &s->copies[i];

        ggml_backend_tensor_copy_async(s->backends[c->from_backend],
                                       s->backends[c->to_backend], c->from,
                                       c->to);
    }
}

/* Computes up to each node that the callback asks for, and shows it. */
static enum ggml_status
compute_watched(struct ggml_backend_sched *s, const struct sched_split *piece)
{
    ggml_backend_t backend = s->backends[piece->backend];
    enum ggml_status st = GGML_STATUS_SUCCESS;

    for (int i = piece->first, end; i < piece->end; i = end) {
        struct ggml_tensor *t = s->graph.nodes[i];
        bool wanted = s->callback(t, true, s->callback_data);
        struct ggml_cgraph part;

        for (end = i + 1; !wanted && end < piece->end; end++) {
            t = s->graph.nodes[end];
            wanted = s->callback(t, true, s->callback_data);
        }
        part = tensor_graph_slice(&s->graph, i, end);
        st = ggml_backend_graph_compute(backend, &part);
        if (st == GGML_STATUS_SUCCESS && wanted &&
            !s->callback(t, false, s->callback_data))
            st = GGML_STATUS_ABORTED;
        if (st != GGML_STATUS_SUCCESS)
            break;
    }
    return st;
}

static enum ggml_status
compute_split(struct ggml_backend_sched *s, const struct sched_split *piece)
{
    struct ggml_cgraph part;

    make_copies(s, piece);
    if (s->callback)
        return compute_watched(s, piece);
    part = tensor_graph_slice(&s->graph, piece->first, piece->end);
    part.serial = s->serial + (uint64_t)(piece - s->splits);
    return ggml_backend_graph_compute_async(s->backends[piece->backend], &part);
}

enum ggml_status
ggml_backend_sched_graph_compute_async(ggml_backend_sched_t sched,
                                       struct ggml_cgraph *graph)
{
    enum ggml_status st = GGML_STATUS_SUCCESS;

    if (sched->allocated != graph &&
        !ggml_backend_sched_alloc_graph(sched, graph))
        return GGML_STATUS_ALLOC_FAILED;
    for (size_t i = 0; i < sched->n_splits && st == GGML_STATUS_SUCCESS; i++)
        st = compute_split(sched, &sched->splits[i]);
    return st;
}

enum ggml_status
ggml_backend_sched_graph_compute(ggml_backend_sched_t sched,
                                 struct ggml_cgraph *graph)
{
    enum ggml_status st = ggml_backend_sched_graph_compute_async(sched, graph);

    ggml_backend_sched_synchronize(sched);
    return st == GGML_STATUS_SUCCESS && sched_error(sched) ? GGML_STATUS_FAILED
                                                           : st;
}

const char *
sched_error(const struct ggml_backend_sched *s)
{
    for (int i = 0; i < s->n_backends; i++) {
        ggml_backend_t backend = s->backends[i];
        const char *error = backend->iface->get_error
                                ? backend->iface->get_error(backend)
                                : NULL;

        if (error)
            return error;
    }
    return NULL;
}
