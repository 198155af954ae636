/* test_some.c - queries, choices and drafts a piece at a time, next to a text:
 * the same results, and no call evaluates more ids than it may */
#include "engine/draft.h"
#include "engine_test.h"

enum {
    BOUND = 11,
    LONG = 150,
    TOP = 3,
    CHOICES = 5,
    MADE = 30,
};

/* Results that a query may want. */
struct wanted {
    float scores[LONG];
    struct gg_best best[LONG];
    int32_t best_ids[LONG][TOP];
    float best_logits[LONG][TOP];
    float embedding[1024];
};

static uint64_t
evaluated(const struct bench *b)
{
    return gg_engine_stats(b->engine).n_evaluated;
}

static struct gg_sequence *
sequence_of(struct bench *b, const int32_t *list, size_t n)
{
    struct gg_sequence *q;

    must(gg_sequence_new(b->engine, &q, &err));
    must(gg_sequence_put(q, list, n, &err));
    return q;
}

static struct gg_query
ask_for(struct wanted *w, struct gg_sequence *q, bool embeds, enum gg_pooling p)
{
    struct gg_query query = { .sequence = q };

    memset(w, 0, sizeof(*w));
    for (size_t i = 0; i < LONG; i++)
        w->best[i] = (struct gg_best){ .k = TOP,
                                       .ids = w->best_ids[i],
                                       .logits = w->best_logits[i] };
    if (embeds) {
        query.embed = (struct gg_embedding){ w->embedding, p };
        return query;
    }
    query.scores.logprobs = w->scores;
    query.scores.first = 1;
    query.rows.best = w->best;
    query.rows.n_last = LONG;
    return query;
}

static bool
has_same(const struct wanted *a, const struct wanted *b)
{
    return !memcmp(a->scores, b->scores, sizeof(a->scores)) &&
           !memcmp(a->best_ids, b->best_ids, sizeof(a->best_ids)) &&
           !memcmp(a->best_logits, b->best_logits, sizeof(a->best_logits)) &&
           !memcmp(a->embedding, b->embedding, sizeof(a->embedding));
}

/* ---- a text next to it --------------------------------------------------- */

struct beside {
    struct gg_sampler *sampler;
    struct gg_sequence *sequence;
    struct gg_text *text;
};

static void
open_near(struct beside *t, struct bench *b)
{
    struct gg_sampler_params p = gg_sampler_params_default();
    struct gg_text_params params = { .max_ids = MADE, .ignore_eog = true };

    p.seed = 5;
    must(gg_sampler_new(&p, &t->sampler, &err));
    t->sequence = sequence_of(b, ids + 300, 9);
    params.sampler = t->sampler;
    must(gg_text_new(t->sequence, &params, &t->text, &err));
}

static void
step_beside(struct beside *t, struct bench *b)
{
    if (gg_text_finish(t->text) == GG_FINISH_NONE)
        must(gg_engine_step(b->engine, &t->text, 1, &err));
}

/* To its end; returns a sum of what was drawn. */
static uint64_t
close_beside(struct beside *t, struct bench *b)
{
    const int32_t *made;
    uint64_t sum = 0;
    size_t n;

    while (gg_text_finish(t->text) == GG_FINISH_NONE)
        step_beside(t, b);
    made = gg_text_ids(t->text, &n);
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + (uint64_t)made[i];
    gg_text_free(t->text);
    gg_sequence_free(t->sequence);
    gg_sampler_free(t->sampler);
    return sum;
}

static uint64_t
draw_alone(const struct gg_model *m)
{
    struct beside t;
    struct bench b;
    uint64_t sum;

    open_bench(&b, m, 2, 200, (struct gg_engine_params){ 0 });
    open_near(&t, &b);
    sum = close_beside(&t, &b);
    close_bench(&b);
    return sum;
}

/* ---- queries ------------------------------------------------------------- */

static void
check_query(const struct gg_model *m, const char *what, bool embeds,
            enum gg_pooling pooling)
{
    static struct wanted whole, parted;
    struct beside t;
    struct bench b;
    struct gg_sequence *q;
    struct gg_query query;
    uint64_t most = 0;
    size_t calls = 0;
    bool done = false;

