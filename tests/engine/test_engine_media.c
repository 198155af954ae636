/* test_engine_media.c - rows of media among the ids of sequences: texts,
 * prefixes, drafts, scores, penalties and context shifts */
#include "engine_test.h"
#include "engine/text.h"
#include "session/media_test.h"

enum {
    PROMPT = 70,
    FROM = 20, /* the first that rows take the place of, */
    ROWS = 30, /* and how many */
    END = FROM + ROWS,
    MADE = 24,
};

static int32_t with_rows[512];
static float *rows;
static bool drafted_row;

/* With rows of ids[FROM..END); in a block, or not. */
static void
open_media(struct bench *b, const struct gg_model *m, int32_t n_slots,
           int32_t n_ctx, struct gg_engine_params params, bool block)
{
    struct gg_medium x = medium_of(m, rows, ROWS, 1);
    int32_t blocks[ROWS] = { 0 }, first;

    open_bench(b, m, n_slots, n_ctx, params);
    x.blocks = block ? blocks : NULL;
    must(gg_session_add_rows(b->session, &x, &first, &err));
    memcpy(with_rows, ids, sizeof(with_rows));
    for (int32_t i = 0; i < ROWS; i++)
        with_rows[FROM + i] = first + i;
}

static struct gg_sequence *
new_sequence(struct bench *b, const int32_t *list, size_t n)
{
    struct gg_sequence *q;

    must(gg_sequence_new(b->engine, &q, &err));
    must(gg_sequence_put(q, list, n, &err));
    return q;
}

static struct gg_sampler *
new_sampler(float presence)
{
    struct gg_sampler_params p = gg_sampler_params_default();
    struct gg_sampler *s;

    p.seed = 5;
    p.temperature = presence > 0 ? 50 : 1.5f;
    p.repeat_penalty = 1;
    p.presence_penalty = presence;
    p.penalty_last_n = 40; /* rows would fill it */
    must(gg_sampler_new(&p, &s, &err));
    return s;
}

/* The text after the prompt. */
static void
make(struct bench *b, struct gg_sampler *sampler, const int32_t *prompt,
     size_t n, int32_t *out)
{
    struct gg_sequence *q = new_sequence(b, prompt, n);
    struct gg_text_params p = { .sampler = sampler, .max_ids = MADE };
    struct gg_text *t;
    size_t made;

    must(gg_text_new(q, &p, &t, &err));
    while (gg_text_finish(t) == GG_FINISH_NONE) {
        must(gg_engine_step(b->engine, &t, 1, &err));
        for (int i = 0; i < DRAFT_MOST; i++)
            drafted_row = drafted_row || t->draft.ids[i] >= V;
    }
    memcpy(out, gg_text_ids(t, &made), MADE * sizeof(*out));
    if (made != MADE || gg_text_error(t))
        exit(99);
    gg_text_free(t);
    gg_sequence_free(q);
}

static bool
same_ids(const int32_t *a, const int32_t *b)
{
    return !memcmp(a, b, MADE * sizeof(*a));
}

/* ---- texts and drafts ---------------------------------------------------- */

static void
check_texts(const struct gg_model *m, const struct gg_model *other)
{
    struct gg_sampler *s = new_sampler(0);
    struct bench b, d;
    int32_t truth[MADE], got[MADE];

    open_media(&b, m, 2, 200, (struct gg_engine_params){ 0 }, false);
    make(&b, s, ids, PROMPT, truth);
    make(&b, s, with_rows, PROMPT, got);
    ok(same_ids(got, truth), "a text is that of the tokens");
    must(gg_engine_draft(b.engine, NULL, &err));
    make(&b, s, with_rows, PROMPT, got);
    ok(same_ids(got, truth), "with prompt lookup, too");
    open_bench(&d, other, 2, 200, (struct gg_engine_params){ 0 });
    must(gg_engine_draft(b.engine, d.engine, &err));
    make(&b, s, with_rows, PROMPT, got);
    ok(same_ids(got, truth), "and with a model that drafts, without the rows");
    make(&b, s, with_rows, END, got);
    make(&b, s, ids, END, truth);
    ok(same_ids(got, truth), "also where a row is the last id");
    gg_sampler_free(s);
    close_bench(&b);
    close_bench(&d);
}

