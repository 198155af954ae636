/* states.c - where in a grammar a text may stand */
#include <config.h>

#include "sample/states.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum {
    MAX_ALL_SPOTS = 1 << 24,
    MAX_STATES = 1 << 18,
    MAX_STEPS = 1 << 25,
};

/* ---- indices ---- */

static uint64_t
mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t
hash_frame(int32_t back, int32_t below)
{
    return mix(mix(1, (uint32_t)back), (uint32_t)below);
}

static uint64_t
hash_spots(const struct spot *s, size_t n, bool may_end)
{
    uint64_t h = may_end;

    for (size_t i = 0; i < n; i++)
        h = mix(h, (uint64_t)(uint32_t)s[i].pc << 32 | (uint32_t)s[i].frame);
    return h;
}

static void
index_state(struct index *x, uint64_t hash, int32_t id)
{
    size_t i = hash & x->mask;

    while (x->slots[i])
        i = (i + 1) & x->mask;
    x->slots[i] = id;
}

/* Room for twice as many as there are; *moved: the old ones are to be placed
 * again. */
static bool
index_room(struct index *x, size_t n, bool *moved)
{
    size_t slots = x->slots ? x->mask + 1 : 1024;
    int32_t *bigger;

    *moved = false;
    if (x->slots && n < slots / 2)
        return true;
    while (slots / 2 <= n)
        slots *= 2;
    bigger = mem_array(slots, sizeof(*bigger));
    if (!bigger)
        return false;
    mem_free(x->slots);
    *x = (struct index){ bigger, slots - 1 };
    *moved = true;
    return true;
}

/* ---- frames ---- */

static void
place_frame(struct states *s, int32_t id)
{
    const struct frame *f = &s->frames[id];

    index_state(&s->frame_index, hash_frame(f->back, f->below), id);
}

int32_t
sample_states_frame(struct states *s, int32_t back, int32_t below)
{
    const struct index *x = &s->frame_index;
    bool moved;

    for (size_t i = hash_frame(back, below) & x->mask; x->slots[i];
         i = (i + 1) & x->mask) {
        const struct frame *f = &s->frames[x->slots[i]];

        if (f->back == back && f->below == below)
            return x->slots[i];
    }
    if (s->n_frames >= INT32_MAX / 2 ||
        !mem_grow(&s->frames, &s->frames_cap, s->n_frames + 1,
                  sizeof(*s->frames)) ||
        !index_room(&s->frame_index, s->n_frames + 1, &moved))
        return 0;
    s->frames[s->n_frames] =
        (struct frame){ back, below, below ? s->frames[below].depth + 1 : 1 };
    for (size_t i = 1; moved && i < s->n_frames; i++)
        place_frame(s, (int32_t)i);
    place_frame(s, (int32_t)s->n_frames);
    return (int32_t)s->n_frames++;
}

/* ---- states ---- */

static int
by_spot(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;

    if (x->pc != y->pc)
        return x->pc < y->pc ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static const struct spot *
spots_of(const struct states *s, const struct state *e)
{
    return e->n ? s->spots + e->first : NULL;
}

static void
place_state(struct states *s, int32_t id)
{
    const struct state *e = &s->states[id];

    index_state(&s->state_index, hash_spots(spots_of(s, e), e->n, e->may_end),
                id);
}

static int32_t
find_state(const struct states *s, const struct spot *spots, size_t n,
           bool may_end)
{
    const struct index *x = &s->state_index;

    for (size_t i = hash_spots(spots, n, may_end) & x->mask; x->slots[i];
         i = (i + 1) & x->mask) {
        const struct state *e = &s->states[x->slots[i]];

        if (e->n == n && e->may_end == may_end &&
            (n == 0 || memcmp(spots_of(s, e), spots, n * sizeof(*spots)) == 0))
            return x->slots[i];
    }
    return 0;
}

/* Makes room for one more state, with n_spots spots. */
static enum gg_status
grow_states(struct states *s, size_t n_spots, struct gg_error *err)
{
    size_t n = s->n + 1;
    bool moved;

    if (n >= MAX_STATES || n * s->n_classes > MAX_STEPS ||
        s->n_spots + n_spots > MAX_ALL_SPOTS)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "the grammar is too ambiguous here");
    if (!mem_grow(&s->states, &s->cap, n, sizeof(*s->states)) ||
        !mem_grow(&s->steps, &s->steps_cap, n * s->n_classes,
                  sizeof(*s->steps)) ||
        !mem_grow(&s->spots, &s->spots_cap, s->n_spots + n_spots,
                  sizeof(*s->spots)) ||
        !index_room(&s->state_index, n, &moved))
        return error_nomem(err);
    for (size_t i = 1; moved && i < s->n; i++)
        place_state(s, (int32_t)i);
    return GG_OK;
}