    printf("# %s\n", what);
    open_bench(&b, m, 2, 200, (struct gg_engine_params){ 0 });
    q = sequence_of(&b, ids, LONG);
    query = ask_for(&whole, q, embeds, pooling);
    must(gg_engine_eval(b.engine, &query, 1, &err));
    gg_sequence_free(q);
    close_bench(&b);
    open_bench(&b, m, 2, 200, (struct gg_engine_params){ 0 });
    gg_engine_bound_steps(b.engine, BOUND, 0);
    open_near(&t, &b);
    q = sequence_of(&b, ids, LONG);
    query = ask_for(&parted, q, embeds, pooling);
    while (!done) {
        uint64_t before = evaluated(&b);

        must(gg_engine_eval_some(b.engine, &query, 1, false, &done, &err));
        most = evaluated(&b) - before > most ? evaluated(&b) - before : most;
        step_beside(&t, &b);
        calls++;
    }
    ok(has_same(&whole, &parted), "the same");
    ok(most == BOUND && calls == (LONG + BOUND - 1) / BOUND,
       "no piece is longer");
    ok(close_beside(&t, &b) == draw_alone(m), "nor is a text another");
    gg_sequence_free(q);
    close_bench(&b);
}

/* A slot that is lost is filled again. */
static void
check_lost(const struct gg_model *m)
{
    static struct wanted whole, parted;
    struct gg_sequence *q, *other;
    struct gg_query query, thief = { 0 };
    struct bench b;
    bool done = false;

    open_bench(&b, m, 1, 200, (struct gg_engine_params){ 0 });
    q = sequence_of(&b, ids, LONG);
    other = sequence_of(&b, ids + 200, 20);
    thief.sequence = other;
    query = ask_for(&whole, q, false, GG_POOL_NONE);
    must(gg_engine_eval(b.engine, &query, 1, &err));
    gg_engine_bound_steps(b.engine, BOUND, 0);
    query = ask_for(&parted, q, false, GG_POOL_NONE);
    for (int i = 0; i < 3; i++)
        must(gg_engine_eval_some(b.engine, &query, 1, true, &done, &err));
    must(gg_engine_eval(b.engine, &thief, 1, &err));
    while (!done)
        must(gg_engine_eval_some(b.engine, &query, 1, true, &done, &err));
    ok(has_same(&whole, &parted), "a lost slot changes nothing");
    gg_sequence_free(q);
    gg_sequence_free(other);
    close_bench(&b);
}

/* ---- choices ------------------------------------------------------------- */

/* Each has some of the prompt's ids, then others. */
static void
fill_choices(struct gg_choices *c, struct gg_choice list[CHOICES],
             int32_t lists[CHOICES][LONG + 40])
{
    *c = (struct gg_choices){ ids, LONG, list, CHOICES, NULL, NULL };
    for (size_t i = 0; i < CHOICES; i++) {
        memcpy(lists[i], ids, LONG * sizeof(int32_t));
        for (size_t k = 0; k < 40; k++)
            lists[i][LONG - 1 + k] = ids[i * 41 + k + 7];
        list[i] = (struct gg_choice){ .ids = lists[i], .n = LONG + 8 * i };
    }
}

static void
check_contests(const struct gg_model *m)
{
    static int32_t lists[CHOICES][LONG + 40];
    struct gg_choice whole[CHOICES], parted[CHOICES];
    struct gg_choices c;
    struct gg_contest *contest;
    struct beside t;
    struct bench b;
    uint64_t most = 0;
    bool done = false, right = true;

    open_bench(&b, m, 3, 200, (struct gg_engine_params){ 0 });
    fill_choices(&c, whole, lists);
    must(gg_engine_choose(b.engine, &c, 1, &err));
    close_bench(&b);
    open_bench(&b, m, 2, 200, (struct gg_engine_params){ 0 });
    gg_engine_bound_steps(b.engine, BOUND, 0);
    open_near(&t, &b);
    fill_choices(&c, parted, lists);
    must(gg_contest_new(b.engine, &c, 1, &contest, &err));
    while (!done) {
        uint64_t before = evaluated(&b);

        must(gg_contest_step(contest, false, &done, &err));
        most = evaluated(&b) - before > most ? evaluated(&b) - before : most;
        step_beside(&t, &b);
    }
    gg_contest_free(contest);
    for (size_t i = 0; i < CHOICES; i++)
        right = right && whole[i].logprob == parted[i].logprob &&
                whole[i].probability == parted[i].probability;
    ok(right, "choices: the same");
    ok(most == BOUND, "choices: no piece is longer");
    ok(close_beside(&t, &b) == draw_alone(m), "choices: nor is a text another");
    close_bench(&b);
}

