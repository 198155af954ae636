/* test_steps.c - prompts that enter in pieces; slots as a cache of prefixes:
 * which goes, whose it is, how much it may hold */
#include "engine_test.h"
#include "session/media_test.h"

enum {
    MADE = 20,
    TEXTS = 4,
    BOUND = 11, /* ids of prompts in a step */
    SHARED = 90,
    FEW = 16, /* ids that are not worth waiting for */
};

/* Prompts: the first two are the same, the third begins as they do. */
static const struct prompt {
    size_t n;
    size_t other; /* from where on it has others' ids */
} prompts[TEXTS] = { { 130, 130 }, { 130, 130 }, { 120, SHARED }, { 5, 0 } };

static void
fill_prompt(size_t i, int32_t *out)
{
    memcpy(out, ids, prompts[i].n * sizeof(*out));
    for (size_t k = prompts[i].other; k < prompts[i].n; k++)
        out[k] = ids[k + 100 + i];
}

static struct gg_sampler *
new_sampler(void)
{
    struct gg_sampler_params p = gg_sampler_params_default();
    struct gg_sampler *s;

    p.seed = 3;
    must(gg_sampler_new(&p, &s, &err));
    return s;
}

static struct gg_sequence *
new_sequence(struct bench *b, const int32_t *list, size_t n)
{
    struct gg_sequence *q;

    must(gg_sequence_new(b->engine, &q, &err));
    must(gg_sequence_put(q, list, n, &err));
    return q;
}

static struct gg_text *
new_text(struct bench *b, size_t i, const struct gg_sampler *s,
         struct gg_sequence **q)
{
    struct gg_text_params p = { .sampler = (struct gg_sampler *)s,
                                .sequence = i,
                                .max_ids = MADE,
                                .ignore_eog = true };
    int32_t list[256];
    struct gg_text *t;

    fill_prompt(i, list);
    *q = new_sequence(b, list, prompts[i].n);
    must(gg_text_new(*q, &p, &t, &err));
    return t;
}

/* ---- pieces -------------------------------------------------------------- */

static void
make_alone(const struct gg_model *m, int32_t made[TEXTS][MADE])
{
    struct gg_sampler *s = new_sampler();

    for (size_t i = 0; i < TEXTS; i++) {
        struct gg_sequence *q;
        struct gg_text *t;
        struct bench b;
        size_t n;

        open_bench(&b, m, 1, 200, (struct gg_engine_params){ 0 });
        t = new_text(&b, i, s, &q);
        while (gg_text_finish(t) == GG_FINISH_NONE)
            must(gg_engine_step(b.engine, &t, 1, &err));
        memcpy(made[i], gg_text_ids(t, &n), sizeof(made[i]));
        gg_text_free(t);
        gg_sequence_free(q);
        close_bench(&b);
    }
    gg_sampler_free(s);
}

static size_t
find_open(struct gg_text *const *texts, size_t n, struct gg_text **out)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (gg_text_finish(texts[i]) == GG_FINISH_NONE)
            out[found++] = texts[i];
    return found;
}

/* All of them, one coming three steps after the other. Returns the most ids
 * that a step evaluated beyond one for each text. */
static uint64_t
make_together(struct bench *b, struct gg_text *const *texts)
{
    struct gg_text *open[TEXTS];
    uint64_t most = 0;
    size_t n_open;

    for (size_t step = 0;; step++) {
        size_t n = step / 3 + 1 < TEXTS ? step / 3 + 1 : TEXTS;
        uint64_t before = gg_engine_stats(b->engine).n_evaluated, done;

        n_open = find_open(texts, n, open);
        if (n_open == 0 && n == TEXTS)
            return most;
        must(gg_engine_step(b->engine, open, n_open, &err));
        done = gg_engine_stats(b->engine).n_evaluated - before;
        most = done > n_open + most ? done - n_open : most;
    }
}

