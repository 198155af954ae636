/* choose.c - log-likelihoods: which of several texts is likeliest next
 *
 * What comes before the first id that some choice has otherwise than the prompt
 * alone, the head, is evaluated once and gives the probabilities of all
 * choices' first ids after it. What a choice has more is evaluated for itself,
 * after a copy of the head. */
#include <math.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/engine.h"

/* The choices of one prompt, while they are scored. */
struct contest {
    struct gg_choices *choices;
    size_t head;               /* ids that all begin with */
    struct gg_sequence *first; /* holds the head */
    int32_t *next;             /* ids after the head, one a choice */
    float *logprobs;           /* theirs */
    size_t n_done;             /* choices that need no further evaluation */
};

/* Ids of a choice after its first. */
struct rest {
    struct gg_choice *choice;
    const struct gg_choices *from;
    struct gg_sequence *sequence;
    float *logprobs;
    size_t n;
};

struct gg_contest {
    struct gg_engine *engine;
    struct contest *list;
    size_t n;
    bool has_heads; /* else these are evaluated */
    struct rest *rests;
    struct gg_query *queries; /* under way: */
    size_t n_asked;
};

/* ---- birth and death ----------------------------------------------------- */

static size_t
shared_ids(const int32_t *a, size_t n, const struct gg_choice *b)
{
    size_t i = 0;

    while (i < n && i < b->n && a[i] == b->ids[i])
        i++;
    return i;
}

static enum gg_status
find_head(struct contest *c, size_t n_ctx, struct gg_error *err)
{
    const struct gg_choices *all = c->choices;

    c->head = all->n_prompt;
    for (size_t i = 0; i < all->n; i++) {
        const struct gg_choice *choice = &all->list[i];
        size_t same = shared_ids(all->prompt, all->n_prompt, choice);

        if (same == choice->n)
            return error_set(err, GG_ERR_ARG,
                             "choice %zu adds no token to the prompt", i + 1);
        if (choice->n > n_ctx)
            return error_set(err, GG_ERR_CONTEXT,
                             "%zu ids at once are above the context of %zu",
                             choice->n, n_ctx);
        c->head = same < c->head ? same : c->head;
    }
    if (c->head == 0)
        return error_set(err, GG_ERR_ARG,
                         "no token of the prompt stays as it is before the "
                         "choices");
    return GG_OK;
}

static enum gg_status
contest_open(struct contest *c, struct gg_engine *e, struct gg_choices *choices,
             struct gg_error *err)
{
    enum gg_status st;

    c->choices = choices;
    st = find_head(c, e->n_ctx, err);
    if (st == GG_OK) {
        c->next = mem_array(choices->n, sizeof(*c->next));
        c->logprobs = mem_array(choices->n, sizeof(*c->logprobs));
        st = c->next && c->logprobs ? GG_OK : error_nomem(err);
    }
    for (size_t i = 0; i < choices->n && st == GG_OK; i++)
        c->next[i] = choices->list[i].ids[c->head];
    if (st == GG_OK)
        st = gg_sequence_new(e, &c->first, err);
    if (st == GG_OK)
        st = gg_sequence_set_scales(c->first, choices->scales, err);
    if (st == GG_OK)
        st = gg_sequence_set_key(c->first, choices->key, err);
    if (st == GG_OK)
        st = gg_sequence_put(c->first, choices->prompt, c->head, err);
    return st;
}

static void
contest_close(struct contest *c)
{
    gg_sequence_free(c->first);
    mem_free(c->next);
    mem_free(c->logprobs);
}

/* ---- heads --------------------------------------------------------------- */

static void
take_firsts(struct contest *c)
{
    for (size_t i = 0; i < c->choices->n; i++) {
        struct gg_choice *choice = &c->choices->list[i];

        choice->logprob = (double)c->logprobs[i];
        choice->n_scored = choice->n - c->head;
    }
}

