/* draft_length.c - how many ids to draft: as many as pay */
#include "engine/draft_length.h"

#include <math.h>
#include <string.h>

#include "engine/draft.h"

enum {
    REFRESH = 64, /* evaluations with drafts before one without: it measures */
    RESTS = 4,
    FORGET = 128, /* evaluations without drafts that make times doubtful */
    MANY = 64,
    ASIDES = 3,       /* that are made one after the other, */
    MOST_DOUBLED = 6, /* and times that the wait for further ones doubles; */
    WARM = 6,         /* evaluations before, of which drafts know */
};

static const double hope[DRAFT_KINDS] = { 0.4, 0.6, 0.8, 0.9 };

/* Limits of the account, in evaluations of one id a text. */
static const double begins_with = 1, most_credit = 4;
static const double share = 0.01; /* of all time */

void
engine_draft_length_init(struct draft_length *d)
{
    *d = (struct draft_length){ .n_texts = 1 };
}

void
engine_draft_length_begin(struct draft_length *d, size_t n_texts)
{
    d->n_texts = n_texts;
    d->drafting = 0;
}

/* ---- times --------------------------------------------------------------- */

static struct draft_times *
times_now(struct draft_length *d)
{
    size_t n = d->n_texts;

    return &d->times[n < 2 ? 0 : n < 3 ? 1 : n < 5 ? 2 : n < 9 ? 3 : 4];
}

static void
remember_time(struct draft_time *t, double us)
{
    memmove(t->last + 1, t->last, (DRAFT_SAMPLES - 1) * sizeof(*t->last));
    t->last[0] = us;
    t->n += t->n < DRAFT_SAMPLES;
}

/* Other work makes times longer, never shorter: the second shortest. */
static double
typical_time(const struct draft_time *t)
{
    double first = INFINITY, second = INFINITY;

    for (size_t i = 0; i < t->n; i++)
        if (t->last[i] < first) {
            second = first;
            first = t->last[i];
        } else if (t->last[i] < second) {
            second = t->last[i];
        }
    return t->n == 0 ? 0 : t->n < 3 ? first : second;
}

/* Time with n ids; if unknown, that with fewer, and somewhat more for each
 * further one: low, so that it is tried. What was measured only once may have
 * been a pause. */
static double
time_of_ids(const struct draft_times *t, size_t n)
{
    double us = typical_time(&t->of[0]);
    size_t known = 0;

    for (size_t k = 1; k <= n; k++) {
        double most = us * (1 + 0.25 * (double)(k - known));

        if (t->of[k].n == 0)
            continue;
        us = t->of[k].n == 1 && known > 0 ? fmin(most, t->of[k].last[0])
                                          : typical_time(&t->of[k]);
        known = k;
    }
    return us * (1 + 0.05 * (double)(n - known));
}

/* Up to twice as many ids as were measured are tried. */
static size_t
longest_tried(const struct draft_times *t)
{
    size_t n = DRAFT_MOST;

    while (n > 0 && t->of[n].n == 0)
        n--;
    return 2 * n + 1;
}

/* ---- odds ---------------------------------------------------------------- */

/* As if two more had been tried, with hope; after a first id as it was. */
static double
odds_of(const struct draft_length *d, int kind, size_t place)
{
    double p = hope[kind];

    for (size_t i = 0; i <= place && i < DRAFT_PLACES; i++) {
        const struct draft_odds *o = &d->odds[kind][i];

        p = (o->accepted + 2 * p) / (o->tried + 2);
    }
    return p;
}

static void
learn_place(struct draft_length *d, int kind, size_t place, bool accepted)
{
    size_t i = place < DRAFT_PLACES ? place : DRAFT_PLACES - 1;
    struct draft_odds *o = &d->odds[kind][i];

    o->tried = 0.95 * o->tried + 1;
    o->accepted = 0.95 * o->accepted + accepted;
}