/* MTP layers draft after a medium, and in the text that follows. */
static void
check_mtp(void)
{
    struct gg_model_params params = { .mtp = true };
    struct gg_sampler *s = new_sampler(0);
    int32_t truth[MADE], got[MADE];
    struct model_spec spec;
    struct gg_model *m;
    struct bench b;

    if (!models_named("qwen35mtp-f32", &spec) ||
        !models_write(&spec, scratch_path()))
        exit(99);
    must(gg_model_open(scratch_path(), &params, &m, &err));
    free(rows);
    rows = copies_of(m, ids + FROM, ROWS);
    open_media(&b, m, 2, 200, (struct gg_engine_params){ 0 }, false);
    make(&b, s, ids, PROMPT, truth);
    must(gg_engine_draft_mtp(b.engine, &err));
    make(&b, s, with_rows, PROMPT, got);
    ok(same_ids(got, truth), "and with MTP layers that draft");
    make(&b, s, ids, END, truth);
    make(&b, s, with_rows, END, got);
    ok(same_ids(got, truth), "also right after the rows");
    gg_sampler_free(s);
    close_bench(&b);
    gg_model_free(m);
}

/* A sampler that draws nothing but id d. */
static struct gg_sampler *
new_stubborn(int32_t d)
{
    struct gg_sampler_params p = gg_sampler_params_default();
    const struct gg_bias bias = { d, 1e4f };
    struct gg_sampler *s;

    p.greedy = true;
    p.bias = &bias;
    p.n_bias = 1;
    must(gg_sampler_new(&p, &s, &err));
    return s;
}

/* The id that is drawn stood before the rows, too, which came next then. */
static void
check_lookup(const struct gg_model *m)
{
    const int32_t d = 7;
    struct gg_sampler *s = new_stubborn(d);
    struct gg_draft_stats stats;
    int32_t got[MADE];
    struct bench b;
    bool good = true;

    open_media(&b, m, 2, 200, (struct gg_engine_params){ 0 }, false);
    for (int i = 0; i < 12; i++)
        with_rows[FROM - 1 - i] = d;
    for (int i = 0; i < 4; i++)
        with_rows[END + i] = d;
    must(gg_engine_draft(b.engine, NULL, &err));
    make(&b, s, with_rows, END + 4, got);
    stats = gg_engine_draft_stats(b.engine);
    for (int i = 0; i < MADE; i++)
        good = good && got[i] == d;
    ok(good && stats.n_drafted > 0 && !drafted_row,
       "prompt lookup proposes no row");
    gg_sampler_free(s);
    close_bench(&b);
}

/* The text has the tokens that are no rows, and these alone, in its history. */
static void
check_penalties(const struct gg_model *m)
{
    struct gg_sampler *s = new_sampler(1000);
    struct gg_history *h;
    int32_t truth[MADE], got[MADE];
    float logits[V];
    struct bench b;

    open_media(&b, m, 2, 200, (struct gg_engine_params){ 0 }, false);
    make(&b, s, with_rows, PROMPT, got);
    must(gg_history_new(s, &h, &err));
    must(gg_history_add(h, ids, FROM, &err));
    must(gg_history_add(h, ids + END, PROMPT - END, &err));
    gg_session_truncate(b.session, 0, 0);
    eval_ids(b.session, 0, ids, 0, PROMPT, logits);
    for (int i = 0; i < MADE; i++) {
        struct gg_draw drawn;

        must(gg_sampler_next(s, h, NULL, logits, V, 0, (uint64_t)(PROMPT + i),
                             &drawn, &err));
        must(gg_history_add(h, &drawn.id, 1, &err));
        truth[i] = drawn.id;
        eval_ids(b.session, 0, truth, i, i + 1, logits);
    }
    ok(same_ids(got, truth), "no penalty sees a row");
    gg_history_free(h);
    gg_sampler_free(s);
    close_bench(&b);
}

