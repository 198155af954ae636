/* test_engine.c - the engine: texts are the same however they come: alone,
 * together, with drafts, after others, through few slots */
#include "core/mem.h"
#include "engine/draft.h"
#include "engine/text.h"
#include "engine_test.h"

enum {
    N_TEXTS = 9,
    N_MADE = 24,
    PROMPT = 70,
};

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
            b.engine->draft->length.fixed = model ? 2 : 0;
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

/* Texts that were made with prefixes that were evaluated for others. */
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

/* Bytes that were taken of a text are not kept. */
static void
check_taken(const struct gg_model *m, struct gg_sampler *sampler)
{
    struct bench b;
    struct running r = { 0 };
    size_t n, all = 0;
    bool gone = true;

    open_bench(&b, m, 1, 200, (struct gg_engine_params){ 0 });
    must(start_text(b.engine, sampler, 0, &r));
    for (int i = 0; i < N_MADE; i++) {
        must(gg_engine_step(b.engine, &r.text[0], 1, &err));
        gg_text_take(r.text[0], &n);
        gone = gone && r.text[0]->parts[GG_PART_TEXT].bytes.len == n;
        all += n;
    }
    ok(all > 0 && gone, "what was taken of a text is not kept");
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
    static const struct model_spec windowed = { .arch = "gemma3",
                                                .type = GGML_TYPE_Q8_0,
                                                .n_ctx = 256 };
    static struct made truth;
    struct gg_sampler *sampler[N_TEXTS];
    struct gg_model *m = new_model(&plain_model);

    fill_ids(ids, 512);
    for (int i = 0; i < N_TEXTS; i++)
        sampler[i] = new_sampler(false);
    make_truth(m, sampler[0], &truth);
    check_texts(m, sampler, &truth, "llama");
    check_drafts(m, sampler, &truth, true);
    check_shared(m, sampler, &truth);
    check_one(m, sampler[0], truth.ids[0]);
    check_taken(m, sampler[0]);
    check_full(m, sampler[0]);
    check_top(m, sampler[0]);
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
    return tap_done();
}
