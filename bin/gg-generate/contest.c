/* contest.c - choices that compete behind one prompt */
#include <config.h>

#include "gg-generate/contest.h"

#include <math.h>
#include <stdlib.h>

#include "gg-generate/records.h"

/* ---- ids ---- */

static enum gg_status
fail(struct gg_error *err, const char *message)
{
    snprintf(err->message, sizeof(err->message), "%s", message);
    return GG_ERR_ARG;
}

enum gg_status
contest_add(struct contest *c, const struct choice *choice, int32_t *its_ids,
            size_t n_its_ids, const int32_t *ids, size_t n,
            struct gg_error *err)
{
    struct scored *s;
    size_t same = 0;

    c->list = cli_alloc(c->list, c->n + 1, sizeof(*c->list));
    s = &c->list[c->n++];
    *s = (struct scored){ .choice = choice, .ids = its_ids, .n = n_its_ids };
    while (same < n && same < s->n && ids[same] == s->ids[same])
        same++;
    c->head = c->n == 1 || same < c->head ? same : c->head;
    if (same == s->n) {
        snprintf(err->message, sizeof(err->message),
                 "--choice: '%.100s' adds no token to the prompt",
                 choice->text);
        return GG_ERR_ARG;
    }
    if (c->head == 0)
        return fail(err, "no token of the prompt stays as it is before the "
                         "choices; --bos puts one in front");
    return GG_OK;
}

void
contest_clear(struct contest *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->list[i].ids);
        free(c->list[i].logprobs);
    }
    free(c->list);
    *c = (struct contest){ 0 };
}

bool
contest_fits(const struct contest *c, const struct engine *engine,
             struct gg_error *err)
{
    size_t most = 0;

    for (size_t i = 0; i < c->n; i++)
        most = c->list[i].n > most ? c->list[i].n : most;
    if (most <= (size_t)gg_session_n_ctx(engine->session))
        return true;
    engine_say_full(engine, 0, most, err->message, sizeof(err->message));
    return false;
}

/* ---- evaluation ---- */

/* False: a signal came. */
static bool
evaluate(struct slots *s, const struct gg_chunk *chunks, size_t n)
{
    struct gg_error err;
    enum gg_status st;

    if (n == 0)
        return true;
    st = gg_session_eval(s->engine->session, chunks, n, &err);
    if (st == GG_ERR_ABORTED && cli_signal())
        return false;
    cli_check(st, &err);
    for (size_t i = 0; i < n; i++)
        s->n_evaluated += chunks[i].n;
    return true;
}

/* NULL: the slot has no record, or one without choices. */
static struct contest *
contest_of(const struct slot *slot)
{
    return slot->record && slot->record->prompt.contest.n
               ? &slot->record->prompt.contest
               : NULL;
}

/* The first ids of all choices, which follow the head. */
struct firsts {
    struct contest *contest;
    int32_t *ids;
    float *logprobs;
};

static struct gg_chunk
head_chunk(const struct slots *s, const struct slot *slot, struct firsts *f)
{
    struct contest *c = contest_of(slot);
    int32_t at = slot->answer.slot;
    size_t held = (size_t)gg_session_length(s->engine->session, at);
    size_t n = c->head - held;

    *f = (struct firsts){ c, cli_alloc(NULL, c->n, sizeof(*f->ids)),
                          cli_alloc(NULL, c->n, sizeof(*f->logprobs)) };
    for (size_t i = 0; i < c->n; i++)
        f->ids[i] = c->list[i].ids[c->head];
    return (struct gg_chunk){ .slot = at,
                              .ids = c->list->ids + held,
                              .n = n,
                              .logprobs = f->logprobs,
                              .n_unscored = n - 1,
                              .next = f->ids,
                              .n_next = c->n };
}

static void
take_firsts(struct firsts *f)
{
    struct contest *c = f->contest;

    for (size_t i = 0; i < c->n; i++) {
        struct scored *q = &c->list[i];

        q->logprobs = cli_alloc(NULL, q->n - c->head, sizeof(*q->logprobs));
        q->logprobs[0] = f->logprobs[i];
    }
    free(f->ids);
    free(f->logprobs);
}

/* What all choices begin with: then the slots hold it, and no more is to be
 * done for choices of one id. */