/* ---- prefixes ------------------------------------------------------------ */

/* Sequences that part within a block share what is in front of it. */
static void
check_prefixes(const struct gg_model *m)
{
    struct gg_query query = { 0 };
    struct gg_sequence *a, *q;
    struct bench b, alone;
    float truth[V], got[V];
    int32_t after[512];
    uint64_t before;

    open_media(&alone, m, 1, 200, (struct gg_engine_params){ 0 }, true);
    open_media(&b, m, 2, 200, (struct gg_engine_params){ 0 }, true);
    a = new_sequence(&b, with_rows, PROMPT);
    query.sequence = a;
    query.rows.logits = got;
    must(gg_engine_eval(b.engine, &query, 1, &err));
    memcpy(after, with_rows, sizeof(after));
    after[END + 5] = 3;
    q = new_sequence(&b, after, PROMPT);
    query.sequence = q;
    must(gg_engine_eval(b.engine, &query, 1, &err));
    eval_ids(alone.session, 0, after, 0, PROMPT, truth);
    ok(same(got, truth) && gg_engine_stats(b.engine).n_copied == END + 5,
       "a prefix with a block is shared");
    gg_sequence_truncate(q, END - 3);
    before = gg_engine_stats(b.engine).n_evaluated;
    must(gg_sequence_put(q, after + END - 3, 3, &err));
    must(gg_sequence_put(q, with_rows + END, 4, &err));
    must(gg_engine_eval(b.engine, &query, 1, &err));
    gg_session_truncate(alone.session, 0, 0);
    eval_ids(alone.session, 0, with_rows, 0, END + 4, truth);
    ok(same(got, truth) &&
           gg_engine_stats(b.engine).n_evaluated - before == ROWS + 4,
       "what is cut in a block begins again at its edge");
    gg_sequence_free(a);
    gg_sequence_free(q);
    close_bench(&b);
    close_bench(&alone);
}

/* ---- scores -------------------------------------------------------------- */

/* Scores of tokens are those without rows; a row has 0. */
static void
check_scores(const struct gg_model *m, bool block)
{
    struct gg_query query = { 0 };
    struct gg_sequence *q;
    struct bench b, alone;
    float truth[PROMPT];
    const float *got;
    size_t known;
    struct gg_chunk c = { .ids = with_rows, .n = PROMPT };
    bool good = true;

    open_media(&alone, m, 1, 200, (struct gg_engine_params){ 0 }, block);
    c.scores.logprobs = truth + 1;
    must(gg_session_eval(alone.session, &c, 1, &err));
    open_media(&b, m, 2, 200, (struct gg_engine_params){ .score = true },
               block);
    for (int first = FROM; first <= PROMPT; first++) {
        if (first > FROM && first < END && block)
            continue;
        q = new_sequence(&b, with_rows, (size_t)first);
        query.sequence = q;
        must(gg_engine_eval(b.engine, &query, 1, &err));
        must(gg_sequence_put(q, with_rows + first, (size_t)(PROMPT - first),
                             &err));
        must(gg_engine_eval(b.engine, &query, 1, &err));
        got = gg_sequence_logprobs(q, &known);
        good = good && known == PROMPT &&
               !memcmp(got + 1, truth + 1, (PROMPT - 1) * sizeof(*got)) &&
               got[FROM + 1] == 0;
        gg_sequence_free(q);
    }
    ok(good, block ? "scores around a block are the session's"
                   : "scores around rows are the session's");
    close_bench(&b);
    close_bench(&alone);
}

