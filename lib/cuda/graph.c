/* graph.c - computing a graph: launches, or the replay of a CUDA graph
 *
 * A graph that is computed for the first time is launched node by node. When
 * the same one comes again, nodes and addresses unchanged, its launches are
 * captured as a CUDA graph, which is replayed from then on: one call for a
 * token, with inputs at the same addresses. Who builds graphs gives each a
 * serial number, so that nodes need not be compared; a graph without one is
 * never captured, nor one of a long prefill: its kernels take longer than their
 * launches, and a capture takes milliseconds. */
#include <stdlib.h>
#include <string.h>

#include "cuda/backend.h"
#include "tensor/graph.h"
#include "tensor/tensor.h"

#define LONG_COLUMNS 256

/* ---- which nodes, and who reads them ------------------------------------ */

struct readers {
    int *direct; /* by slot of the graph's set: reads by this graph's nodes */
    int *all;    /* the same for whole tensors: reads of views, too */
};

static struct ggml_tensor *
whole(struct ggml_tensor *t)
{
    return t->view_src ? t->view_src : t;
}

/* The slot of a tensor of the graph, or -1. */
static ptrdiff_t
slot_of(const struct ggml_cgraph *g, const struct ggml_tensor *t)
{
    size_t slot = tensor_set_find(&g->visited, t);

    return g->visited.keys[slot] ? (ptrdiff_t)slot : -1;
}

static void
count_reads(const struct ggml_cgraph *g, const struct ggml_tensor *t,
            struct readers *r)
{
    for (int j = 0; j < GGML_MAX_SRC; j++) {
        ptrdiff_t slot = t->src[j] ? slot_of(g, t->src[j]) : -1;

        if (slot < 0)
            continue;
        r->direct[slot]++;
        slot = slot_of(g, whole(t->src[j]));
        if (slot >= 0 && !tensor_is_view_op(t->op))
            r->all[slot]++;
    }
}

/* Counts readers other than the graph's nodes as well: nodes elsewhere, or the
 * program, where a view lies at an end, or is written. */
static void
count_others(const struct ggml_cgraph *g, struct ggml_tensor *t,
             struct readers *r)
{
    ptrdiff_t slot = slot_of(g, t), root = slot_of(g, whole(t));

    if (slot < 0 || root < 0)
        return;
    if (g->use_counts[slot] > r->direct[slot] ||
        (t->flags & GGML_TENSOR_FLAG_OUTPUT) ||
        (t->view_src &&
         (!tensor_is_view_op(t->op) || g->use_counts[slot] == 0)))
        r->all[root]++;
}

static bool
grow_lists(struct cuda *cuda, int n)
{
    struct ggml_tensor **nodes;
    int *uses;

    if (n <= cuda->cap_nodes)
        return true;
    nodes = realloc(cuda->nodes, (size_t)n * sizeof(*nodes));
    if (nodes)
        cuda->nodes = nodes;
    uses = realloc(cuda->uses, (size_t)n * sizeof(*uses));
    if (uses)
        cuda->uses = uses;
    if (!nodes || !uses)
        return false;
    cuda->cap_nodes = n;
    return true;
}

static bool
list_nodes(struct cuda *cuda, const struct ggml_cgraph *g)
{
    if (!grow_lists(cuda, g->n_nodes))
        return false;
    cuda->n_nodes = 0;
    for (int i = 0; i < g->n_nodes; i++)
        if (!tensor_is_idle(g->nodes[i])) {
            cuda->uses[cuda->n_nodes] =
                2; /* not known: every result is written */
            cuda->nodes[cuda->n_nodes++] = g->nodes[i];
        }
    return true;
}

/* A node that is itself a view is always written: its memory is another's. */
static void
list_uses(struct cuda *cuda, const struct ggml_cgraph *g,
          const struct readers *r)
{
    for (int i = 0; i < cuda->n_nodes; i++) {
        struct ggml_tensor *t = cuda->nodes[i];
        ptrdiff_t slot = slot_of(g, t);

        if (slot >= 0 && !t->view_src)
            cuda->uses[i] = r->all[slot];
    }
}

static bool
prepare_graph(struct cuda *cuda, const struct ggml_cgraph *g)
{
    struct readers r;
    size_t n;

    if (!list_nodes(cuda, g))
        return false;
    if (!g->visited.keys || !g->use_counts)
        return true;
    n = g->visited.mask + 1;
    r.direct = calloc(2 * n, sizeof(*r.direct));
    if (!r.direct)
        return false;
    r.all = r.direct + n;
    for (int i = 0; i < g->n_nodes; i++)
        count_reads(g, g->nodes[i], &r);
    for (int i = 0; i < g->n_nodes; i++)
        count_others(g, g->nodes[i], &r);
    list_uses(cuda, g, &r);
    free(r.direct);
    return true;
}

/* ---- launching ---------------------------------------------------------- */

