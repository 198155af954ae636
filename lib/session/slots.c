/* slots.c - which ids each slot of a session holds */
#include "session/slots.h"

#include <string.h>

#include "core/mem.h"

bool
session_slots_init(struct slots *s, int32_t n, bool keep, size_t n_adapters)
{
    size_t size = (size_t)n;

    *s = (struct slots){
        .n = n,
        .n_adapters = n_adapters,
        .scales = mem_array(size * n_adapters + 1, sizeof(*s->scales)),
        .length = mem_array(size, sizeof(*s->length)),
        .there = mem_array(size, sizeof(*s->there)),
        .kept = keep ? mem_array(size, sizeof(*s->kept)) : NULL,
    };
    return s->length && s->there && s->scales && (s->kept || !keep);
}

void
session_slots_clear(struct slots *s)
{
    for (int32_t i = 0; i < s->n && s->kept; i++)
        mem_free(s->kept[i].ids);
    mem_free(s->kept);
    mem_free(s->length);
    mem_free(s->there);
    mem_free(s->scales);
    *s = (struct slots){ 0 };
}

const float *
session_slots_scales(const struct slots *s, int32_t slot)
{
    return s->scales + (size_t)slot * s->n_adapters;
}

void
session_slots_set_scales(struct slots *s, int32_t slot, const float *scales)
{
    float *to = s->scales + (size_t)slot * s->n_adapters;

    if (s->n_adapters && to != scales)
        memcpy(to, scales, s->n_adapters * sizeof(*scales));
}

static bool
put_ids(struct slot_ids *to, size_t at, const int32_t *ids, size_t n)
{
    if (!mem_grow(&to->ids, &to->cap, at + n, sizeof(*ids)))
        return false;
    memcpy(to->ids + at, ids, n * sizeof(*ids));
    return true;
}

bool
session_slots_keep(struct slots *s, const struct gg_chunk *chunk)
{
    return !s->kept ||
           put_ids(&s->kept[chunk->slot], (size_t)s->length[chunk->slot],
                   chunk->ids, chunk->n);
}

void
session_slots_add(struct slots *s, const struct gg_chunk *chunk)
{
    s->length[chunk->slot] += (int32_t)chunk->n;
    s->there[chunk->slot] = s->length[chunk->slot];
}

void
session_slots_lose(struct slots *s)
{
    memset(s->there, 0, (size_t)s->n * sizeof(*s->there));
}

bool
session_slots_missing(const struct slots *s, int32_t slot,
                      struct gg_chunk *chunk)
{
    int32_t there = s->there[slot], n = s->length[slot] - there;

    if (n == 0)
        return false;
    *chunk = (struct gg_chunk){ .slot = slot,
                                .ids = s->kept[slot].ids + there,
                                .n = (size_t)n,
                                .scales = session_slots_scales(s, slot) };
    return true;
}

void
session_slots_cut(struct slots *s, int32_t slot, int32_t n)
{
    s->length[slot] = n;
    if (s->there[slot] > n)
        s->there[slot] = n;
}

bool
session_slots_copy(struct slots *s, int32_t to, int32_t from, int32_t n)
{
    int32_t there = s->there[from];

    if (to != from && n > 0 && s->kept &&
        !put_ids(&s->kept[to], 0, s->kept[from].ids, (size_t)n))
        return false;
    s->length[to] = n;
    s->there[to] = there < n ? there : n;
    session_slots_set_scales(s, to, session_slots_scales(s, from));
    return true;
}