enum gg_status
sample_states_find(struct states *s, struct spot *spots, size_t n, bool may_end,
                   int32_t *out, struct gg_error *err)
{
    size_t k = s->n_classes;
    enum gg_status st;

    *out = STATES_DEAD;
    if (n == 0 && !may_end)
        return GG_OK;
    qsort(spots, n, sizeof(*spots), by_spot);
    *out = find_state(s, spots, n, may_end);
    if (*out)
        return GG_OK;
    st = grow_states(s, n, err);
    if (st != GG_OK)
        return st;
    *out = (int32_t)s->n++;
    s->states[*out] = (struct state){ .first = s->n_spots,
                                      .n = (uint32_t)n,
                                      .may_end = may_end };
    memset(s->steps + (size_t)*out * k, 0, k * sizeof(*s->steps));
    if (n)
        memcpy(s->spots + s->n_spots, spots, n * sizeof(*spots));
    s->n_spots += n;
    place_state(s, *out);
    return GG_OK;
}

/* ---- all of them ---- */

enum gg_status
sample_states_init(struct states *s, size_t n_classes, struct gg_error *err)
{
    bool moved;

    *s = (struct states){ .n_classes = n_classes, .n_frames = 1, .n = 1 };
    return index_room(&s->frame_index, 1, &moved) &&
                   index_room(&s->state_index, 1, &moved)
               ? GG_OK
               : error_nomem(err);
}

void
sample_states_drop_masks(struct states *s)
{
    for (size_t i = 1; i < s->n; i++) {
        mem_free(s->states[i].mask);
        s->states[i].mask = NULL;
    }
}

void
sample_states_clear(struct states *s)
{
    sample_states_drop_masks(s);
    mem_free(s->frames);
    mem_free(s->states);
    mem_free(s->steps);
    mem_free(s->spots);
    mem_free(s->frame_index.slots);
    mem_free(s->state_index.slots);
}

/* The stack of `id` among the new frames; 0: none, or no memory (*failed). */
static int32_t
move_frame(struct states *s, const struct states *old, int32_t id, bool *failed)
{
    int32_t chain[STATES_MAX_STACK], moved = 0;
    size_t n = 0;

    for (; id; id = old->frames[id].below)
        chain[n++] = old->frames[id].back;
    while (n && !*failed) {
        moved = sample_states_frame(s, chain[--n], moved);
        *failed = moved == 0;
    }
    return moved;
}

static enum gg_status
move_state(struct states *s, const struct states *old, int32_t *id,
           struct gg_error *err)
{
    const struct state *e = &old->states[*id];
    struct spot *spots = mem_array(e->n + 1, sizeof(*spots));
    enum gg_status st = GG_OK;
    bool failed = !spots;

    for (uint32_t i = 0; !failed && i < e->n; i++) {
        struct spot from = old->spots[e->first + i];

        spots[i].pc = from.pc;
        spots[i].frame = move_frame(s, old, from.frame, &failed);
    }
    st = failed ? error_nomem(err)
                : sample_states_find(s, spots, e->n, e->may_end, id, err);
    mem_free(spots);
    return st;
}

enum gg_status
sample_states_keep(struct states *s, int32_t **roots, size_t n,
                   struct gg_error *err)
{
    struct states old = *s, made;
    enum gg_status st = sample_states_init(&made, s->n_classes, err);

    for (size_t i = 0; st == GG_OK && i < n; i++)
        st = move_state(&made, &old, roots[i], err);
    if (st == GG_OK)
        *s = made;
    sample_states_clear(st == GG_OK ? &old : &made);
    return st;
}