static void
check_pieces(const char *name, bool draft)
{
    bool recurs = name && strcmp(name, "gemma2-q8_0");
    struct model_spec spec = plain_model;
    struct gg_sampler *s = new_sampler();
    int32_t truth[TEXTS][MADE];
    struct gg_sequence *q[TEXTS];
    struct gg_text *t[TEXTS];
    struct gg_model *m;
    struct bench b;
    uint64_t most;
    bool right = true;
    size_t n;

    if (name && !models_named(name, &spec))
        exit(99);
    m = new_model(&spec);
    make_alone(m, truth);
    open_bench(&b, m, TEXTS, 200, (struct gg_engine_params){ 0 });
    if (draft)
        must(gg_engine_draft(b.engine, NULL, &err));
    gg_engine_bound_steps(b.engine, BOUND, 0);
    for (size_t i = 0; i < TEXTS; i++)
        t[i] = new_text(&b, i, s, &q[i]);
    most = make_together(&b, t);
    for (size_t i = 0; i < TEXTS; i++)
        right =
            right && !memcmp(gg_text_ids(t[i], &n), truth[i], sizeof(truth[i]));
    printf("# %s%s\n", name ? name : "llama", draft ? ", drafts" : "");
    ok(right, "texts are those of whole prompts");
    ok(draft || most <= BOUND + TEXTS, "no step has more ids");
    ok(gg_sequence_shared(q[1]) >= prompts[1].n - 1 - FEW,
       "an equal prompt waits for most of the one before it");
    ok(recurs || gg_sequence_shared(q[2]) >= SHARED - FEW,
       "so does one that begins so");
    for (size_t i = 0; i < TEXTS; i++) {
        gg_text_free(t[i]);
        gg_sequence_free(q[i]);
    }
    close_bench(&b);
    gg_sampler_free(s);
    gg_model_free(m);
}

/* A short prompt does not wait for a long one; which goes on, too. */
static void
check_order(const struct gg_model *m)
{
    struct gg_sampler *s = new_sampler();
    struct gg_sequence *q[2];
    struct gg_text *t[2];
    struct bench b;
    size_t n = 0, before, steps = 0;

    open_bench(&b, m, 2, 200, (struct gg_engine_params){ 0 });
    gg_engine_bound_steps(b.engine, 8, 0);
    t[0] = new_text(&b, 0, s, &q[0]);
    t[1] = new_text(&b, 3, s, &q[1]);
    must(gg_engine_step(b.engine, t, 1, &err));
    before = gg_sequence_evaluated(q[0]);
    is(before, 8, "a prompt alone gets all of a step");
    while (n == 0) {
        must(gg_engine_step(b.engine, t, 2, &err));
        (void)gg_text_ids(t[1], &n);
        steps++;
    }
    is(steps, 1, "a short prompt goes before the rest of a long one");
    is(gg_sequence_evaluated(q[0]), before + 3, "of which some is evaluated");
    for (int i = 0; i < 2; i++) {
        gg_text_free(t[i]);
        gg_sequence_free(q[i]);
    }
    close_bench(&b);
    gg_sampler_free(s);
}

/* A block of rows, longer than a step, stays whole. */
static void
check_block(const struct gg_model *m)
{
    enum {
        ROWS = 30,
        FROM = 20,
        PROMPT = 70,
    };
    float *rows = copies_of(m, ids, ROWS);
    struct gg_medium x = medium_of(m, rows, ROWS, 1);
    int32_t blocks[ROWS] = { 0 }, first, list[PROMPT], truth[MADE];
    bool right = true;

    x.blocks = blocks;
    for (size_t ids_of_step = 0; ids_of_step < 40; ids_of_step += 7) {
        struct gg_sampler *s = new_sampler();
        struct gg_text_params p = { .sampler = s, .max_ids = MADE };
        struct gg_sequence *q;
        struct gg_text *t;
        struct bench b;
        size_t n;

        open_bench(&b, m, 2, 200, (struct gg_engine_params){ 0 });
        must(gg_session_add_rows(b.session, &x, &first, &err));
        memcpy(list, ids, sizeof(list));
        for (int32_t i = 0; i < ROWS; i++)
            list[FROM + i] = first + i;
        gg_engine_bound_steps(b.engine, ids_of_step, 0);
        q = new_sequence(&b, list, PROMPT);
        must(gg_text_new(q, &p, &t, &err));
        while (gg_text_finish(t) == GG_FINISH_NONE) {
            must(gg_engine_step(b.engine, &t, 1, &err));
            n = gg_sequence_evaluated(q);
            right = right && !(n > FROM && n < FROM + ROWS);
        }
        if (ids_of_step == 0)
            memcpy(truth, gg_text_ids(t, &n), sizeof(truth));
        right = right && !memcmp(truth, gg_text_ids(t, &n), sizeof(truth));
        gg_text_free(t);
        gg_sequence_free(q);
        gg_sampler_free(s);
        close_bench(&b);
    }
    ok(right, "blocks of rows are not parted, and texts the same");
    free(rows);
}