static bool
run_heads(struct slots *s, struct gg_chunk *chunks)
{
    struct firsts *f = cli_alloc(NULL, (size_t)s->n, sizeof(*f));
    size_t n = 0;
    bool done;

    for (int32_t i = 0; i < s->n; i++)
        if (contest_of(&s->list[i])) {
            chunks[n] = head_chunk(s, &s->list[i], &f[n]);
            n++;
        }
    done = evaluate(s, chunks, n);
    for (size_t i = 0; i < n; i++)
        take_firsts(&f[i]);
    free(f);
    return done;
}

/* The next choice of more than one id; NULL: there is none left. */
static struct scored *
next_choice(struct contest *c)
{
    while (c->n_done < c->n && c->list[c->n_done].n == c->head + 1)
        c->n_done++;
    return c->n_done < c->n ? &c->list[c->n_done++] : NULL;
}

/* Ids behind the head, and before it what the slot has lost. */
static struct gg_chunk
rest_chunk(const struct slots *s, const struct slot *slot,
           const struct contest *c, const struct scored *q)
{
    int32_t at = slot->answer.slot;
    size_t held = (size_t)gg_session_length(s->engine->session, at);

    return (struct gg_chunk){ .slot = at,
                              .ids = q->ids + held,
                              .n = q->n - 1 - held,
                              .logprobs = q->logprobs + 1,
                              .n_unscored = c->head - held,
                              .next = q->ids + q->n - 1 };
}

/* A slot that is free gets the head of a contest that has choices left. */
static size_t
help(struct slots *s, struct slot *helper, struct gg_chunk *chunk)
{
    for (int32_t i = 0; i < s->n; i++) {
        struct slot *slot = &s->list[i];
        struct contest *c = contest_of(slot);
        struct scored *q = c ? next_choice(c) : NULL;

        if (!q)
            continue;
        slots_copy(s, helper, slot, c->head);
        *chunk = rest_chunk(s, helper, c, q);
        return 1;
    }
    return 0;
}

/* One choice in each slot, as far as there are some. False: a signal came. */
static bool
run_round(struct slots *s, struct gg_chunk *chunks, size_t *n)
{
    bool done;

    *n = 0;
    for (int32_t i = 0; i < s->n; i++) {
        struct slot *slot = &s->list[i];
        struct contest *c = contest_of(slot);
        struct scored *q = c ? next_choice(c) : NULL;

        if (q)
            chunks[(*n)++] = rest_chunk(s, slot, c, q);
    }
    for (int32_t i = 0; i < s->n; i++)
        if (!s->list[i].record)
            *n += help(s, &s->list[i], &chunks[*n]);
    done = evaluate(s, chunks, *n);
    for (int32_t i = 0; i < s->n; i++)
        slots_cut(s, &s->list[i]);
    return done;
}

bool
contest_run(struct slots *s)
{
    struct gg_chunk *chunks = cli_alloc(NULL, (size_t)s->n, sizeof(*chunks));
    bool done = run_heads(s, chunks);
    size_t n = 1;

    while (done && n)
        done = run_round(s, chunks, &n);
    free(chunks);
    return done;
}

/* ---- the answer ---- */

static int
compare(const void *x, const void *y)
{
    const struct scored *a = x, *b = y;

    if (a->sum != b->sum)
        return a->sum < b->sum ? 1 : -1;
    return a->choice < b->choice ? -1 : 1;
}

/* As if one of the choices had to come. */
static void
share(struct contest *c)
{
    double all = 0;

    for (size_t i = 0; i < c->n; i++)
        all += exp(c->list[i].sum - c->list->sum);
    for (size_t i = 0; i < c->n; i++)
        c->list[i].probability = exp(c->list[i].sum - c->list->sum) / all;
}

bool
contest_decide(struct contest *c, struct gg_error *err)
{
    for (size_t i = 0; i < c->n; i++) {
        struct scored *q = &c->list[i];

        for (size_t k = 0; k < q->n - c->head; k++)
            q->sum += (double)q->logprobs[k];
        if (!isfinite(q->sum)) {
            (void)fail(err, "the logits are not numbers");
            return false;
        }
    }
    qsort(c->list, c->n, sizeof(*c->list), compare);
    share(c);
    return true;
}
