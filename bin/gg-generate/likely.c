/* likely.c - how likely the tokens of prompts are, for records that ask it */
#include <config.h>

#include "gg-generate/likely.h"

#include <math.h>
#include <stdlib.h>

#include "common/spare.h"

struct finding {
    struct record *record;
    struct gg_query query;
    float *logprobs;
    struct gg_best *best; /* one an id, of a single array each; or NULL */
};

enum {
    COPIES = 8, /* of a likely token: what is found, kept and written */
};

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

static enum gg_status
ask_likely(const struct generate *g, struct finding *f, struct gg_error *err)
{
    struct record *r = f->record;
    struct gg_query *q = &f->query;
    enum gg_status st = gg_sequence_new(g->engine.gg, &q->sequence, err);

    if (st == GG_OK)
        st = gg_sequence_set_scales(q->sequence, r->request.scales, err);
    if (st == GG_OK && r->cache_key)
        st = gg_sequence_set_key(q->sequence, r->cache_key, err);
    return st == GG_OK
               ? gg_sequence_put(q->sequence, r->prompt.ids, r->prompt.n, err)
               : st;
}

enum gg_status
likely_open(const struct generate *g, struct record *r, struct finding **out,
            struct gg_error *err)
{
    size_t n = r->prompt.n, k = r->request.logprobs.n_top;
    enum gg_status st =
        spare_check(n, (1 + k) * sizeof(struct gg_likely) * COPIES, err);
    struct finding *f;

    if (st != GG_OK)
        return st;
    f = *out = cli_alloc(NULL, 1, sizeof(*f));
    *f = (struct finding){ .record = r };
    f->logprobs = cli_alloc(NULL, n, sizeof(*f->logprobs));
    f->query.scores.logprobs = f->logprobs + 1;
    f->query.scores.first = 1;
    if (k) {
        f->best = make_best(n, k);
        f->query.rows.best = f->best;
        f->query.rows.n_last = n;
    }
    return ask_likely(g, f, err);
}

const struct gg_query *
likely_query(const struct finding *f)
{
    return &f->query;
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

void
likely_take(const struct finding *f)
{
    struct record *r = f->record;

    r->likely = r->request.logprobs;
    if (are_numbers(f))
        logprobs_set_prompt(&r->likely, r->prompt.ids, r->prompt.n, f->logprobs,
                            f->best);
}

void
likely_close(struct finding *f)
{
    if (!f)
        return;
    gg_sequence_free(f->query.sequence);
    free(f->logprobs);
    if (f->best) {
        free(f->best->ids);
        free(f->best->logits);
    }
    free(f->best);
    free(f);
}

/* An answer that has begun before has no tokens of its own yet. */
void
likely_hand_out(struct active *active, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct logprobs *l = &active[i].answer.logprobs;

        if (request_wants_prompt(&active[i].record->request) && !l->n_prompt)
            logprobs_copy_prompt(l, &active[i].record->likely);
    }
}

bool
likely_is_wanted(const struct record *r)
{
    return request_wants_prompt(&r->request) && r->likely.n_prompt == 0;
}

/* Answers of a record that begin together have it once. */
static bool
comes_again(const struct active *active, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (active[k].record == active[i].record)
            return true;
    return false;
}

/* Finds it for those that have not got it; returns their number. */
static size_t
find_likely(const struct generate *g, const struct active *active, size_t n,
            struct finding **list, struct gg_query *queries)
{
    struct gg_error err;
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (likely_is_wanted(active[i].record) && !comes_again(active, i)) {
            cli_check(likely_open(g, active[i].record, &list[found], &err),
                      &err);
            queries[found] = list[found]->query;
            found++;
        }
    return found;
}

bool
likely_run(const struct generate *g, struct active *active, size_t n)
{
    struct finding **list;
    struct gg_query *queries;
    struct gg_error err;
    bool done = true;
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += likely_is_wanted(active[i].record);
    if (found) {
        list = cli_alloc(NULL, n, sizeof(*list));
        queries = cli_alloc(NULL, n, sizeof(*queries));
        found = find_likely(g, active, n, list, queries);
        done = cli_finished(gg_engine_eval(g->engine.gg, queries, found, &err),
                            &err);
        for (size_t i = 0; i < found; i++) {
            if (done)
                likely_take(list[i]);
            likely_close(list[i]);
        }
        free(list);
        free(queries);
    }
    if (done)
        likely_hand_out(active, n);
    return done;
}
