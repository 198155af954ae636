/* slots.c - which sequence has which slot of the session, and what it begins
 * with there */
#include <assert.h>
#include <string.h>

#include "core/mem.h"
#include "engine/engine.h"

enum {
    FEW = 16, /* ids: to evaluate them again costs next to nothing */
};

/* Ids of a sequence's beginning that are somewhere already. */
struct shared {
    int32_t slot; /* -1: nothing that is worth copying */
    size_t n;     /* ids */
};

/* ---- taking and leaving -------------------------------------------------- */

/* Empty ones go first, then those whose sequence is gone, those of sequences,
 * and last those that are to be kept. */
static int
rank_of(const struct engine_slot *s)
{
    return s->owner ? 2 + s->owner->keep : s->n_ids > 0;
}

/* The slot to take, of equals the least recently used; -1: all are pinned. */
static int32_t
find_slot(const struct gg_engine *e)
{
    int32_t best = -1;

    for (int32_t i = 0; i < e->n_slots; i++) {
        const struct engine_slot *s = &e->slots[i];
        int rank = rank_of(s), least = best < 0 ? 0 : rank_of(&e->slots[best]);

        if (s->owner && s->owner->pinned)
            continue;
        if (best < 0 || rank < least ||
            (rank == least && s->used < e->slots[best].used))
            best = i;
    }
    return best;
}

/* Its sequence loses it; what was there may stay for the one that takes it. */
static void
take_slot(struct gg_sequence *q, int32_t slot)
{
    struct engine_slot *s = &q->engine->slots[slot];

    if (s->owner) {
        s->owner->slot = -1;
        s->owner->n_held = 0;
    }
    mem_free(s->ids);
    mem_free(s->logprobs);
    mem_free(s->scales);
    mem_free(s->key);
    *s = (struct engine_slot){ .owner = q, .used = ++q->engine->clock };
    q->slot = slot;
}

void
engine_take_slot(struct gg_sequence *q)
{
    int32_t slot = find_slot(q->engine);

    assert(slot >= 0);
    take_slot(q, slot);
}

void
engine_leave_slot(struct gg_sequence *q)
{
    if (q->slot < 0)
        return;
    q->engine->slots[q->slot] = (struct engine_slot){
        .ids = q->ids,
        .logprobs = q->logprobs,
        .scales = q->scales,
        .key = q->key,
        .n_ids = q->n_held,
        .used = ++q->engine->clock,
    };
    q->ids = NULL;
    q->logprobs = NULL;
    q->scales = NULL;
    q->key = NULL;
    q->slot = -1;
}

/* ---- shared prefixes ----------------------------------------------------- */

/* Ids that are there, or, with `pending`, would be if the sequence were
 * evaluated so far. The last id of a scored sequence counts, though it is not
 * evaluated. */
static size_t
slot_length(const struct gg_sequence *q, bool pending)
{
    size_t n = q->n_held + (q->n_known > q->n_held);

    if (!pending || !q->pinned || q->engine->bound.applies)
        return n;
    return q->limit < q->n_ids ? q->limit : q->n_ids - (q->n_ids > 0);
}

static const int32_t *
ids_of(const struct engine_slot *s, bool pending, size_t *n)
{
    const struct gg_sequence *q = s->owner;

    *n = q ? slot_length(q, pending) : s->n_ids;
    return q ? q->ids : s->ids;
}