static bool
launch_all(struct cuda *cuda)
{
    struct cuda_ctx *c = &cuda->ctx;

    c->failed = false;
    cuda_activation_cache_clear(&cuda->activations);
    cuda_profile_begin(cuda);
    for (int i = 0, n; i < cuda->n_nodes && !c->failed; i += n) {
        cuda_pool_reset(&cuda->pool);
        n = cuda_fuse(c, cuda->nodes + i, cuda->n_nodes - i, cuda->uses + i);
        if (n == 0) {
            cuda_ops[cuda->nodes[i]->op].run(c, cuda->nodes[i]);
            n = 1;
        }
        cuda_activation_cache_written(&cuda->activations, cuda->nodes + i, n);
        cuda_profile_launched(cuda, cuda->nodes + i, n);
    }
    cuda_profile_end(cuda);
    return !c->failed &&
           cuda_check(cuda->device, cuda_launched(), "starting kernels");
}

/* ---- captures ----------------------------------------------------------- */

/* The graph's slot, or the least recently used one, whose capture may then be
 * updated to this graph. */
static struct cuda_graph *
find_graph(struct cuda *cuda, uint64_t key)
{
    struct cuda_graph *oldest = &cuda->graphs[0];

    for (int i = 0; i < CUDA_MAX_GRAPHS; i++) {
        struct cuda_graph *g = &cuda->graphs[i];

        if (g->key == key)
            return g;
        if (g->last_use < oldest->last_use)
            oldest = g;
    }
    oldest->key = key;
    oldest->n_uses = 0;
    oldest->captured = false;
    return oldest;
}

static unsigned
pools_moved(const struct cuda *cuda)
{
    return cuda->pool.grown + cuda->activations.pool.grown;
}

static bool
capture(struct cuda *cuda, struct cuda_graph *g)
{
    enum cuda_status st = cuda_capture_begin(cuda->ctx.stream);
    bool launched;

    if (st != CUDA_OK)
        return false;
    launched = launch_all(cuda);
    st = cuda_capture_end(cuda->ctx.stream, &g->exec);
    g->captured = launched && st == CUDA_OK;
    g->pools = pools_moved(cuda);
    cuda->n_captures += g->captured;
    return g->captured;
}

static bool
replay(struct cuda *cuda, struct cuda_graph *g)
{
    cuda->n_replays++;
    return cuda_check(cuda->device,
                      cuda_graph_launch(g->exec, cuda->ctx.stream),
                      "starting a graph");
}

/* Whether any product has enough columns for launch overhead to be
 * negligible. */
static bool
is_long(const struct cuda *cuda)
{
    for (int i = 0; i < cuda->n_nodes; i++)
        if (cuda->nodes[i]->op == GGML_OP_MUL_MAT &&
            cuda->nodes[i]->src[1]->ne[1] >= LONG_COLUMNS)
            return true;
    return false;
}

static bool
usable(const struct cuda *cuda, const struct cuda_graph *g)
{
    return g->captured && g->pools == pools_moved(cuda);
}

static bool
compute(struct cuda *cuda, const struct ggml_cgraph *graph)
{
    struct cuda_graph *g = NULL;

    if (graph->serial && !cuda->no_capture && !cuda->profile.counters) {
        g = find_graph(cuda, graph->serial);
        g->last_use = ++cuda->n_computed;
        if (usable(cuda, g))
            return replay(cuda, g);
    }
    if (!prepare_graph(cuda, graph))
        return false;
    if (g && g->n_uses++ > 0 && cuda->n_nodes > 0 && !is_long(cuda)) {
        if (capture(cuda, g))
            return replay(cuda, g);
        if (cuda_device_error(cuda->device))
            return false;
        cuda->no_capture = true; /* what cannot be captured is launched */
    }
    return launch_all(cuda);
}

enum ggml_status
cuda_graph_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    struct cuda *cuda = (struct cuda *)backend;
    enum cuda_status st;

    if (cuda_device_error(cuda->device))
        return GGML_STATUS_FAILED;
    if (cuda->abort && cuda->abort(cuda->abort_data))
        return GGML_STATUS_ABORTED;
    st = cuda_use(cuda->device->number);
    if (!cuda_check(cuda->device, st, "starting"))
        return GGML_STATUS_FAILED;
    if (compute(cuda, graph))
        return GGML_STATUS_SUCCESS;
    return cuda_device_error(cuda->device) ? GGML_STATUS_FAILED
                                           : GGML_STATUS_ALLOC_FAILED;
}

void
cuda_graphs_clear(struct cuda *cuda)
{
    for (int i = 0; i < CUDA_MAX_GRAPHS; i++) {
        if (cuda->graphs[i].exec)
            cuda_graph_free(cuda->graphs[i].exec);
        cuda->graphs[i] = (struct cuda_graph){ 0 };
    }
}
