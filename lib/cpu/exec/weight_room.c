/* weight_room.c - how much memory there is for weights */
#include "cpu/exec/weight_room.h"

#include "core/cgroup.h"
#include "core/mem.h"
#include "tensor/graph.h"

enum {
    MEASURE_US = 1000000, /* between two looks at how much memory is free */
};

/* Fewer bytes of a buffer are not worth giving back. */
#define LEAST_BACK ((size_t)16 << 20)

/* ---- the buffer of results ----------------------------------------------- */

static ggml_backend_buffer_t
buffer_of(const struct ggml_tensor *t)
{
    ggml_backend_buffer_t buffer =
        t->view_src ? t->view_src->buffer : t->buffer;
    bool computes = buffer && ggml_backend_buffer_get_usage(buffer) ==
                                  GGML_BACKEND_BUFFER_USAGE_COMPUTE;

    return computes && ggml_backend_buffer_is_host(buffer) ? buffer : NULL;
}

/* Sources are counted, too: some are inputs, and no nodes. */
static void
count_needed(struct weight_room *r, const struct ggml_tensor *t)
{
    ggml_backend_buffer_t buffer = buffer_of(t);
    const char *base, *p = t->data;
    size_t end;

    if (!buffer || !p)
        return;
    base = ggml_backend_buffer_get_base(buffer);
    if (p < base || p >= base + ggml_backend_buffer_get_size(buffer))
        return; /* in another part of it */
    if (r->buffer != buffer) {
        if (r->needed > 0) /* the first one of a graph counts */
            return;
        r->buffer = buffer;
        r->touched = 0;
    }
    end = (size_t)(p - base) + ggml_nbytes(t);
    r->needed = end > r->needed ? end : r->needed;
}

static void
find_needed(struct weight_room *r, const struct ggml_cgraph *graph)
{
    r->needed = 0;
    for (int i = 0; i < graph->n_nodes; i++) {
        const struct ggml_tensor *node = graph->nodes[i];

        count_needed(r, node);
        for (int k = 0; k < GGML_MAX_SRC; k++)
            if (node->src[k])
                count_needed(r, node->src[k]);
    }
}

static void
give_back(struct weight_room *r)
{
    char *base = ggml_backend_buffer_get_base(r->buffer);
    size_t size = ggml_backend_buffer_get_size(r->buffer);

    /* a smaller buffer may have come to lie where the one before was */
    if (r->touched > size)
        r->touched = size;
    if (r->touched > r->needed)
        mem_discard(base + r->needed, r->touched - r->needed);
    r->touched = r->needed;
}

/* Whether the graph's need of the buffer changes what is free. */
static bool
take_needed(struct weight_room *r, const struct ggml_cgraph *graph)
{
    find_needed(r, graph);
    if (r->needed > r->touched)
        return true;
    if (r->touched < 2 * r->needed || r->touched - r->needed < LEAST_BACK)
        return false;
    give_back(r);
    return true;
}

/* ---- what is free -------------------------------------------------------- */

/* A part is left for what else the process and the system do. */
static uint64_t
find_room(const struct weight_room *r, const struct backend_streaming *of,
          size_t own)
{
    uint64_t room = cgroup_memory("") / (uint64_t)of->n_sharers;
    uint64_t taken = r->needed > r->touched ? r->needed - r->touched : 0;

    if (of->room)
        return of->room;
    if (room == 0)
        return UINT64_MAX;
    room += own;
    room = room > taken ? room - taken : 1;
    return room - room / 16;
}

bool
cpu_room_measure(struct weight_room *r, const struct backend_streaming *of,
                 const struct ggml_cgraph *graph, bool other, size_t own)
{
    int64_t now = ggml_time_us();
    bool due = !r->bytes || now - r->measured >= MEASURE_US;

    if (other && take_needed(r, graph))
        due = true;
    if (due) {
        r->measured = now;
        r->bytes = find_room(r, of, own);
    }
    r->touched = r->needed > r->touched ? r->needed : r->touched;
    return due;
}