void
engine_draft_length_learn(struct draft_length *d, int kind, size_t n,
                          size_t accepted)
{
    size_t n_texts = d->n_texts ? d->n_texts : 1;
    double plain = times_now(d)->plain;

    for (size_t i = 0; i < accepted; i++)
        learn_place(d, kind, i, true);
    if (accepted < n)
        learn_place(d, kind, accepted, false);
    d->owed -= (double)accepted * plain / (double)n_texts;
    d->owed = fmax(d->owed, -most_credit * plain);
}

void
engine_draft_length_tried(struct draft_length *d, int kind, bool right)
{
    learn_place(d, kind, 0, right);
    d->pays = d->pays || right;
}

/* Times with drafts may have been those of a pause. */
static void
forget_times(struct draft_times *t)
{
    for (size_t n = 1; n <= DRAFT_MOST; n++)
        t->of[n].n = t->of[n].n > 2 ? 2 : 0;
    t->each.n = t->each.n > 2 ? 2 : t->each.n;
}

void
engine_draft_length_skipped(struct draft_length *d, int kind)
{
    if (d->rests > 0 && d->rests % FORGET == 0)
        forget_times(times_now(d));

    for (int i = 0; i < DRAFT_PLACES; i++) {
        d->odds[kind][i].tried *= 0.97;
        d->odds[kind][i].accepted *= 0.97;
    }
}

/* ---- what pays ----------------------------------------------------------- */

/* The cost of evaluating accepted ids again, where a draft is not accepted
 * whole: it is with probability `whole`, and `made` ids are expected. */
static double
time_again(const struct draft_length *d, const struct draft_times *t,
           double whole, double made)
{
    size_t n = d->again + (size_t)made;

    if (!d->goes_back)
        return 0;
    n = n < DRAFT_MOST ? n : DRAFT_MOST;
    return (1 - whole) * (time_of_ids(t, n) - time_of_ids(t, 0));
}

/* Steps that a draft of n ids takes: `each` is the time of one. */
static double
steps_of(const struct draft_length *d, size_t n)
{
    return d->at_once && n > 1 ? 1 : (double)n;
}

/* Whether the account has that much if the draft is useless. */
static bool
may_spend(const struct draft_length *d, const struct draft_times *t, double us)
{
    double plain = time_of_ids(t, 0), given = time_of_ids(t, d->given);

    return d->owed + us - given <= share * d->spent + begins_with * plain;
}

static size_t
find_best(const struct draft_length *d, const struct draft_times *t, int kind,
          size_t most)
{
    double ids = 1 + (double)d->given, power = 1, best = 0;
    double each = kind == DRAFT_FORCED ? 0 : typical_time(&t->each);
    size_t found = 0;

    for (size_t n = 0; n <= most; n++) {
        double us =
            time_of_ids(t, d->again + d->given + n) + steps_of(d, n) * each;
        double rate = ids / (us + time_again(d, t, power, ids));

        if (rate > best && (n == 0 || may_spend(d, t, us))) {
            best = rate;
            found = n;
        }
        power *= odds_of(d, kind, n);
        ids += power; /* those accepted so far, and the one drawn after */
    }
    return found;
}

static size_t
min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* At first evaluations without drafts come more often. */
static size_t
refresh_after(const struct draft_times *t)
{
    return t->n_plain < 5 ? (size_t)2 << t->n_plain : REFRESH;
}

/* Whether an evaluation without drafts is next whatever pays. */
static bool
is_measuring(struct draft_length *d)
{
    const struct draft_times *t = times_now(d);

    return t->of[0].n == 0 || (t->since >= refresh_after(t) && d->again == 0);
}

size_t
engine_draft_length_best(struct draft_length *d, int kind, size_t most)
{
    const struct draft_times *t = times_now(d);
    size_t before = d->again + d->given, found;
    size_t room = before < DRAFT_MOST ? DRAFT_MOST - before : 0;

    most = min_size(most, room);
    if (d->fixed)
        return min_size(d->fixed, most);
    if (is_measuring(d))
        return 0;
    if (longest_tried(t) > before)
        most = min_size(most, longest_tried(t) - before);
    else
        most = min_size(most, 1);
    found = find_best(d, t, kind, most);
    d->rests = found ? 0 : d->rests + 1;
    return found;
}

