/* likely.c - how likely the tokens of prompts are, for records that ask it */
#include <config.h>

#include "gg-generate/likely.h"

#include <math.h>
#include <stdlib.h>

/* What is found of a record's prompt. */
struct finding {
    struct record *record;
    struct gg_sequence *sequence;
    float *logprobs;
    struct gg_best *best; /* one an id, of a single array each; or NULL */
};

/* Answers of a record that begin together have it once. */
static bool
is_wanted(const struct active *active, size_t i)
{
    struct record *r = active[i].record;

    for (size_t k = 0; k < i; k++)
        if (active[k].record == r)
            return false;
    return request_wants_prompt(&r->request) && r->likely.n_prompt == 0;
}

static struct gg_best *
make_best(size_t n, size_t k)
{
    struct gg_best *best = cli_alloc(NULL, n, sizeof(*best));
    int32_t *ids = cli_alloc(NULL, n * k, sizeof(*ids));
    float *logits = cli_alloc(NULL, n * k, sizeof(*logits));

    for (size_t i = 0; i < n; i++)
        best[i] = (struct gg_best){ .k = k,
                                    .ids = ids + i * k,
                                    .logits = logits + i * k };
    return best;
}

static struct gg_query
open_finding(const struct generate *g, struct record *r, struct finding *f)
{
    size_t n = r->prompt.n, k = r->request.logprobs.n_top;
    struct gg_query q = { 0 };
    struct gg_error err;

    *f = (struct finding){ .record = r };
    cli_check(gg_sequence_new(g->engine.gg, &f->sequence, &err), &err);
    cli_check(gg_sequence_set_scales(f->sequence, r->request.scales, &err),
              &err);
    cli_check(gg_sequence_put(f->sequence, r->prompt.ids, n, &err), &err);
    f->logprobs = cli_alloc(NULL, n, sizeof(*f->logprobs));
    q.sequence = f->sequence;
    q.scores.logprobs = f->logprobs + 1;
    q.scores.first = 1;
    if (k) {
        f->best = make_best(n, k);
        q.rows.best = f->best;
        q.rows.n_last = n;
    }
    return q;
}

static bool
are_numbers(const struct finding *f)
{
    bool all = true;

    for (size_t i = 1; i < f->record->prompt.n; i++)
        all = all && isfinite(f->logprobs[i]) &&
              (!f->best || isfinite(f->best[i - 1].log_sum_exp));
    return all;
}

static void
take_finding(const struct finding *f)
{
    struct record *r = f->record;

    r->likely = r->request.logprobs;
    if (are_numbers(f))
        logprobs_set_prompt(&r->likely, r->prompt.ids, r->prompt.n, f->logprobs,
                            f->best);
}

static void
close_finding(struct finding *f)
{
    gg_sequence_free(f->sequence);
    free(f->logprobs);
    if (f->best) {
        free(f->best->ids);
        free(f->best->logits);
    }
    free(f->best);
}

/* An answer that has begun before has no tokens of its own yet. */
static void
hand_out(struct active *active, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct logprobs *l = &active[i].answer.logprobs;

        if (request_wants_prompt(&active[i].record->request) && !l->n_prompt)
            logprobs_copy_prompt(l, &active[i].record->likely);
    }
}

static bool
is_any_wanted(const struct active *active, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (request_wants_prompt(&active[i].record->request))
            return true;
    return false;
}

/* The queries of those that have not got it; returns their number. */
static size_t
open_findings(const struct generate *g, const struct active *active, size_t n,
              struct finding *list, struct gg_query *queries)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (is_wanted(active, i)) {
            queries[found] = open_finding(g, active[i].record, &list[found]);
            found++;
        }
    return found;
}

bool
likely_run(const struct generate *g, struct active *active, size_t n)
{
    struct finding *list;
    struct gg_query *queries;
    struct gg_error err;
    bool done = true;
    size_t found;

    if (!is_any_wanted(active, n))
        return true;
    list = cli_alloc(NULL, n, sizeof(*list));
    queries = cli_alloc(NULL, n, sizeof(*queries));
    found = open_findings(g, active, n, list, queries);
    if (found)
        done = cli_finished(gg_engine_eval(g->engine.gg, queries, found, &err),
                            &err);
    for (size_t i = 0; i < found; i++) {
        if (done)
            take_finding(&list[i]);
        close_finding(&list[i]);
    }
    if (done)
        hand_out(active, n);
    free(list);
    free(queries);
    return done;
}
