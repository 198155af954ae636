/* test_engine.c - the engine: texts and sequences are the same however they
 * come: alone, together, with drafts, after others, through few slots */
#include <gg-engine.h>
#include <math.h>

#include "core/mem.h"
#include "harness/session_test.h"

enum {
    N_TEXTS = 9,
    N_MADE = 24,
    PROMPT = 70,
};

static int32_t ids[512];

/* What is made of a model: engines come and go. */
struct bench {
    const struct gg_model *model;
    struct gg_session *session;
    struct gg_engine *engine;
};

static void
open_bench(struct bench *b, const struct gg_model *m, int32_t n_slots,
           int32_t n_ctx, struct gg_engine_params params)
{
    b->model = m;
    b->session = new_session(m, (struct gg_session_params){ .n_slots = n_slots,
                                                            .n_ctx = n_ctx,
                                                            .n_threads = 2 });
    must(gg_engine_new(m, b->session, &params, &b->engine, &err));
}

static void
close_bench(struct bench *b)
{
    gg_engine_free(b->engine);
    gg_session_free(b->session);
}

static struct gg_sampler *
new_sampler(bool penalties)
{
    struct gg_sampler_params p = gg_sampler_params_default();
    struct gg_sampler *s;

    p.seed = 11;
    p.temperature = 1.5f;
    p.repeat_penalty = penalties ? 1.3f : 1;
    must(gg_sampler_new(&p, &s, &err));
    return s;
}

/* Texts i = 0 .. N_TEXTS - 1: prompts with a prefix in common, but for each
 * third one. */
static size_t
make_prompt(int i, int32_t *out)
{
    size_t n = (size_t)(PROMPT - 3 * i);

    memcpy(out, ids + (i % 3 == 2 ? 100 + i : 0), n * sizeof(*out));
    out[n - 1] = ids[200 + i];
    return n;
}

/* The truth: a session and a sampler, one id at a time. */
static void
make_alone(const struct gg_model *m, struct gg_sampler *sampler, int i,
           int32_t *made)
{
    struct gg_session *s = new_session(m, (struct gg_session_params){ 0 });
    struct gg_history *h = NULL;
    int32_t all[512];
    size_t n = make_prompt(i, all), held = 0;
    float logits[V];

    must(gg_history_new(sampler, &h, &err));
    must(gg_history_add(h, all, n, &err));
    for (int k = 0; k < N_MADE; k++) {
        struct gg_draw drawn;

        eval_ids(s, 0, all, (int)held, (int)n, logits);
        held = n;
        must(gg_sampler_next(sampler, h, NULL, logits, V, (uint64_t)i, n,
                             &drawn, &err));
        must(gg_history_add(h, &drawn.id, 1, &err));
        made[k] = all[n++] = drawn.id;
    }
    gg_history_free(h);
    gg_session_free(s);
}

struct made {
    int32_t ids[N_TEXTS][N_MADE];
};

static void
make_truth(const struct gg_model *m, struct gg_sampler *sampler,
           struct made *out)
{
    for (int i = 0; i < N_TEXTS; i++)
        make_alone(m, sampler, i, out->ids[i]);
}

/* ---- texts --------------------------------------------------------------- */

struct running {
    struct gg_sequence *sequence[N_TEXTS];
    struct gg_text *text[N_TEXTS];
};

static enum gg_status
start_text(struct gg_engine *e, struct gg_sampler *sampler, int i,
           struct running *r)
{
    struct gg_text_params p = { .sampler = sampler,
                                .sequence = (uint64_t)i,
                                .max_ids = N_MADE };
    int32_t prompt[512];
    size_t n = make_prompt(i, prompt);
    enum gg_status st = gg_sequence_new(e, &r->sequence[i], &err);

    if (st == GG_OK)
        st = gg_sequence_put(r->sequence[i], prompt, n, &err);
    return st == GG_OK ? gg_text_new(r->sequence[i], &p, &r->text[i], &err)
                       : st;
}

static void
end_text(struct running *r, int i)
{
    gg_text_free(r->text[i]);
    gg_sequence_free(r->sequence[i]);
    r->text[i] = NULL;
    r->sequence[i] = NULL;
}

static bool
is_right(const struct gg_text *t, const int32_t *truth)
{
    size_t n;
    const int32_t *got = gg_text_ids(t, &n);

    return n == N_MADE && gg_text_finish(t) == GG_FINISH_LENGTH &&
           !memcmp(got, truth, n * sizeof(*got));
}

/* All texts, `at_once` of them at a time; each further one begins as soon as
 * one has ended. */
