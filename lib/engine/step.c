/* step.c - how much of prompts a step evaluates
 *
 * Texts that draw wait for a step's prompts: these enter in pieces, as many ids
 * as the bound and the time that ids have taken so far allow. A quarter of them
 * is the oldest prompt's, so that it comes to an end, and the rest goes to what
 * lacks least, so that short prompts do not wait for long ones. A prompt that
 * begins as one before it does waits until that part is evaluated, and copies
 * it. */
#include "engine/text.h"

enum {
    LEAST = 16, /* ids of a step, however long they take */
    ALONE = 4,  /* times as long may a step take that no text draws in */
};

void
gg_engine_bound_steps(struct gg_engine *engine, size_t ids, uint64_t us)
{
    if (engine)
        engine->bound = (struct engine_bound){ .ids = ids, .us = us };
}

/* ---- time ---------------------------------------------------------------- */

/* How many ids of prompts `us` microseconds are enough for. */
static size_t
count_ids(const struct engine_bound *b, double us)
{
    size_t most = b->ids ? b->ids : SIZE_MAX;
    double n;

    if (!b->us)
        return most;
    n = b->us_per_id > 0 ? us / b->us_per_id : LEAST;
    if (n < LEAST)
        n = LEAST;
    return n < (double)most ? (size_t)n : most;
}

/* The ids that a step may have, next to texts that draw or alone. */
static size_t
budget(const struct engine_bound *b, bool decodes)
{
    double us = (double)b->us;

    return count_ids(b, decodes ? us - b->us_decode : us * ALONE);
}

size_t
engine_step_ids(const struct gg_engine *e, bool alone)
{
    return count_ids(&e->bound, (double)e->bound.us * (alone ? ALONE : 1));
}

static void
learn_time(double *known, double us)
{
    *known += *known > 0 ? (us - *known) / 4 : us;
}

void
engine_step_learn(struct gg_engine *e, size_t n, bool decodes, double us)
{
    struct engine_bound *b = &e->bound;

    if (n == 0 && decodes)
        learn_time(&b->us_decode, us);
    if (n == 0)
        return;
    us = decodes && us > b->us_decode ? us - b->us_decode : us;
    learn_time(&b->us_per_id, us / (double)n);
}

/* ---- what prompts get ---------------------------------------------------- */

size_t
engine_step_lacks(const struct gg_text *t)
{
    const struct gg_sequence *q = t->sequence;

    if (q->slot >= 0 && q->n_held > 0)
        return q->n_ids > q->n_held ? q->n_ids - q->n_held : 1;
    return gg_sequence_cost(q, NULL, 0);
}

/* One id after others of the answer, and those that recurrent layers evaluate
 * again. */
static bool
draws(const struct gg_text *t)
{
    const struct gg_sequence *q = t->sequence;

    return t->n_made > 0 && q->slot >= 0 && q->n_ids - q->n_held <= DRAFT_MOST;
}

/* How many ids both begin with, of which the other has not all evaluated. */
static size_t
pending_prefix(const struct gg_sequence *q, const struct gg_sequence *other)
{
    size_t most = q->n_ids < other->n_ids ? q->n_ids : other->n_ids, n = 0;

    if (!engine_may_share(
            &(struct engine_slot){ .owner = (struct gg_sequence *)other }, q))
        return 0;
    while (n < most && q->ids[n] == other->ids[n])
        n++;
    n -= n == q->n_ids; /* its last one is evaluated for its logits */
    return other->slot >= 0 && other->n_held >= n ? 0 : n;
}

/* Whether what is not yet evaluated of a prompt before it is worth waiting
 * for. */
static bool
waits(struct gg_text *const *texts, size_t i)
{
    const struct gg_sequence *q = texts[i]->sequence;
    size_t lacks;

    if (!q->engine->can.copy || (q->slot >= 0 && q->n_held > 0))
        return false;
    lacks = engine_step_lacks(texts[i]);
    for (size_t k = 0; k < i; k++) {
        size_t n = pending_prefix(q, texts[k]->sequence);

        if (n > q->n_ids - lacks + LEAST)
            return true;
    }
    return false;
}

static size_t
give(struct gg_sequence *q, size_t lacks, size_t n)
{
    size_t more = lacks - q->most < n ? lacks - q->most : n;

    q->most += more;
    return n - more;
}

/* The text that lacks least of those that get less than that; NULL: none. */
static struct gg_text *
find_least(struct gg_text *const *texts, const size_t *lacks, size_t n,
           size_t *least)
{
    struct gg_text *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (texts[i]->sequence->most < lacks[i] &&
            (!best || lacks[i] < *least)) {
            best = texts[i];
            *least = lacks[i];
        }
    return best;
}

static void
share_out(struct gg_text *const *texts, const size_t *lacks, size_t n,
          size_t left)
{
    struct gg_text *t;
    size_t least = 0;

    for (size_t i = 0; i < n; i++)
        if (texts[i]->sequence->most < lacks[i]) {
            left =
                left - left / 4 + give(texts[i]->sequence, lacks[i], left / 4);
            break;
        }
    while (left && (t = find_least(texts, lacks, n, &least)))
        left = give(t->sequence, least, left);
}

/* Texts that take part come first, in their order. */
static size_t
move_up(struct gg_text **texts, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (texts[i]->sequence->most > 0)
            texts[found++] = texts[i];
    return found;
}

size_t
engine_step_plan(struct gg_engine *e, struct gg_text **texts, size_t n,
                 size_t *lacks, bool *decodes)
{
    *decodes = false;
    for (size_t i = 0; i < n; i++) {
        bool drawing = draws(texts[i]);

        *decodes = *decodes || drawing;
        lacks[i] = drawing || waits(texts, i) ? 0 : engine_step_lacks(texts[i]);
        texts[i]->sequence->most = drawing ? SIZE_MAX : 0;
    }
    share_out(texts, lacks, n, budget(&e->bound, *decodes));
    return move_up(texts, n);
}
