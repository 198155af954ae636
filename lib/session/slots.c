/* slots.c - which ids each slot of a session holds */
#include "session/slots.h"

#include <string.h>

#include "core/mem.h"

enum {
    MOST_POSITION = 1 << 30, /* of a run's first row */
};

bool
session_slots_init(struct slots *s, int32_t n, bool keep, size_t n_adapters,
                   const struct media *media)
{
    size_t size = (size_t)n;

    *s = (struct slots){
        .n = n,
        .media = media,
        .n_adapters = n_adapters,
        .scales = mem_array(size * n_adapters + 1, sizeof(*s->scales)),
        .length = mem_array(size, sizeof(*s->length)),
        .encoded = mem_array(size, sizeof(*s->encoded)),
        .there = mem_array(size, sizeof(*s->there)),
        .kept = keep ? mem_array(size, sizeof(*s->kept)) : NULL,
        .runs = mem_array(size, sizeof(*s->runs)),
    };
    return s->length && s->encoded && s->there && s->scales && s->runs &&
           (s->kept || !keep);
}

void
session_slots_clear(struct slots *s)
{
    for (int32_t i = 0; i < s->n && s->kept; i++)
        mem_free(s->kept[i].ids);
    for (int32_t i = 0; i < s->n && s->runs; i++)
        mem_free(s->runs[i].list);
    mem_free(s->kept);
    mem_free(s->runs);
    mem_free(s->length);
    mem_free(s->encoded);
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
    if ((size_t)to->switched.n > at)
        to->switched = (struct graph_switched){ 0 };
    return true;
}

/* ---- runs of rows -------------------------------------------------------- */

static void
cut_runs(struct slot_runs *r, int32_t n)
{
    while (r->n > 0 && r->list[r->n - 1].at >= n)
        r->n--;
    if (r->n > 0 && r->list[r->n - 1].n > n - r->list[r->n - 1].at)
        r->list[r->n - 1].n = n - r->list[r->n - 1].at;
}

/* However far the rows before reach. */
static int32_t
begin_of_run(const struct slots *s, int32_t slot, int32_t at)
{
    int32_t position = session_slots_position(s, slot, at).x[0];

    return position < MOST_POSITION ? position : MOST_POSITION;
}

static bool
add_row(struct slots *s, int32_t slot, int32_t at, int32_t id)
{
    struct slot_runs *r = &s->runs[slot];
    struct slot_run *last = r->n ? &r->list[r->n - 1] : NULL;

    if (last && last->at + last->n == at && last->id + last->n == id &&
        session_media_of(s->media, id) ==
            session_media_of(s->media, last->id)) {
        last->n++;
        return true;
    }
    if (!mem_grow(&r->list, &r->cap, r->n + 1, sizeof(*r->list)))
        return false;
    r->list[r->n] = (struct slot_run){ at, 1, id, begin_of_run(s, slot, at) };
    r->n++;
    return true;
}

static bool
keep_runs(struct slots *s, const struct gg_chunk *c)
{
    int32_t at = s->length[c->slot];

    cut_runs(&s->runs[c->slot], at);
    for (size_t i = 0; i < c->n && s->media->n > 0; i++)
        if (session_media_has_row(s->media, c->ids[i]) &&
            !add_row(s, c->slot, at + (int32_t)i, c->ids[i]))
            return false;
    return true;
}

static bool
copy_runs(struct slots *s, int32_t to, int32_t from, int32_t n)
{
    const struct slot_runs *r = &s->runs[from];
    struct slot_runs *t = &s->runs[to];

    if (to != from && r->n > 0) {
        if (!mem_grow(&t->list, &t->cap, r->n, sizeof(*t->list)))
            return false;
        memcpy(t->list, r->list, r->n * sizeof(*t->list));
    }
    t->n = r->n;
    cut_runs(t, n);
    return true;
}

/* The last one that begins at `at` or before; NULL: there is none. */
static const struct slot_run *
run_at(const struct slot_runs *r, int32_t at)
{
    size_t i = r->n;

    while (i > 0 && r->list[i - 1].at > at)
        i--;
    return i > 0 ? &r->list[i - 1] : NULL;
}

int32_t
session_slots_edge(const struct slots *s, int32_t slot, int32_t n)
{
    const struct slot_run *r = n > 0 ? run_at(&s->runs[slot], n - 1) : NULL;
    struct medium_block b;
    int32_t id;

    if (n < s->encoded[slot])
        return 0;
    if (!r || n - r->at >= r->n)
        return n;
    id = r->id + (n - r->at);
    if (!session_media_block(s->media, id, &b) || b.first >= id)
        return n;
    return b.first > r->id ? n - (id - b.first) : r->at;
}

bool
session_slots_hold(const struct slots *s, const struct medium *m)
{
    for (int32_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < s->runs[i].n; k++)
            if (s->runs[i].list[k].id >= m->first &&
                s->runs[i].list[k].id - m->first < m->n)
                return true;
    return false;
}

static struct slot_position
thrice(int32_t x)
{
    return (struct slot_position){ { x, x, x } };
}

struct slot_position
session_slots_position(const struct slots *s, int32_t slot, int32_t at)
{
    const struct slot_run *r = run_at(&s->runs[slot], at);
    const struct medium *m;
    struct slot_position p;
    const int32_t *x;

    if (!r)
        return thrice(at);
    if (at >= r->at + r->n)
        return thrice(r->position +
                      session_media_extent(s->media, r->id, r->n) + at -
                      (r->at + r->n));
    m = session_media_of(s->media, r->id);
    if (!m->positions)
        return thrice(r->position + at - r->at);
    x = m->positions + 3 * (size_t)(r->id - m->first + at - r->at);
    for (int i = 0; i < 3; i++)
        p.x[i] = r->position + x[i];
    return p;
}

/* It goes on from where it was: ids are looked at once. */
int32_t
session_slots_adapter(const struct slots *s, const struct model_switches *w,
                      int32_t slot, int32_t at)
{
    struct slot_ids *kept = &s->kept[slot];
    int32_t adapter = 0;

    if (kept->switched.n > at)
        kept->switched = (struct graph_switched){ 0 };
    while (kept->switched.n <= at)
        adapter = graph_switch(w, &kept->switched, kept->ids[kept->switched.n]);
    return adapter;
}

/* ---- ids ----------------------------------------------------------------- */

bool
session_slots_keep(struct slots *s, const struct gg_chunk *chunk)
{
    return keep_runs(s, chunk) &&
           (!s->kept ||
            put_ids(&s->kept[chunk->slot], (size_t)s->length[chunk->slot],
                    chunk->ids, chunk->n));
}

void
session_slots_forget(struct slots *s, int32_t slot)
{
    cut_runs(&s->runs[slot], s->length[slot]);
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
    if (n == 0)
        s->encoded[slot] = 0;
    if (s->there[slot] > n)
        s->there[slot] = n;
    cut_runs(&s->runs[slot], n);
}

bool
session_slots_copy(struct slots *s, int32_t to, int32_t from, int32_t n)
{
    int32_t there = s->there[from];

    if (to != from && n > 0 && s->kept &&
        !put_ids(&s->kept[to], 0, s->kept[from].ids, (size_t)n))
        return false;
    if (!copy_runs(s, to, from, n))
        return false;
    s->length[to] = n;
    s->encoded[to] = n > 0 ? s->encoded[from] : 0;
    s->there[to] = there < n ? there : n;
    session_slots_set_scales(s, to, session_slots_scales(s, from));
    return true;
}