static enum gg_status
run_texts(struct gg_engine *e, struct gg_sampler *sampler[N_TEXTS], int at_once,
          const struct made *truth, bool *right)
{
    struct running r = { 0 };
    struct gg_text *list[N_TEXTS];
    int who[N_TEXTS], n = 0, next = 0;
    enum gg_status st = GG_OK;

    *right = true;
    while (st == GG_OK && (n > 0 || next < N_TEXTS)) {
        int left = 0;

        for (; st == GG_OK && n < at_once && next < N_TEXTS; n++) {
            st = start_text(e, sampler[next], next, &r);
            who[n] = next++;
        }
        for (int i = 0; i < n && st == GG_OK; i++)
            list[i] = r.text[who[i]];
        if (st == GG_OK)
            st = gg_engine_step(e, list, (size_t)n, &err);
        for (int i = 0; i < n && st == GG_OK; i++) {
            if (gg_text_finish(list[i]) == GG_FINISH_NONE) {
                who[left++] = who[i];
                continue;
            }
            *right = *right && is_right(list[i], truth->ids[who[i]]);
            end_text(&r, who[i]);
        }
        n = st == GG_OK ? left : n;
    }
    for (int i = 0; i < N_TEXTS; i++)
        end_text(&r, i);
    return st;
}

static void
check_texts(const struct gg_model *m, struct gg_sampler *sampler[N_TEXTS],
            const struct made *truth, const char *what)
{
    static const int slots[] = { 1, 3, 4, 9 };
    char name[128];
    bool all = true;

    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        for (int at_once = 1; at_once <= N_TEXTS; at_once += 4) {
            struct bench b;
            bool right;

            open_bench(&b, m, slots[i], 200, (struct gg_engine_params){ 0 });
            must(run_texts(b.engine, sampler, at_once, truth, &right));
            all = all && right;
            close_bench(&b);
        }
    snprintf(name, sizeof(name), "%s: texts are what each is alone", what);
    ok(all, name);
}

static void
check_drafts(const struct gg_model *m, struct gg_sampler *sampler[N_TEXTS],
             const struct made *truth, bool alike)
{
    for (int model = 0; model < 2; model++)
        for (int at_once = 1; at_once <= N_TEXTS; at_once += 4) {
            struct bench b, other;
            struct gg_draft_stats stats;
            bool right;

            open_bench(&b, m, 4, 200, (struct gg_engine_params){ 0 });
            open_bench(&other, m, 4, 200, (struct gg_engine_params){ 0 });
            must(gg_engine_draft(b.engine, model ? other.engine : NULL, &err));
            must(run_texts(b.engine, sampler, at_once, truth, &right));
            ok(right, model ? "a draft by a model changes nothing"
                            : "a draft by search changes nothing");
            stats = gg_engine_draft_stats(b.engine);
            ok(!model || at_once > 1 || !alike || stats.n_accepted > 0,
               "and is accepted at times");
            close_bench(&b);
            close_bench(&other);
        }
}

/* What was made with prefixes that were evaluated for others. */
static void
check_shared(const struct gg_model *m, struct gg_sampler *sampler[N_TEXTS],
             const struct made *truth)
{
    struct bench b;
    struct gg_engine_stats stats;
    bool right;

    open_bench(&b, m, 9, 200, (struct gg_engine_params){ 0 });
    must(run_texts(b.engine, sampler, 9, truth, &right));
    stats = gg_engine_stats(b.engine);
    ok(right && stats.n_copied >= 5 * 40,
       "texts that begin alike at once share what is evaluated");
    must(run_texts(b.engine, sampler, 1, truth, &right));
    ok(right && gg_engine_stats(b.engine).n_copied >=
                    stats.n_copied + (uint64_t)N_TEXTS * 40,
       "and with those that are gone");
    close_bench(&b);
}

/* ---- one text ------------------------------------------------------------ */

static void
check_one(const struct gg_model *m, struct gg_sampler *sampler,
          const int32_t *truth)
{
    struct bench b;
    struct running r = { 0 };
    struct gg_text_params p = { .sampler = sampler, .max_ids = 3 };
    size_t n;
    int32_t pending;

    open_bench(&b, m, 1, 200, (struct gg_engine_params){ 0 });
    must(start_text(b.engine, sampler, 0, &r));
    must(gg_engine_step(b.engine, &r.text[0], 1, &err));
    must(gg_engine_step(b.engine, &r.text[0], 1, &err));
    gg_text_cut(r.text[0]);
    pending = gg_text_pending(r.text[0]);
    gg_sequence_ids(r.sequence[0], &n);
    ok(pending == truth[1] && n == PROMPT + 1,
       "the last id of a text that is cut is pending");
    must(gg_text_continue(r.text[0], &p, &pending, 1, &err));
    for (int i = 0; i < 3; i++)
        must(gg_engine_step(b.engine, &r.text[0], 1, &err));
    ok(gg_text_finish(r.text[0]) == GG_FINISH_LENGTH &&
           !memcmp(gg_text_ids(r.text[0], &n), truth + 2, 3 * sizeof(*truth)),
       "and it goes on as if it had not been");
    end_text(&r, 0);
    close_bench(&b);
}

