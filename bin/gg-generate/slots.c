/* slots.c - which answer has which slot of the session */
#include <config.h>

#include "gg-generate/generate.h"
#include "gg-generate/slots.h"

#include <stdlib.h>

enum {
    FEW = 16, /* ids: to evaluate them again costs next to nothing */
};

/* The last slot has what is to stay. */
static void
keep_base(struct slots *s, const struct generate *g)
{
    struct slot *slot = &s->list[s->n - 1];

    if (g->base.n == 0)
        return;
    answer_put(&slot->answer, g->base.ids, g->base.n);
    if (s->n > 1) {
        s->base = slot;
        s->n--;
    }
}

void
slots_open(struct slots *s, const struct generate *g, unsigned flags)
{
    *s = (struct slots){ .engine = &g->engine, .n = g->engine.n_slots };
    s->list = cli_alloc(NULL, (size_t)s->n, sizeof(*s->list));
    for (int32_t i = 0; i < s->n; i++) {
        s->list[i] = (struct slot){ 0 };
        answer_init(&s->list[i].answer, s->engine, i);
        s->list[i].answer.flags = flags;
    }
    keep_base(s, g);
}

void
slots_close(struct slots *s)
{
    for (int32_t i = 0; i < s->n + (s->base != NULL); i++)
        answer_clear(&s->list[i].answer);
    free(s->list);
    *s = (struct slots){ 0 };
}

static size_t
held_by(const struct slots *s, const struct slot *slot)
{
    return (size_t)gg_session_length(s->engine->session, slot->answer.slot);
}

/* How many of the ids the slot begins with, at most `most`. Of an answer that
 * goes on, also what is not yet evaluated. */
static size_t
common(const struct slots *s, const struct slot *slot, const int32_t *ids,
       size_t most)
{
    size_t has = slot->record ? slot->answer.n_ids - 1 : held_by(s, slot);
    size_t n = 0;

    most = most < has ? most : has;
    while (n < most && slot->answer.ids[n] == ids[n])
        n++;
    return n;
}

/* The slot that begins most like the ids, a free one if there is, and how much
 * so; NULL: none does, or so little that copying is not worth it. */
static struct slot *
find_alike(const struct slots *s, const int32_t *ids, size_t most, size_t *n)
{
    struct slot *best = NULL;

    *n = FEW;
    for (int32_t i = 0; i < s->n + (s->base != NULL); i++) {
        struct slot *slot = &s->list[i];
        size_t same = common(s, slot, ids, most);

        if (same > *n ||
            (best && same == *n && best->record && !slot->record)) {
            *n = same;
            best = slot;
        }
    }
    return best;
}

/* Of those that are free the one that was used least recently. */
static struct slot *
find_free(const struct slots *s)
{
    struct slot *best = NULL;

    for (int32_t i = 0; i < s->n; i++) {
        struct slot *slot = &s->list[i];

        if (!slot->record && (!best || slot->used < best->used))
            best = slot;
    }
    return best;
}

/* The slot holds the first n of its ids from now on. False: a signal came. */
static bool
evaluate_prefix(struct slots *s, struct slot *slot, size_t n)
{
    size_t held = held_by(s, slot);
    struct gg_chunk chunk = { .slot = slot->answer.slot,
                              .ids = slot->answer.ids + held,
                              .n = n - held };
    struct gg_error err;
    enum gg_status st;

    if (held >= n)
        return true;
    st = gg_session_eval(s->engine->session, &chunk, 1, &err);
    if (st == GG_ERR_ABORTED && cli_signal())
        return false;
    cli_check(st, &err);
    s->n_evaluated += chunk.n;
    return true;
}

struct slot *
slots_take(struct slots *s, struct record *record, const int32_t *ids, size_t n)
{
    struct gg_session *session = s->engine->session;
    struct slot *alike = find_alike(s, ids, n - 1, &n);
    bool own = alike && !alike->record && alike != s->base;
    struct slot *slot = own ? alike : find_free(s);
    size_t base = s->base ? s->base->answer.n_ids : 0;
    int32_t held = 0;

    if (alike && !evaluate_prefix(s, alike, n))
        return NULL;
    if (alike == slot)
        held = gg_session_truncate(session, slot->answer.slot, (int32_t)n);
    else if (alike)
        held = gg_session_copy(session, slot->answer.slot, alike->answer.slot,
                               (int32_t)n);
    else
        gg_session_truncate(session, slot->answer.slot, 0);
    if ((size_t)held < base && alike != s->base && base <= n)
        held = gg_session_copy(session, slot->answer.slot,
                               s->base->answer.slot, (int32_t)base);
    s->n_copied += (size_t)held;
    slot->record = record;
    s->n_busy++;
    return slot;
}

void
slots_leave(struct slots *s, struct slot *slot)
{
    slot->record = NULL;
    slot->used = ++s->clock;
    s->n_busy--;
}

void
slots_copy(struct slots *s, struct slot *to, const struct slot *from, size_t n)
{
    int32_t held;

    to->answer.n_ids = 0;
    answer_put(&to->answer, from->answer.ids, n);
    held = gg_session_copy(s->engine->session, to->answer.slot,
                           from->answer.slot, (int32_t)n);
    s->n_copied += (size_t)held;
}

void
slots_cut(const struct slots *s, struct slot *slot)
{
    if (held_by(s, slot) > slot->answer.n_ids)
        gg_session_truncate(s->engine->session, slot->answer.slot,
                            (int32_t)slot->answer.n_ids);
}