static void
ask_heads(struct gg_contest *all)
{
    for (size_t i = 0; i < all->n; i++) {
        struct contest *c = &all->list[i];

        all->queries[i] = (struct gg_query){ .sequence = c->first,
                                             .scores.logprobs = c->logprobs,
                                             .scores.first = c->head,
                                             .scores.next = c->next,
                                             .scores.n_next = c->choices->n };
    }
    all->n_asked = all->n;
}

/* ---- what choices have more ---------------------------------------------- */

/* The next choice of more than one id; NULL: there is none left. */
static struct gg_choice *
next_choice(struct contest *c)
{
    while (c->n_done < c->choices->n) {
        struct gg_choice *choice = &c->choices->list[c->n_done++];

        if (choice->n_scored > 1)
            return choice;
    }
    return NULL;
}

/* All but its last id is evaluated, after the head. */
static enum gg_status
open_rest(struct rest *r, struct gg_engine *e, struct gg_choice *choice,
          struct gg_query *query, struct gg_error *err)
{
    enum gg_status st = gg_sequence_new(e, &r->sequence, err);

    r->choice = choice;
    r->n = choice->n_scored - 1;
    r->logprobs = mem_array(r->n, sizeof(*r->logprobs));
    if (st == GG_OK && !r->logprobs)
        st = error_nomem(err);
    if (st == GG_OK)
        st = gg_sequence_set_scales(r->sequence, r->from->scales, err);
    if (st == GG_OK)
        st = gg_sequence_set_key(r->sequence, r->from->key, err);
    if (st == GG_OK)
        st = gg_sequence_put(r->sequence, choice->ids, choice->n - 1, err);
    *query = (struct gg_query){
        .sequence = r->sequence,
        .scores.logprobs = r->logprobs,
        .scores.first = choice->n - r->n,
        .scores.next = choice->ids + choice->n - 1,
    };
    return st;
}

static void
close_rest(struct rest *r, bool scored)
{
    for (size_t i = 0; i < r->n && scored; i++)
        r->choice->logprob += (double)r->logprobs[i];
    gg_sequence_free(r->sequence);
    mem_free(r->logprobs);
    *r = (struct rest){ 0 };
}

/* As many choices as there are slots, or one. Heads then stay where they are,
 * and need no slot of their own. */
static enum gg_status
open_round(struct gg_contest *all, bool alone, struct gg_error *err)
{
    size_t most = alone ? (size_t)all->engine->n_slots : 1;
    enum gg_status st = GG_OK;
    struct gg_choice *choice;

    for (size_t i = 0; i < all->n && !alone; i++) {
        gg_sequence_free(all->list[i].first);
        all->list[i].first = NULL;
    }
    for (size_t i = 0; i < all->n && st == GG_OK; i++)
        while (st == GG_OK && all->n_asked < most &&
               (choice = next_choice(&all->list[i]))) {
            size_t k = all->n_asked++;

            all->rests[k].from = all->list[i].choices;
            st = open_rest(&all->rests[k], all->engine, choice,
                           &all->queries[k], err);
        }
    return st;
}

static void
close_round(struct gg_contest *all, bool scored)
{
    for (size_t i = 0; i < all->n_asked && all->has_heads; i++)
        close_rest(&all->rests[i], scored);
    all->n_asked = 0;
}

/* NaN, where some log-likelihood is. */
static void
share_probability(struct gg_choices *c)
{
    double highest = -(double)INFINITY, all = 0;

    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].logprob > highest)
            highest = c->list[i].logprob;
    for (size_t i = 0; i < c->n; i++) {
        c->list[i].probability = exp(c->list[i].logprob - highest);
        all += c->list[i].probability;
    }
    for (size_t i = 0; i < c->n; i++)
        c->list[i].probability /= all;
}