/* ---- slots --------------------------------------------------------------- */

/* Evaluates a sequence, which is then gone: how many ids that took. */
static size_t
evaluate(struct bench *b, const int32_t *list, size_t n, const char *key)
{
    struct gg_sequence *q = new_sequence(b, list, n);
    uint64_t before = gg_engine_stats(b->engine).n_evaluated;
    float logits[V];
    struct gg_query query = { .sequence = q, .rows.logits = logits };

    must(gg_sequence_set_key(q, key, &err));
    must(gg_engine_eval(b->engine, &query, 1, &err));
    gg_sequence_free(q);
    return (size_t)(gg_engine_stats(b->engine).n_evaluated - before);
}

/* Two slots: what is oldest goes, though another begins a little alike. */
static void
check_oldest(const struct gg_model *m)
{
    int32_t a[160], other[100];
    struct bench b;

    memcpy(a, ids, sizeof(a));
    memcpy(other, ids, sizeof(other));
    for (int i = 28; i < 100; i++)
        other[i] = ids[i + 150];
    open_bench(&b, m, 2, 200, (struct gg_engine_params){ 0 });
    (void)evaluate(&b, ids + 300, 100, NULL);
    (void)evaluate(&b, a, 120, NULL);
    is(evaluate(&b, other, 100, NULL), 72, "a shared prefix is copied");
    is(evaluate(&b, a, 160, NULL), 40, "and its text is still there");
    is(evaluate(&b, other, 100, NULL), 1, "so is the other");
    is(evaluate(&b, ids + 300, 100, NULL), 100, "the oldest is not");
    close_bench(&b);
}

static void
check_keys(const struct gg_model *m)
{
    struct gg_sequence *base;
    struct gg_query query = { 0 };
    struct bench b;

    open_bench(&b, m, 4, 200, (struct gg_engine_params){ 0 });
    (void)evaluate(&b, ids, 100, "a");
    is(evaluate(&b, ids, 100, "a"), 1, "a key shares with itself,");
    is(evaluate(&b, ids, 100, "b"), 100, "not with another one,");
    is(evaluate(&b, ids, 100, NULL), 100, "nor with none,");
    is(evaluate(&b, ids, 100, "b"), 1, "whatever came between");
    base = new_sequence(&b, ids + 200, 100);
    query.sequence = base;
    must(gg_engine_eval(b.engine, &query, 1, &err));
    gg_sequence_keep(base, true);
    is(evaluate(&b, ids + 200, 100, "c"), 1, "a base is everybody's");
    gg_sequence_free(base);
    close_bench(&b);
}

static void
check_cache(const struct gg_model *m)
{
    struct bench b;
    size_t two;
    bool fits = true;

    open_bench(&b, m, 4, 200, (struct gg_engine_params){ 0 });
    (void)evaluate(&b, ids, 100, NULL);
    (void)evaluate(&b, ids + 100, 100, NULL);
    two = gg_session_used(b.session);
    gg_engine_bound_cache(b.engine, two);
    for (int i = 0; i < 8; i++) {
        (void)evaluate(&b, ids + 10 * i, (size_t)(60 + i), NULL);
        fits = fits && gg_session_used(b.session) <= two;
    }
    ok(fits, "slots hold no more than they may");
    is(evaluate(&b, ids + 70, 67, NULL), 1, "and what came last");
    close_bench(&b);
}

int
main(void)
{
    static const char *const names[] = { NULL, "gemma2-q8_0", "qwen35-f32",
                                         "mamba2-f32" };
    struct gg_model *m = new_model(&plain_model);
    uint32_t x = 1;

    for (int i = 0; i < 512; i++, x = x * 1664525 + 1013904223)
        ids[i] = (int32_t)((x >> 8) % V);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        check_pieces(names[i], false);
    check_pieces(NULL, true);
    check_order(m);
    check_block(m);
    check_oldest(m);
    check_keys(m);
    check_cache(m);
    gg_model_free(m);
    return tap_done();
}
