/* kernel_profile.c - profiling of a graph on the device by events between
 * launches
 *
 * While profiling, nodes are launched one by one, not replayed as a CUDA graph;
 * a fused launch counts as its first matrix product, or its first node. Times
 * are those between the ends of launches, so that they include a device's
 * waiting for the host. */
#include <stdlib.h>

#include "cuda/backend.h"

void
cuda_profile_clear(struct cuda_profile *p)
{
    for (int i = 0; i < p->cap; i++)
        cuda_event_free(p->events[i]);
    free(p->events);
    free(p->nodes);
    *p = (struct cuda_profile){ .counters = p->counters };
}

static bool
grow_events(struct cuda_profile *p, int n)
{
    void **events = realloc(p->events, (size_t)n * sizeof(*events));
    struct ggml_tensor **nodes;

    if (!events)
        return false;
    p->events = events;
    nodes = realloc(p->nodes, (size_t)n * sizeof(*nodes));
    if (!nodes)
        return false;
    p->nodes = nodes;
    for (; p->cap < n; p->cap++)
        if (cuda_event_new_timed(&events[p->cap]) != CUDA_OK)
            return false;
    return true;
}

static bool
mark(struct cuda *cuda)
{
    struct cuda_profile *p = &cuda->profile;

    return cuda_event_record(p->events[p->n], cuda->ctx.stream) == CUDA_OK;
}

/* Without memory nothing is counted. */
void
cuda_profile_begin(struct cuda *cuda)
{
    struct cuda_profile *p = &cuda->profile;

    p->n = 0;
    p->active = p->counters && grow_events(p, cuda->n_nodes + 1) && mark(cuda);
}

void
cuda_profile_launched(struct cuda *cuda, struct ggml_tensor *const *nodes,
                      int n)
{
    struct cuda_profile *p = &cuda->profile;
    struct ggml_tensor *node = nodes[0];

    if (!p->active)
        return;
    for (int i = n - 1; i >= 0; i--)
        if (nodes[i]->op == GGML_OP_MUL_MAT)
            node = nodes[i];
    p->nodes[p->n++] = node;
    p->active = mark(cuda);
}

static void
count_node(struct cuda *cuda, int i)
{
    struct cuda_profile *p = &cuda->profile;
    struct profile_kind *kind =
        p->counters->kind(p->counters, p->nodes[i], cuda->device->name);
    uint64_t ns;

    p->counters->count(kind, p->nodes[i]);
    if (cuda_event_elapsed(p->events[i], p->events[i + 1], &ns) == CUDA_OK)
        kind->ns += ns;
}

/* Waits for the graph. */
void
cuda_profile_end(struct cuda *cuda)
{
    struct cuda_profile *p = &cuda->profile;

    if (!p->active || cuda_stream_wait(cuda->ctx.stream) != CUDA_OK)
        return;
    for (int i = 0; i < p->n; i++)
        count_node(cuda, i);
    p->active = false;
}