size_t
engine_draft_length_likely(const struct draft_length *d, int kind, size_t most)
{
    double power = 1;
    size_t n = 0;

    while (n < most && (power *= odds_of(d, kind, n)) >= 0.5)
        n++;
    return n;
}

/* Evaluations from the last draft aside to the next one. */
static size_t
wait_of(const struct draft_length *d)
{
    size_t doubled = d->asides - ASIDES;

    if (d->asides < ASIDES)
        return 0;
    return (size_t)1 << (doubled < MOST_DOUBLED - 2 ? doubled + 2
                                                    : MOST_DOUBLED);
}

/* Whether one may be made aside now. */
static bool
may_try_aside(struct draft_length *d)
{
    const struct draft_times *t = times_now(d);
    double us = typical_time(&t->each);

    return t->of[0].n > 0 && d->waits >= wait_of(d) &&
           d->owed + us <= share * d->spent + begins_with * time_of_ids(t, 0);
}

void
engine_draft_length_wait(struct draft_length *d)
{
    d->rests++;
    d->waits++;
}

size_t
engine_draft_length_try(struct draft_length *d, int kind, size_t most,
                        bool *aside)
{
    size_t n = 0;

    *aside = false;
    if (d->pays || d->fixed) {
        n = engine_draft_length_best(d, kind, most);
        d->pays = n > 0 || is_measuring(d);
        d->asides = n > 0 ? ASIDES - 1 : d->asides;
        return n;
    }
    engine_draft_length_wait(d);
    if (d->given > 0 || !may_try_aside(d))
        return 0;
    *aside = true;
    d->asides++;
    d->waits = 0;
    return 1;
}

bool
engine_draft_length_timed(struct draft_length *d)
{
    return times_now(d)->of[0].n > 0;
}

bool
engine_draft_length_rests(const struct draft_length *d)
{
    size_t wait = wait_of(d);
    bool soon = d->waits + WARM >= wait && d->waits < wait + WARM;

    return !d->pays && !d->fixed && d->rests >= RESTS && !soon;
}

/* ---- what was measured --------------------------------------------------- */

/* A pause of the machine counts no more than the usual time twice. */
static void
count_cost(struct draft_length *d, const struct draft_times *t, size_t n,
           double us)
{
    const double kept = 0.9995; /* of what was long ago */

    us = fmin(us, 2 * time_of_ids(t, n)) + d->drafting;
    d->spent = kept * d->spent + us;
    d->owed *= kept;
    if (n > 0 && t->plain > 0)
        d->owed += us - t->plain;
    else
        d->owed += d->drafting;
}

/* The first evaluations read weights from disk: what they took goes as soon as
 * there is something shorter. */
static void
take_plain_time(struct draft_times *t, double us)
{
    if (t->n_plain < 3 && us < 0.8 * t->plain) {
        t->n_plain = 0;
        t->of[0].n = 0;
    }
    t->n_plain += t->n_plain < MANY;
    t->plain += (us - t->plain) / (double)t->n_plain;
}

void
engine_draft_length_evaluated(struct draft_length *d, size_t n, double us)
{
    struct draft_times *t = times_now(d);

    us = fmax(us, 1);
    if (n == 0)
        take_plain_time(t, us);
    t->since = n == 0 ? 0 : t->since + 1;
    remember_time(&t->of[n], us);
    count_cost(d, t, n, us);
    d->drafting = 0;
}

void
engine_draft_length_drafted(struct draft_length *d, size_t n, double us)
{
    if (n == 0)
        return;
    remember_time(&times_now(d)->each, us / steps_of(d, n));
    d->drafting += us;
}

size_t
engine_draft_wanted(struct engine_draft *d, struct gg_text *t, size_t most)
{
    struct text_draft *td = &t->draft;
    size_t n;

    if (most <= td->n)
        return td->n;
    d->length.again = td->again;
    d->length.given = td->n;
    n = engine_draft_length_try(&d->length, DRAFT_LIKELY, most - td->n,
                                &td->aside);
    td->kind = DRAFT_LIKELY;
    if (n == 0)
        engine_draft_length_skipped(&d->length, DRAFT_LIKELY);
    return td->n + n;
}
