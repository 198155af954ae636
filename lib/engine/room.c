/* room.c - how much memory slots may hold */
#include "core/mem.h"
#include "engine/engine.h"

void
gg_engine_bound_cache(struct gg_engine *engine, uint64_t bytes)
{
    if (engine)
        engine->most_cache = bytes;
}

/* The one of nobody's that was used least recently; -1: there is none. */
static int32_t
find_oldest(const struct gg_engine *e, int32_t slot, int32_t but_for)
{
    int32_t best = -1;

    for (int32_t i = 0; i < e->n_slots; i++) {
        const struct engine_slot *s = &e->slots[i];

        if (s->owner || s->n_ids == 0 || i == slot || i == but_for)
            continue;
        if (best < 0 || s->used < e->slots[best].used)
            best = i;
    }
    return best;
}

static void
empty_slot(struct gg_engine *e, int32_t slot)
{
    struct engine_slot *s = &e->slots[slot];

    session_release(e->session, slot);
    mem_free(s->ids);
    mem_free(s->logprobs);
    mem_free(s->scales);
    mem_free(s->key);
    *s = (struct engine_slot){ 0 };
}

void
engine_make_room(const struct gg_sequence *q, int32_t slot, int32_t from,
                 size_t n_shared)
{
    struct gg_engine *e = q->engine;
    size_t more;
    int32_t oldest;

    if (!e->most_cache)
        return;
    more = session_growth(e->session, slot, (int32_t)q->n_ids, from,
                          (int32_t)n_shared);
    while (gg_session_used(e->session) + more > e->most_cache &&
           (oldest = find_oldest(e, slot, from)) >= 0)
        empty_slot(e, oldest);
}