static void
check_choice_keys(const struct gg_model *m)
{
    static int32_t lists[CHOICES][LONG + 40];
    static const char *const keys[] = { "a", "a", "b", NULL };
    struct gg_choice list[CHOICES];
    struct gg_choices c;
    struct bench b;
    uint64_t n[4];

    open_bench(&b, m, 3, 200, (struct gg_engine_params){ 0 });
    for (size_t i = 0; i < 4; i++) {
        uint64_t before = evaluated(&b);

        fill_choices(&c, list, lists);
        c.key = keys[i];
        must(gg_engine_choose(b.engine, &c, 1, &err));
        n[i] = evaluated(&b) - before;
    }
    ok(n[1] + LONG / 2 < n[0] && n[2] == n[0] && n[3] == n[0],
       "choices share prefixes of their key alone");
    close_bench(&b);
}

/* ---- drafts -------------------------------------------------------------- */

/* The draft's model, the same, sees a prompt a piece at a time. */
static void
check_draft(const struct gg_model *m)
{
    struct gg_text_params params = { .max_ids = MADE, .ignore_eog = true };
    const struct gg_sampler_params greedy = { .greedy = true };
    struct gg_sampler *s;
    struct bench b, d;
    uint64_t most = 0, sum[2] = { 0, 0 };
    struct gg_draft_stats stats = { 0 };

    must(gg_sampler_new(&greedy, &s, &err));
    params.sampler = s;
    for (int i = 0; i < 2; i++) {
        struct gg_sequence *q;
        struct gg_text *t;
        const int32_t *made;
        size_t n;

        open_bench(&b, m, 2, 256, (struct gg_engine_params){ 0 });
        open_bench(&d, m, 2, 256, (struct gg_engine_params){ 0 });
        if (i) {
            must(gg_engine_draft(b.engine, d.engine, &err));
            b.engine->draft->length.fixed = 1;
        }
        gg_engine_bound_steps(d.engine, BOUND, 0);
        q = sequence_of(&b, ids, LONG);
        must(gg_text_new(q, &params, &t, &err));
        while (gg_text_finish(t) == GG_FINISH_NONE) {
            uint64_t before = evaluated(&d);

            must(gg_engine_step(b.engine, &t, 1, &err));
            if (gg_engine_draft_stats(b.engine).n_drafted == 0)
                most = evaluated(&d) - before > most ? evaluated(&d) - before
                                                     : most;
        }
        made = gg_text_ids(t, &n);
        for (size_t k = 0; k < n; k++)
            sum[i] = sum[i] * 31 + (uint64_t)made[k];
        stats = gg_engine_draft_stats(b.engine);
        gg_text_free(t);
        gg_sequence_free(q);
        close_bench(&b);
        close_bench(&d);
    }
    ok(sum[0] == sum[1], "drafts: the text is the same");
    ok(most > 0 && most <= BOUND, "drafts: the prompt enters in pieces");
    ok(stats.n_accepted > 0, "drafts: they come after it");
    gg_sampler_free(s);
}

int
main(void)
{
    static const char *const names[] = { "gemma2-q8_0", "qwen35-f32",
                                         "mamba2-f32" };
    struct gg_model *m = new_model(&plain_model);
    struct model_spec spec;
    uint32_t x = 1;

    for (int i = 0; i < 512; i++, x = x * 1664525 + 1013904223)
        ids[i] = (int32_t)((x >> 8) % V);
    check_query(m, "likelihoods", false, GG_POOL_NONE);
    check_query(m, "a mean", true, GG_POOL_MEAN);
    check_query(m, "the last", true, GG_POOL_LAST);
    check_lost(m);
    check_contests(m);
    check_choice_keys(m);
    check_draft(m);
    gg_model_free(m);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (!models_named(names[i], &spec))
            exit(99);
        m = new_model(&spec);
        check_query(m, names[i], false, GG_POOL_NONE);
        check_contests(m);
        gg_model_free(m);
    }
    return tap_done();
}
