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

/* What is after the first id of a choice. */
struct rest {
    struct gg_choice *choice;
    const float *scales;
    struct gg_sequence *sequence;
    float *logprobs;
    size_t n;
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

static enum gg_status
run_heads(struct gg_engine *e, struct contest *list, size_t n,
          struct gg_error *err)
{
    struct gg_query *queries = mem_array(n, sizeof(*queries));
    enum gg_status st = queries ? GG_OK : error_nomem(err);

    for (size_t i = 0; i < n && st == GG_OK; i++)
        queries[i] = (struct gg_query){ .sequence = list[i].first,
                                        .scores.logprobs = list[i].logprobs,
                                        .scores.first = list[i].head,
                                        .scores.next = list[i].next,
                                        .scores.n_next = list[i].choices->n };
    if (st == GG_OK)
        st = gg_engine_eval(e, queries, n, err);
    for (size_t i = 0; i < n && st == GG_OK; i++)
        take_firsts(&list[i]);
    mem_free(queries);
    return st;
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
        st = gg_sequence_set_scales(r->sequence, r->scales, err);
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

/* As many choices as there are slots; *n gets how many. */
static enum gg_status
run_round(struct gg_engine *e, struct contest *list, size_t n_contests,
          struct rest *rests, struct gg_query *queries, size_t *n,
          struct gg_error *err)
{
    enum gg_status st = GG_OK;

    *n = 0;
    for (size_t i = 0; i < n_contests && st == GG_OK; i++) {
        struct gg_choice *choice;

        while (st == GG_OK && *n < (size_t)e->n_slots &&
               (choice = next_choice(&list[i]))) {
            rests[*n].scales = list[i].choices->scales;
            st = open_rest(&rests[*n], e, choice, &queries[*n], err);
            ++*n;
        }
    }
    if (st == GG_OK && *n)
        st = gg_engine_eval(e, queries, *n, err);
    for (size_t i = 0; i < *n; i++)
        close_rest(&rests[i], st == GG_OK);
    return st;
}

static enum gg_status
run_rests(struct gg_engine *e, struct contest *list, size_t n_contests,
          struct gg_error *err)
{
    size_t room = (size_t)e->n_slots, n = 1;
    struct rest *rests = mem_array(room, sizeof(*rests));
    struct gg_query *queries = mem_array(room, sizeof(*queries));
    enum gg_status st = rests && queries ? GG_OK : error_nomem(err);

    while (st == GG_OK && n)
        st = run_round(e, list, n_contests, rests, queries, &n, err);
    mem_free(rests);
    mem_free(queries);
    return st;
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

enum gg_status
gg_engine_choose(struct gg_engine *engine, struct gg_choices *choices, size_t n,
                 struct gg_error *err)
{
    struct contest *list;
    enum gg_status st = check_lists(engine, choices, n, err);

    if (st != GG_OK)
        return st;
    list = mem_array(n, sizeof(*list));
    st = list ? GG_OK : error_nomem(err);
    if (engine->score)
        st = error_set(err, GG_ERR_ARG, "an engine that scores has no choices");
    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = contest_open(&list[i], engine, &choices[i], err);
    if (st == GG_OK)
        st = run_heads(engine, list, n, err);
    if (st == GG_OK)
        st = run_rests(engine, list, n, err);
    for (size_t i = 0; i < n && st == GG_OK; i++)
        share_probability(&choices[i]);
    for (size_t i = 0; i < n && list; i++)
        contest_close(&list[i]);
    mem_free(list);
    return st;
}