/* Whether adapters count as much in both: then keys and values are alike. */
static bool
same_scales(const struct gg_engine *e, const float *a, const float *b)
{
    if (!a || !b)
        return a == b;
    for (size_t i = 0; i < e->n_adapters; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool
same_key(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A sequence that is to be kept and has no key is everybody's. */
bool
engine_may_share(const struct engine_slot *s, const struct gg_sequence *q)
{
    const struct gg_sequence *owner = s->owner;
    const char *key = owner ? owner->key : s->key;
    bool common = owner && owner->keep && !key;

    return (common || same_key(key, q->key)) &&
           same_scales(q->engine, owner ? owner->scales : s->scales, q->scales);
}

/* How many of the first n ids are the same, up to the edge of a block; fewer
 * than `least` count as none. */
static size_t
common_prefix(const struct gg_engine *e, const int32_t *a, const int32_t *b,
              size_t n, size_t least)
{
    size_t i = 0;

    if (n < least || (least && a[least - 1] != b[least - 1]))
        return 0;
    while (i < n && a[i] == b[i])
        i++;
    i = session_edge(e->session, b, i);
    return i < least ? 0 : i;
}

/* How many of n ids can be copied from there. Layers may have given up what
 * they need; but not while ids are evaluated just so far. */
static size_t
copyable(const struct gg_engine *e, int32_t slot, size_t n)
{
    const struct gg_sequence *q = e->slots[slot].owner;
    size_t last = e->score && n > 0; /* which is not evaluated */

    if (q && q->n_held < n - last)
        return n;
    return (size_t)session_kept(e->session, slot, (int32_t)(n - last)) + last;
}

/* The slot that begins most like q's first `most` ids, of those that have them.
 * One that would have to be evaluated first must be better by more than it
 * costs. */
static struct shared
find_shared(const struct gg_sequence *q, size_t most)
{
    const struct gg_engine *e = q->engine;
    struct shared best = { -1, FEW };

    for (int pending = 0; pending < 2 && e->can.copy; pending++) {
        size_t least = best.n + 1 + (pending && best.slot >= 0 ? FEW : 0);

        for (int32_t i = 0; i < e->n_slots; i++) {
            size_t n, same;
            const int32_t *ids = ids_of(&e->slots[i], pending, &n);

            if (e->slots[i].owner == q || !engine_may_share(&e->slots[i], q))
                continue;
            same = copyable(
                e, i,
                common_prefix(e, ids, q->ids, n < most ? n : most, least));
            if (same >= least) {
                best = (struct shared){ i, same };
                least = same + 1;
            }
        }
    }
    return best;
}

/* A pinned sequence's first n ids are evaluated before the others. */
static enum gg_status
evaluate_shared(struct gg_engine *e, const struct shared *s,
                struct gg_error *err)
{
    struct gg_sequence *owner = e->slots[s->slot].owner;
    struct gg_chunk chunk;
    enum gg_status st = GG_OK;

    if (!owner || owner->n_held >= s->n || !engine_missing(owner, s->n, &chunk))
        return GG_OK;
    st = engine_run(e, &chunk, 1, NULL, err);
    if (st == GG_OK)
        engine_has(owner, s->n);
    return st;
}

/* Copies the log-probabilities that are known of n ids there, in an engine that
 * scores. Returns how many of them q's slot may hold: what is likely after the
 * last one is not known. */
static size_t
copy_known(struct gg_sequence *q, const struct engine_slot *from, size_t n)
{
    const float *its = from->owner ? from->owner->logprobs : from->logprobs;

    if (!q->engine->score)
        return n;
    if (q->n_known < n) {
        memcpy(q->logprobs, its, n * sizeof(*its));
        q->n_known = n;
    }
    return q->n_known > n ? n : n - 1;
}

/* The sequence's new slot gets what is shared. A slot that nobody owns may be
 * the new one itself. */
static size_t
copy_shared(struct gg_sequence *q, const struct shared *s, int32_t slot)
{
    struct gg_engine *e = q->engine;
    size_t n = copy_known(q, &e->slots[s->slot], s->n);

    if (slot == s->slot)
        return (size_t)gg_session_truncate(e->session, slot, (int32_t)n);
    return (size_t)gg_session_copy(e->session, slot, s->slot, (int32_t)n);
}

size_t
gg_sequence_cost(const struct gg_sequence *sequence,
                 struct gg_sequence *const *others, size_t n_others)
{
    const struct gg_sequence *q = sequence;
    size_t most;
    struct shared shared = { -1, 0 };

    if (!q || (!others && n_others))
        return 0;
    most = q->n_ids - (q->n_ids > 0);
    if (q->slot >= 0)
        return q->n_ids - (q->n_held < q->n_ids ? q->n_held : q->n_ids);
    shared = find_shared(q, most);
    for (size_t i = 0; i < n_others; i++) {
        size_t has = others[i]->n_ids - (others[i]->n_ids > 0), same;

        if (!engine_may_share(&(struct engine_slot){ .owner = others[i] }, q))
            continue;
        same = common_prefix(q->engine, others[i]->ids, q->ids,
                             has < most ? has : most, shared.n + 1);
        shared.n = same ? same : shared.n;
    }
    return q->n_ids - (shared.slot < 0 && shared.n == FEW ? 0 : shared.n);
}

/* The slot that is to hold what is shared: the sequence's own, if it has one;
 * that which has it, if no other sequence can have much more of it; else the
 * next to be taken. */
static int32_t
choose_slot(const struct gg_sequence *q, const struct shared *shared)
{
    const struct gg_engine *e = q->engine;
    int32_t slot = q->slot >= 0 ? q->slot : find_slot(e);
    const struct engine_slot *s;

    assert(slot >= 0);
    if (q->slot >= 0 || shared->slot < 0)
        return slot;
    s = &e->slots[shared->slot];
    return !s->owner && s->n_ids <= shared->n + FEW ? shared->slot : slot;
}

enum gg_status
engine_place(struct gg_sequence *q, struct gg_error *err)
{
    struct gg_engine *e = q->engine;
    struct shared shared = find_shared(q, q->limit);
    enum gg_status st = GG_OK;
    int32_t slot;
    size_t held = 0;

    if (shared.slot >= 0)
        st = evaluate_shared(e, &shared, err);
    if (st != GG_OK)
        return st;
    slot = choose_slot(q, &shared);
    engine_make_room(q, slot, shared.slot, shared.slot < 0 ? 0 : shared.n);
    if (shared.slot >= 0)
        held = copy_shared(q, &shared, slot);
    else
        gg_session_truncate(e->session, slot, 0);
    if (q->slot < 0)
        take_slot(q, slot);
    q->n_held = q->n_shared = held;
    e->stats.n_copied += held;
    return GG_OK;
}