static void
check_full(const struct gg_model *m, struct gg_sampler *sampler)
{
    for (int shift = 0; shift < 2; shift++) {
        struct bench b;
        struct running r = { 0 };
        int steps = 0;

        open_bench(&b, m, 1, PROMPT + 5,
                   (struct gg_engine_params){ .shift = shift });
        must(start_text(b.engine, sampler, 0, &r));
        for (; gg_text_finish(r.text[0]) == GG_FINISH_NONE; steps++)
            must(gg_engine_step(b.engine, &r.text[0], 1, &err));
        if (shift)
            ok(gg_text_finish(r.text[0]) == GG_FINISH_LENGTH &&
                   gg_sequence_dropped(r.sequence[0]) > 0,
               "a full context is shifted");
        else
            ok(gg_text_finish(r.text[0]) == GG_FINISH_CONTEXT && steps == 6,
               "or ends the text");
        end_text(&r, 0);
        close_bench(&b);
    }
}

/* top[0..n) against logits. */
static bool
is_top(const struct gg_likely *top, size_t n, const float *logits)
{
    double sum = gg_log_sum_exp(logits, V);
    bool good = true;

    for (size_t i = 0; i < n; i++) {
        size_t higher = 0;

        for (int32_t id = 0; id < V; id++)
            higher += logits[id] > logits[top[i].id] ||
                      (logits[id] == logits[top[i].id] && id < top[i].id);
        good = good && higher == i &&
               fabs(top[i].logprob - ((double)logits[top[i].id] - sum)) < 1e-6;
    }
    return good;
}

static void
check_top(const struct gg_model *m, struct gg_sampler *sampler)
{
    for (int all = 0; all < 2; all++) {
        struct gg_text_params p = {
            .sampler = sampler, .max_ids = 3, .all_logits = all, .n_top = 7
        };
        struct running r = { 0 };
        struct bench b;
        float truth[V];
        int32_t prompt[512];
        size_t n = make_prompt(0, prompt), n_top;

        in_steps(m, (struct gg_session_params){ 0 }, prompt, n, n, truth);
        open_bench(&b, m, 1, 200, (struct gg_engine_params){ 0 });
        must(gg_sequence_new(b.engine, &r.sequence[0], &err));
        must(gg_text_new(r.sequence[0], &p, &r.text[0], &err));
        must(gg_text_continue(r.text[0], &p, prompt, n, &err));
        (void)gg_text_top(r.text[0], &n_top);
        ok(n_top == 0, "no likeliest ids before the first draw");
        must(gg_engine_step(b.engine, &r.text[0], 1, &err));
        ok(is_top(gg_text_top(r.text[0], &n_top), 7, truth) && n_top == 7,
           all ? "the likeliest ids of all logits" : "the likeliest ids");
        p.n_top = 100000;
        must(gg_text_continue(r.text[0], &p, prompt, 1, &err));
        must(gg_engine_step(b.engine, &r.text[0], 1, &err));
        (void)gg_text_top(r.text[0], &n_top);
        ok(n_top == V, "which are no more than there are");
        end_text(&r, 0);
        close_bench(&b);
    }
}

/* ---- logits, scores, choices --------------------------------------------- */

static void
check_query(const struct gg_model *m)
{
    struct bench b;
    struct gg_sequence *q;
    float got[V], again[V], truth[V];
    struct gg_query query = { .rows.logits = got };

    in_steps(m, (struct gg_session_params){ 0 }, ids, 50, 50, truth);
    open_bench(&b, m, 2, 200, (struct gg_engine_params){ 0 });
    must(gg_sequence_new(b.engine, &q, &err));
    must(gg_sequence_put(q, ids, 50, &err));
    query.sequence = q;
    must(gg_engine_eval(b.engine, &query, 1, &err));
    ok(same(got, truth), "logits behind a sequence");
    query.rows.logits = again;
    must(gg_engine_eval(b.engine, &query, 1, &err));
    ok(same(again, truth), "are had again");
    ok(gg_sequence_put(q, (int32_t[]){ V }, 1, &err) == GG_ERR_ARG &&
           gg_sequence_put(q, ids, 151, &err) == GG_ERR_CONTEXT,
       "bad ids and too many are refused");
    query.rows.n_last = 51;
    is(gg_engine_eval(b.engine, &query, 1, &err), GG_ERR_ARG,
       "so is what a sequence has not");
    gg_sequence_free(q);
    close_bench(&b);
}

