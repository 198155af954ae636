/* test_forced.c - drafts of what a grammar leaves no choice of change nothing,
 * whatever is drawn, and save evaluations */
#include "core/mem.h"
#include "engine/text.h"
#include "engine_test.h"

enum {
    CASES = 60,
    TEXTS = 5,
    MOST_IDS = 40,
    AFTER = 3, /* ids of a second answer */
    TOP = 2,
    GRAMMAR = 1024,
};

static uint64_t state = 1;

static int
roll(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

/* ---- grammars ---- */

/* Parts that leave no choice, that leave some, and a token's name. */
static void
append_rule_part(char *text)
{
    static const char *const parts[] = {
        "\"abcdefgh\" ",        "\"{\\\"name\\\":\" \" \"? ",
        "\", \\\"aged\\\":\" ", "(\"cat\" | \"car\" | \"dog\") ",
        "[a-e]{1,3} ",          "[ -~]{0,4} \"end\" ",
        "<|control|> ",         "\" \"? \"xyz\" ",
        "(\"1\" | \"2\") ",
    };

    strcat(text, parts[roll(sizeof(parts) / sizeof(parts[0]))]);
}

static void
roll_grammar(char *text)
{
    int n = 2 + roll(5);

    strcpy(text, "root ::= (");
    for (int i = 0; i < n; i++)
        append_rule_part(text);
    strcat(text, roll(2) ? "){1,3}\n" : ")\n");
}

/* ---- texts ---- */

struct job {
    char grammar[GRAMMAR];
    struct gg_sampler_params sampler;
    struct gg_text_params text;
    int n, kind;  /* texts; 0: no drafts of other kinds, 1: by search, 2: by a
                     model, 3: by MTP layers */
    size_t bound; /* ids of prompts in a step, or 0 */
};

struct outcome {
    int32_t ids[TEXTS][MOST_IDS], after[TEXTS][AFTER];
    double logprobs[TEXTS][MOST_IDS][1 + TOP];
    enum gg_finish finish[TEXTS];
    double mirostat[TEXTS];
    size_t n[TEXTS];
    uint64_t n_saved;
};

static struct gg_stop *stops, *bans;

static struct job
make_job(bool mtp)
{
    struct job job = { .sampler = gg_sampler_params_default(),
                       .n = 1 + roll(TEXTS),
                       .kind = roll(mtp ? 4 : 3) };
    struct gg_text_params *p = &job.text;

    job.bound = roll(3) ? 0 : 1 + (size_t)roll(20);
    roll_grammar(job.grammar);
    job.sampler.seed = (uint64_t)roll(1000);
    job.sampler.greedy = roll(4) == 0;
    job.sampler.temperature = 0.5f + (float)roll(3);
    job.sampler.repeat_penalty = roll(3) ? 1 : 1.2f;
    job.sampler.mirostat = roll(4) ? 0 : 2;
    p->max_ids = MOST_IDS - (uint64_t)roll(10);
    p->n_top = roll(2) ? TOP : 0;
    p->logprobs = roll(2);
    p->stop = roll(3) ? NULL : stops;
    p->ban = roll(4) ? NULL : bans;
    p->min_ids = roll(3) ? 0 : 6;
    return job;
}

static void
note_drawn(struct outcome *r, struct gg_text *t, int i)
{
    struct gg_drawn d = gg_text_drawn(t);
    size_t n, n_top;
    const struct gg_likely *top = gg_text_top(t, &n_top);

    (void)gg_text_ids(t, &n);
    if (n == 0 || n > MOST_IDS)
        return;
    r->logprobs[i][n - 1][0] = d.logprob;
    for (size_t k = 0; k < n_top && k < TOP; k++)
        r->logprobs[i][n - 1][1 + k] = top[k].logprob;
}

static void
note_end(struct outcome *r, struct gg_text *t, int i)
{
    const int32_t *made = gg_text_ids(t, &r->n[i]);

    memcpy(r->ids[i], made, r->n[i] * sizeof(*made));
    r->finish[i] = gg_text_finish(t);
    r->mirostat[i] = gg_text_mirostat(t);
}

static void
step_all(struct gg_engine *e, struct gg_text **texts, int n, struct outcome *r)
{
    struct gg_text *list[TEXTS];
    int who[TEXTS], left = n;

    while (left > 0) {
        left = 0;
        for (int i = 0; i < n; i++)
            if (gg_text_finish(texts[i]) == GG_FINISH_NONE) {
                who[left] = i;
                list[left++] = texts[i];
            }
        must(gg_engine_step(e, list, (size_t)left, &err));
        for (int i = 0; i < left; i++)
            note_drawn(r, list[i], who[i]);
    }
}

/* Each text goes on, without the grammar. */
static void
answer_again(struct gg_engine *e, struct gg_text **texts, int n,
             struct outcome *r)
{
    const struct gg_sampler_params greedy = { .greedy = true };
    struct gg_text_params p = { .max_ids = AFTER, .ignore_eog = true };
    struct gg_sampler *s;

    must(gg_sampler_new(&greedy, &s, &err));
    p.sampler = s;
    for (int i = 0; i < n; i++) {
        const int32_t *made;
        size_t n_made;

        must(gg_text_continue(texts[i], &p, ids, 2, &err));
        while (gg_text_finish(texts[i]) == GG_FINISH_NONE)
            must(gg_engine_step(e, &texts[i], 1, &err));
        made = gg_text_ids(texts[i], &n_made);
        memcpy(r->after[i], made, n_made * sizeof(*made));
    }
    for (int i = 0; i < n; i++)
        gg_text_free(texts[i]);
    gg_sampler_free(s);
}

static void
run_job(struct bench *b, struct bench *other, const struct job *job,
        bool forced, struct outcome *r)
{
    struct gg_sampler_params s = job->sampler;
    struct gg_text_params p = job->text;
    struct gg_sequence *q[TEXTS];
    struct gg_text *t[TEXTS];

    memset(r, 0, sizeof(*r));
    must(gg_grammar_new(gg_model_vocab(b->model), job->grammar,
                        strlen(job->grammar), &s.grammar, &err));
    must(gg_sampler_new(&s, &p.sampler, &err));
    if (job->kind == 3)
        must(gg_engine_draft_mtp(b->engine, &err));
    else if (job->kind)
        must(gg_engine_draft(b->engine, job->kind == 2 ? other->engine : NULL,
                             &err));
    else if (!forced)
        must(gg_engine_draft_none(b->engine, &err));
    b->engine->no_forced = !forced;
    gg_engine_bound_steps(b->engine, job->bound, 0);
    for (int i = 0; i < job->n; i++) {
        p.sequence = (uint64_t)i;
        must(gg_sequence_new(b->engine, &q[i], &err));
        must(gg_sequence_put(q[i], ids + i, 12, &err));
        must(gg_text_new(q[i], &p, &t[i], &err));
    }
    step_all(b->engine, t, job->n, r);
    for (int i = 0; i < job->n; i++)
        note_end(r, t[i], i);
    answer_again(b->engine, t, job->n, r);
    for (int i = 0; i < job->n; i++)
        gg_sequence_free(q[i]);
    r->n_saved = gg_engine_draft_stats(b->engine).n_accepted;
    gg_sampler_free(p.sampler);
    gg_grammar_free(s.grammar);
}

static bool
same_outcome(const struct outcome *a, const struct outcome *b)
{
    return !memcmp(a, b, offsetof(struct outcome, n_saved));
}

static void
check_forced_of(const char *name, bool mtp)
{
    const struct gg_model_params params = { .mtp = mtp };
    struct model_spec spec = plain_model;
    struct gg_model *m;
    static struct outcome plain, drafted;
    uint64_t saved = 0;
    int bad = 0;

    if (!models_named(name, &spec) || !models_write(&spec, scratch_path()))
        exit(99);
    must(gg_model_open(scratch_path(), &params, &m, &err));
    for (int i = 0; i < CASES; i++) {
        struct job job = make_job(mtp);
        struct bench b, other;

        open_bench(&b, m, 3, 100, (struct gg_engine_params){ 0 });
        open_bench(&other, m, 3, 100, (struct gg_engine_params){ 0 });
        run_job(&b, &other, &job, false, &plain);
        close_bench(&b);
        open_bench(&b, m, 3, 100, (struct gg_engine_params){ 0 });
        run_job(&b, &other, &job, true, &drafted);
        close_bench(&b);
        close_bench(&other);
        if (!same_outcome(&plain, &drafted) && bad++ == 0)
            printf("# case %d: %s", i, job.grammar);
        if (job.kind == 0)
            saved += drafted.n_saved;
    }
    printf("# %s: %d of %d differ; %d evaluations saved\n", name, bad, CASES,
           (int)saved);
    ok(bad == 0, "what must come is drafted: the same ids, logprobs, ends");
    ok(saved > CASES, "and evaluations are saved");
    gg_model_free(m);
}

/* The first ids that must come are evaluated with the prompt. */
static void
check_first(const char *name, bool joined)
{
    static const char text[] = "root ::= \"abc\" [xy]\n";
    struct gg_sampler_params s = { .greedy = true };
    struct gg_text_params p = { .max_ids = MOST_IDS };
    struct model_spec spec;
    struct gg_sequence *q;
    struct gg_text *t;
    struct gg_model *m;
    struct bench b;
    size_t n;
    int runs = 0;

    if (!models_named(name, &spec) || !models_write(&spec, scratch_path()))
        exit(99);
    must(gg_model_open(scratch_path(), NULL, &m, &err));
    open_bench(&b, m, 1, 100, (struct gg_engine_params){ 0 });
    must(gg_grammar_new(gg_model_vocab(m), text, strlen(text), &s.grammar,
                        &err));
    must(gg_sampler_new(&s, &p.sampler, &err));
    must(gg_sequence_new(b.engine, &q, &err));
    must(gg_sequence_put(q, ids, 12, &err));
    must(gg_text_new(q, &p, &t, &err));
    while (gg_text_finish(t) == GG_FINISH_NONE) {
        must(gg_engine_step(b.engine, &t, 1, &err));
        (void)gg_text_ids(t, &n);
        if (n == 2)
            runs = (int)gg_engine_stats(b.engine).n_runs;
    }
    ok(n > 2, "some ids come");
    is(runs, joined ? 1 : 2, "the first two are drawn of one evaluation");
    gg_text_free(t);
    gg_sequence_free(q);
    close_bench(&b);
    gg_sampler_free(p.sampler);
    gg_grammar_free(s.grammar);
    gg_model_free(m);
}

int
main(void)
{
    fill_ids(ids, 64);
    must(gg_stop_new(&stops, &err));
    must(gg_stop_add(stops, "dex", 3, &err));
    must(gg_stop_new(&bans, &err));
    must(gg_stop_add(bans, "car", 3, &err));
    must(gg_stop_add(bans, "b", 1, &err));
    check_first("llama-f32", true);
    check_first("qwen35-f32",
                false); /* whose prompt would be evaluated again */
    check_forced_of("llama-f32", false);
    check_forced_of("qwen35mtp-f32", true);
    gg_stop_free(stops);
    gg_stop_free(bans);
    return tap_done();
}
