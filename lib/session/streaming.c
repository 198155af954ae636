/* streaming.c - weights that are larger than memory */
#include "session/streaming.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "backend/streaming.h"
#include "core/cgroup.h"
#include "core/paging.h"
#include "session/impl.h"
#include "session/pipeline.h"

enum {
    /* A tensor of fewer bytes than this part of the room is left to the
     * system, and all of fewer than LEAST. */
    SMALL_PART = 4096,
    LEAST = 256 << 10,
};

uint64_t
session_streaming_room(const char *text)
{
    static const char units[] = "KMG";
    const char *unit;
    char *end;
    unsigned long long n;
    int shift = 0;

    if (!isdigit((unsigned char)*text))
        return 0;
    n = strtoull(text, &end, 10);
    if (*end && (unit = strchr(units, *end)) != NULL) {
        shift = 10 * (int)(unit - units + 1);
        end++;
    }
    return *end || n > UINT64_MAX >> shift ? 0 : (uint64_t)n << shift;
}

/* Bytes of the CPU's weights that lie where files on a disk are mapped; or, if
 * `any`, files in memory, too. */
static uint64_t
count_mapped(const struct model *m, bool any)
{
    struct ggml_context *ctx = m->homes[0].ctx;
    struct ggml_tensor *t = ggml_get_first_tensor(ctx);
    uint64_t n = 0;

    for (; t; t = ggml_get_next_tensor(ctx, t)) {
        const struct gguf_tensor *from =
            gguf_tensor_named(m->file->gguf, t->name);
        const struct file_map *map = from ? &m->file->maps[from->shard] : NULL;

        if (map && t->data == from->data && map->filed &&
            (any || paging_from_disk(map)))
            n += from->size;
    }
    return n;
}

/* Bytes of memory for weights that are larger than that with the session's
 * buffers; 0: they are not. The KV cache does not count: mostly it has room for
 * much more than is used. */
static uint64_t
find_room(const struct backend_streaming *s, uint64_t others)
{
    uint64_t room = cgroup_memory("") / (uint64_t)s->n_sharers;
    uint64_t weights = s->weights, given = s->room;

    if (given)
        return weights > given ? given : 0;
    return room && weights + others > room - room / 16 ? room : 0;
}

void
session_stream_weights(struct compute *c)
{
    ggml_backend_t cpu = c->backends[c->n_backends - 1];
    const struct gguf_file *file = c->model->file;
    const char *text = getenv(STREAMING_ROOM);
    uint64_t others = session_compute_size(c);
    struct backend_streaming s = {
        .maps = file->maps,
        .n_maps = file->n_maps,
        .weights = count_mapped(c->model, text != NULL),
        .room = text ? session_streaming_room(text) : 0,
        .n_sharers = c->model->pipeline->n_local,
    };
    void *p = session_compute_extra(cpu, BACKEND_SET_STREAMING);
    bool alone = c->n_backends == 1; /* others would read single pages */
    backend_set_streaming_t set;

    memcpy(&set, &p, sizeof(p));
    c->room = find_room(&s, others);
    s.least = c->room / SMALL_PART < LEAST ? (size_t)c->room / SMALL_PART
                                           : (size_t)LEAST;
    if (alone && c->room && set && !file->locked && set(cpu, &s))
        c->streamed = s.weights;
}

bool
gg_session_streams(const struct gg_session *session, uint64_t *weights,
                   uint64_t *memory)
{
    const struct compute *c = session ? &session->compute : NULL;

    if (weights)
        *weights = c ? c->streamed : 0;
    if (memory)
        *memory = c && c->streamed ? c->room : 0;
    return c && c->streamed > 0;
}