/* logprobs[i] of ids[i + 1]. */
static void
score_truth(const struct gg_model *m, const int32_t *what, size_t n, float *out)
{
    struct gg_session *s = new_session(m, (struct gg_session_params){ 0 });
    struct gg_chunk c = { .ids = what, .n = n, .scores.logprobs = out };

    must(gg_session_eval(s, &c, 1, &err));
    gg_session_free(s);
}

/* Sequences in parts, beginning alike. */
static void
check_score(const struct gg_model *m)
{
    struct bench b;
    bool all = true;

    open_bench(&b, m, 2, 200, (struct gg_engine_params){ .score = true });
    for (int i = 0; i < 6; i++) {
        size_t n = (size_t)(90 - i), known;
        struct gg_sequence *q;
        struct gg_query query = { 0 };
        int32_t what[128];
        float truth[128];

        memcpy(what, ids, n * sizeof(*what));
        what[60 + i] = 7;
        score_truth(m, what, n, truth);
        must(gg_sequence_new(b.engine, &q, &err));
        query.sequence = q;
        for (size_t at = 0, step = 30; at < n; at += step) {
            must(gg_sequence_put(q, what + at, n - at < step ? n - at : step,
                                 &err));
            must(gg_engine_eval(b.engine, &query, 1, &err));
        }
        all = all &&
              !memcmp(gg_sequence_logprobs(q, &known) + 1, truth,
                      (n - 1) * sizeof(*truth)) &&
              known == n;
        gg_sequence_free(q);
    }
    ok(all, "scores are those of the session, through shared prefixes");
    ok(gg_engine_stats(b.engine).n_copied > 5 * 20, "which are copied");
    close_bench(&b);
}

/* They add up to 1, and go by the likelihoods. */
static bool
are_shares(const struct gg_choice *list, int n)
{
    double sum = 0;
    bool right = true;

    for (int i = 0; i < n; i++) {
        double likelier = list[i].logprob - list[0].logprob;

        sum += list[i].probability;
        right = right && fabs(log(list[i].probability / list[0].probability) -
                              likelier) < 1e-9;
    }
    return right && fabs(sum - 1) < 1e-12;
}

static void
check_choices(const struct gg_model *m)
{
    enum {
        N_CHOICES = 7
    };
    int32_t its[N_CHOICES][64];
    struct gg_choice list[N_CHOICES];
    struct gg_choices all = { ids, 50, list, N_CHOICES, NULL };
    bool right = true, shares = true;

    for (int i = 0; i < N_CHOICES; i++) {
        memcpy(its[i], ids, 48 * sizeof(**its)); /* two ids are otherwise */
        memcpy(its[i] + 48, ids + 100 + 3 * i, 16 * sizeof(**its));
        list[i] =
            (struct gg_choice){ .ids = its[i], .n = (size_t)(49 + 2 * i) };
    }
    for (int32_t n_slots = 1; n_slots < 10; n_slots += 4) {
        struct bench b;

        open_bench(&b, m, n_slots, 200, (struct gg_engine_params){ 0 });
        must(gg_engine_choose(b.engine, &all, 1, &err));
        shares = shares && are_shares(list, N_CHOICES);
        for (int i = 0; i < N_CHOICES; i++) {
            float truth[64];
            double sum = 0;

            score_truth(m, its[i], list[i].n, truth);
            for (size_t k = 47; k + 1 < list[i].n; k++)
                sum += (double)truth[k];
            right = right && list[i].n_scored == list[i].n - 48 &&
                    fabs(sum - list[i].logprob) < 1e-12;
        }
        close_bench(&b);
    }
    ok(right, "choices have the probabilities of their ids");
    ok(shares, "of which each has its share");
}

/* ---- windows ------------------------------------------------------------- */

enum {
    BASE = 100,
    LONG = 1500, /* more than windowed layers keep */
};

/* Puts `what` after the sequence and evaluates it; returns how many ids that
 * took. */