static void
check_choices(const struct gg_model *m)
{
    int32_t its[3][PROMPT + 3], plain[3][PROMPT + 3];
    struct gg_choice list[3], truth[3];
    struct gg_choices all = { with_rows, PROMPT, list, 3, NULL, NULL };
    struct gg_choices tokens = { ids, PROMPT, truth, 3, NULL, NULL };
    struct bench b;
    bool good = true;

    open_media(&b, m, 2, 200, (struct gg_engine_params){ 0 }, false);
    for (int i = 0; i < 3; i++) {
        memcpy(its[i], with_rows, PROMPT * sizeof(**its));
        memcpy(plain[i], ids, PROMPT * sizeof(**its));
        for (int k = 0; k < 3; k++)
            its[i][PROMPT + k] = plain[i][PROMPT + k] = ids[200 + 9 * i + k];
        list[i] = (struct gg_choice){ .ids = its[i], .n = PROMPT + 3 };
        truth[i] = (struct gg_choice){ .ids = plain[i], .n = PROMPT + 3 };
    }
    must(gg_engine_choose(b.engine, &all, 1, &err));
    must(gg_engine_choose(b.engine, &tokens, 1, &err));
    for (int i = 0; i < 3; i++)
        good = good && list[i].logprob == truth[i].logprob;
    ok(good, "choices after rows are as likely as after tokens");
    its[0][PROMPT] = with_rows[FROM];
    ok(gg_engine_choose(b.engine, &all, 1, &err) == GG_ERR_ARG,
       "a row is no choice");
    close_bench(&b);
}

/* ---- a context that is full ---------------------------------------------- */

/* Wherever the middle of the context lies, a medium stays or goes whole. */
static void
check_shift(const struct gg_model *m)
{
    bool whole = true, went = false, right = true;

    for (size_t n_ctx = PROMPT; n_ctx < 2 * PROMPT; n_ctx += 7) {
        struct gg_query query = { 0 };
        struct gg_sequence *q;
        struct bench b, alone;
        float got[V], truth[V];
        const int32_t *list;
        size_t n, n_rows = 0;

        open_media(&alone, m, 1, 200, (struct gg_engine_params){ 0 }, true);
        open_media(&b, m, 1, (int32_t)n_ctx,
                   (struct gg_engine_params){ .shift = true }, true);
        q = new_sequence(&b, with_rows, PROMPT);
        query.sequence = q;
        query.rows.logits = got;
        must(gg_engine_eval(b.engine, &query, 1, &err));
        for (size_t i = PROMPT; i <= n_ctx; i++)
            must(gg_sequence_put(q, ids + i, 1, &err));
        must(gg_engine_eval(b.engine, &query, 1, &err));
        list = gg_sequence_ids(q, &n);
        for (size_t i = 0; i < n; i++)
            n_rows += list[i] >= V;
        whole = whole && (n_rows == 0 || n_rows == ROWS);
        went = went || n_rows == 0;
        eval_ids(alone.session, 0, list, 0, (int)n, truth);
        right = right && same(got, truth);
        gg_sequence_free(q);
        close_bench(&b);
        close_bench(&alone);
    }
    ok(whole && went, "a context that is full drops media whole");
    ok(right, "and what is left is evaluated again");
}

int
main(void)
{
    struct model_spec spec = plain_model;
    struct gg_model *m = new_model(&spec), *other;

    spec.seed = 9;
    other = new_model(&spec);
    fill_ids(ids, 512);
    rows = copies_of(m, ids + FROM, ROWS);
    check_texts(m, other);
    check_lookup(m);
    check_penalties(m);
    check_prefixes(m);
    check_scores(m, false);
    check_scores(m, true);
    check_choices(m);
    check_shift(m);
    check_mtp();
    free(rows);
    gg_model_free(m);
    gg_model_free(other);
    return tap_done();
}