static enum gg_status
check_lists(const struct gg_engine *e, const struct gg_choices *choices,
            size_t n, struct gg_error *err)
{
    if (!e || (!choices && n))
        return error_null(err);
    for (size_t i = 0; i < n; i++) {
        const struct gg_choices *c = &choices[i];

        if ((!c->prompt && c->n_prompt) || (!c->list && c->n))
            return error_null(err);
        for (size_t k = 0; k < c->n; k++)
            if (!c->list[k].ids && c->list[k].n)
                return error_null(err);
    }
    return GG_OK;
}

/* ---- pieces -------------------------------------------------------------- */

static enum gg_status
contest_start(struct gg_contest *all, struct gg_engine *e,
              struct gg_choices *choices, size_t n, struct gg_error *err)
{
    size_t slots = (size_t)e->n_slots, most = n > slots ? n : slots;
    enum gg_status st = GG_OK;

    *all = (struct gg_contest){ .engine = e };
    all->list = mem_array(n, sizeof(*all->list));
    all->rests = mem_array(slots, sizeof(*all->rests));
    all->queries = mem_array(most, sizeof(*all->queries));
    if (!all->list || !all->rests || !all->queries)
        return error_nomem(err);
    for (; all->n < n && st == GG_OK; all->n++)
        st = contest_open(&all->list[all->n], e, &choices[all->n], err);
    if (st == GG_OK)
        ask_heads(all);
    return st;
}

enum gg_status
gg_contest_new(struct gg_engine *engine, struct gg_choices *choices, size_t n,
               struct gg_contest **out, struct gg_error *err)
{
    struct gg_contest *all = NULL;
    enum gg_status st = check_lists(engine, choices, n, err);

    if (st == GG_OK && !out)
        st = error_null(err);
    if (st == GG_OK && engine->score)
        st = error_set(err, GG_ERR_ARG, "an engine that scores has no choices");
    if (st == GG_OK)
        st = (all = mem_zalloc(sizeof(*all))) ? GG_OK : error_nomem(err);
    if (st == GG_OK)
        st = contest_start(all, engine, choices, n, err);
    if (st == GG_OK)
        *out = all;
    else
        gg_contest_free(all);
    return st;
}

void
gg_contest_free(struct gg_contest *contest)
{
    if (!contest)
        return;
    close_round(contest, false);
    for (size_t i = 0; i < contest->n; i++)
        contest_close(&contest->list[i]);
    mem_free(contest->list);
    mem_free(contest->rests);
    mem_free(contest->queries);
    mem_free(contest);
}

/* A round has been evaluated: its results are taken. */
static void
take_round(struct gg_contest *all)
{
    for (size_t i = 0; i < all->n && !all->has_heads; i++)
        take_firsts(&all->list[i]);
    close_round(all, true);
    all->has_heads = true;
}

enum gg_status
gg_contest_step(struct gg_contest *contest, bool alone, bool *done,
                struct gg_error *err)
{
    struct gg_contest *all = contest;
    enum gg_status st = GG_OK;
    bool whole = false;

    if (!all || !done)
        return error_null(err);
    *done = false;
    if (all->n_asked == 0)
        st = open_round(all, alone, err);
    if (st != GG_OK)
        return st;
    if (all->n_asked == 0 && all->has_heads) {
        for (size_t i = 0; i < all->n; i++)
            share_probability(all->list[i].choices);
        *done = true;
        return GG_OK;
    }
    st = gg_engine_eval_some(all->engine, all->queries, all->n_asked, alone,
                             &whole, err);
    if (whole)
        take_round(all);
    return st;
}

enum gg_status
gg_engine_choose(struct gg_engine *engine, struct gg_choices *choices, size_t n,
                 struct gg_error *err)
{
    struct gg_contest *all;
    enum gg_status st = gg_contest_new(engine, choices, n, &all, err);
    bool done = false;

    if (st != GG_OK)
        return st;
    while (st == GG_OK && !done)
        st = gg_contest_step(all, true, &done, err);
    gg_contest_free(all);
    return st;
}
