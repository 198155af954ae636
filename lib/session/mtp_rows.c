/* mtp_rows.c - hidden vectors that MTP layers read: which a slot has kept */
#include "session/mtp_rows.h"

#include <string.h>

#include "core/mem.h"
#include "graph/arch.h"

enum {
    ROWS = CACHE_MTP_KEPT + CACHE_MTP_DRAFTED,
};

bool
session_cache_mtp_init(struct cache *cache, const struct model *model)
{
    struct cache_mtp *m = &cache->mtp;
    bool here = graph_has_layer(model, model->hp.n_layer);
    int home = here ? graph_home_of(model, model->hp.n_layer, MODEL_REST)
                    : model->n_homes;

    m->n = model->hp.n_mtp;
    m->keys_alone = model->drafter && model->drafter->arch->drafter->block;
    if (m->n == 0)
        return true;
    m->slots = mem_array((size_t)cache->n_slots, sizeof(*m->slots));
    m->rows = ggml_new_tensor_2d(cache->homes[home].ctx, GGML_TYPE_F32,
                                 graph_mtp_width(model),
                                 (int64_t)ROWS * cache->n_slots);
    ggml_set_name(m->rows, "cache_hidden");
    return m->slots != NULL;
}

void
session_cache_mtp_clear(struct cache *cache)
{
    mem_free(cache->mtp.slots);
    cache->mtp = (struct cache_mtp){ 0 };
}

int32_t
session_cache_mtp_row(int32_t slot, int32_t position)
{
    return slot * ROWS + position % CACHE_MTP_KEPT;
}

int32_t
session_cache_mtp_drafted(int32_t slot, int32_t i)
{
    return slot * ROWS + CACHE_MTP_KEPT + i;
}

/* Whether the position's key is right. */
static bool
has_key(const struct cache_mtp_slot *s, int32_t position)
{
    for (int i = 0; i < s->n_holes; i++)
        if (position >= s->holes[i].from && position < s->holes[i].end)
            return false;
    return position >= s->first;
}

bool
session_cache_mtp_has(const struct cache *cache, int32_t slot, int32_t position)
{
    const struct cache_mtp_slot *s;

    if (cache->mtp.n == 0)
        return false;
    s = &cache->mtp.slots[slot];
    if (position >= s->end)
        return false;
    return cache->mtp.keys_alone ? has_key(s, position) : position >= s->row;
}

/* ---- keys ---------------------------------------------------------------- */

static void
drop_holes_from(struct cache_mtp_slot *s, int32_t position)
{
    while (s->n_holes > 0 && s->holes[s->n_holes - 1].from >= position)
        s->n_holes--;
    if (s->n_holes > 0 && s->holes[s->n_holes - 1].end > position)
        s->holes[s->n_holes - 1].end = position;
}

/* Where there are too many of them, nothing before the first is seen. */
static void
add_hole(struct cache_mtp_slot *s, int32_t from, int32_t end)
{
    struct cache_mtp_hole *last = s->holes + s->n_holes - 1;

    if (s->n_holes > 0 && last->end == from) {
        last->end = end;
        return;
    }
    if (s->n_holes == CACHE_MTP_HOLES) {
        s->first = s->holes[0].end;
        s->n_holes--;
        memmove(s->holes, s->holes + 1, (size_t)s->n_holes * sizeof(*s->holes));
    }
    s->holes[s->n_holes++] = (struct cache_mtp_hole){ from, end };
}

/* Keys from `past` on, of which the first n_wrong are not right. */
static void
add_keys(struct cache_mtp_slot *s, int32_t past, int32_t n_wrong)
{
    drop_holes_from(s, past);
    if (s->first >= past)
        s->first = past + n_wrong;
    else if (n_wrong > 0)
        add_hole(s, past, past + n_wrong);
}

/* ---- positions ----------------------------------------------------------- */

void
session_cache_mtp_begin(struct cache *cache, int32_t slot, int32_t past,
                        int32_t n, enum graph_feed feed)
{
    struct cache_mtp_slot *s;
    int32_t kept = past + n - CACHE_MTP_KEPT;
    bool right =
        cache->mtp.keys_alone || session_cache_mtp_has(cache, slot, past - 1);

    if (cache->mtp.n == 0)
        return;
    s = &cache->mtp.slots[slot];
    add_keys(s, past, feed == GRAPH_FEED_ALL ? !right : n);
    if (!right)
        s->row = past;
    s->row = s->row > kept ? s->row : kept;
    s->end = past + n;
    if (feed == GRAPH_FEED_NONE)
        s->row = s->end;
}

void
session_cache_mtp_cut(struct cache *cache, int32_t slot, int32_t n)
{
    struct cache_mtp_slot *s;

    if (cache->mtp.n == 0)
        return;
    s = &cache->mtp.slots[slot];
    s->end = s->end < n ? s->end : n;
    drop_holes_from(s, n);
}

void
session_cache_mtp_forget(struct cache *cache, int32_t slot, int32_t n)
{
    if (cache->mtp.n)
        cache->mtp.slots[slot] = (struct cache_mtp_slot){ .first = n };
}

/* Rows go through the host: a few kilobytes. Another process may have them. */
static bool
copy_rows(struct cache_mtp *m, int32_t to, int32_t from)
{
    size_t size = ROWS * m->rows->nb[1];
    void *rows = m->rows->buffer ? mem_alloc(size) : NULL;

    if (!rows)
        return false;
    ggml_backend_tensor_get(m->rows, rows, (size_t)from * size, size);
    ggml_backend_tensor_set(m->rows, rows, (size_t)to * size, size);
    mem_free(rows);
    return true;
}

void
session_cache_mtp_copy(struct cache *cache, int32_t to, int32_t from, int32_t n)
{
    struct cache_mtp *m = &cache->mtp;

    if (m->n == 0)
        return;
    m->slots[to] = m->slots[from];
    session_cache_mtp_cut(cache, to, n);
    if (m->keys_alone)
        return;
    if (!session_cache_mtp_has(cache, to, n - 1) || !copy_rows(m, to, from))
        m->slots[to].row = m->slots[to].end = 0;
}