static size_t
go_on(struct bench *b, struct gg_sequence *q, const int32_t *what, size_t n,
      float *logits)
{
    uint64_t before = gg_engine_stats(b->engine).n_evaluated;
    struct gg_query query = { .sequence = q, .rows.logits = logits };

    must(gg_sequence_put(q, what, n, &err));
    must(gg_engine_eval(b->engine, &query, 1, &err));
    return (size_t)(gg_engine_stats(b->engine).n_evaluated - before);
}

/* The sequence that begins most like another has moved on too far. */
static void
check_window(void)
{
    struct gg_model *m;
    struct model_spec spec;
    static int32_t text[LONG];
    float truth[V], logits[V];
    struct gg_sequence *base, *far, *near;
    struct bench b;
    size_t n;

    if (!models_named("gemma2-q8_0", &spec))
        exit(99);
    spec.n_ctx = 2048;
    m = new_model(&spec);
    fill_ids(text, LONG);
    in_steps(m, (struct gg_session_params){ .n_ctx = 2048 }, text, 512,
             BASE + 30, truth);
    open_bench(&b, m, 3, 2048, (struct gg_engine_params){ 0 });
    must(gg_sequence_new(b.engine, &base, &err));
    (void)go_on(&b, base, text, BASE, NULL);
    gg_sequence_keep(base, true);
    must(gg_sequence_copy(base, &far, &err));
    ok(go_on(&b, far, text + BASE, LONG - BASE, NULL) == LONG - BASE,
       "windows: a text behind a base");
    must(gg_sequence_copy(base, &near, &err));
    n = go_on(&b, near, text + BASE, 30, logits);
    ok(n == 30 && same(logits, truth),
       "the base is copied where more is shared with what is gone");
    gg_sequence_truncate(far, BASE + 20);
    n = go_on(&b, far, text + BASE + 20, 10, logits);
    ok(n == 1 && same(logits, truth),
       "a sequence that was cut too far takes from another");
    gg_sequence_free(base);
    gg_sequence_free(far);
    gg_sequence_free(near);
    close_bench(&b);
    gg_model_free(m);
}

/* ---- want of memory ------------------------------------------------------ */

static void
check_memory(const struct gg_model *m, struct gg_sampler *sampler[N_TEXTS],
             const struct made *truth)
{
    bool clean = true, right = false;
    long n = 0;

    for (enum gg_status st = GG_ERR_NOMEM; st != GG_OK && n < 100000; n += 29) {
        struct bench b, other;

        open_bench(&b, m, 3, 200, (struct gg_engine_params){ 0 });
        open_bench(&other, m, 3, 200, (struct gg_engine_params){ 0 });
        must(gg_engine_draft(b.engine, other.engine, &err));
        mem_fail_after(n);
        st = run_texts(b.engine, sampler, 3, truth, &right);
        mem_fail_after(-1);
        clean = clean && (st == GG_OK || st == GG_ERR_NOMEM);
        close_bench(&b);
        close_bench(&other);
    }
    ok(clean && right && n > 100, "want of memory is a status");
}

int
main(void)
{
    static const struct model_spec spec = { .arch = "llama",
                                            .type = GGML_TYPE_F32,
                                            .n_ctx = 256 };
    static const struct model_spec windowed = { .arch = "gemma3",
                                                .type = GGML_TYPE_Q8_0,
                                                .n_ctx = 256 };
    static struct made truth;
    struct gg_sampler *sampler[N_TEXTS];
    struct gg_model *m = new_model(&spec);

    fill_ids(ids, 512);
    for (int i = 0; i < N_TEXTS; i++)
        sampler[i] = new_sampler(false);
    make_truth(m, sampler[0], &truth);
    check_texts(m, sampler, &truth, "llama");
    check_drafts(m, sampler, &truth, true);
    check_shared(m, sampler, &truth);
    check_one(m, sampler[0], truth.ids[0]);
    check_full(m, sampler[0]);
    check_top(m, sampler[0]);
    check_query(m);
    check_score(m);
    check_choices(m);
    check_memory(m, sampler, &truth);
    gg_model_free(m);

    m = new_model(&windowed);
    for (int i = 0; i < N_TEXTS; i++) {
        gg_sampler_free(sampler[i]);
        sampler[i] = new_sampler(true);
    }
    make_truth(m, sampler[0], &truth);
    check_texts(m, sampler, &truth, "windows and penalties");
    check_drafts(m, sampler, &truth, false); /* greedy ones */
    for (int i = 0; i < N_TEXTS; i++)
        gg_sampler_free(sampler[i]);
    gg_model_free(m);
    check_window();
    return tap_done();
}
