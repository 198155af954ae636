/* test_thoughts.c - answers in parts: reasoning, grammars after it, ids that
 * are forced */
#include <gg-engine.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/chain.h"
#include "harness/scratch.h"
#include "harness/tap.h"

static struct gg_error err;

static void
must(enum gg_status st)
{
    if (st != GG_OK) {
        printf("Bail out! %s\n", err.message);
        exit(99);
    }
}

/* Models and how their answers are split into parts. */
static const struct chain_spec simple = {
    "{{ '<think></think>' if false }}<|user|>{% for m in messages %}"
    "{{ m.content }}{% endfor %}<|answer|>",
    { "<|end|>", "<|user|>", "<|answer|>" },
    { "<think>", "</think>" },
    /* After an answer's beginning reasoning is likely; in it the end of
     * generation, and what stands in the text. */
    { "<|answer|><think>ab<|end|>", "bc</think>\n[1]<|end|>", "<|answer|>[",
      "2", "<|user|>[" },
};

static const struct chain_spec harmony = {
    "{{ '<|channel|>analysis<|message|><|end|><|channel|>final<|message|>'"
    " if false }}<|start|>user<|message|>{% for m in messages %}"
    "{{ m.content }}{% endfor %}<|end|><|start|>assistant",
    { "<|return|>", "<|call|>", "<|start|>", "<|end|>", "<|message|>",
      "<|channel|>", "<|constrain|>" },
    { "assistant", "analysis", "final", "commentary", "ANSWER" },
    { "assistant<|channel|>analysis<|message|>ab<|end|><|start|>assistant",
      "<|channel|>final", "final<|message|>", "[1]<|return|>", "<|message|>[" },
};

struct bench {
    struct gg_model *model;
    struct gg_session *session;
    struct gg_engine *engine;
    const struct gg_vocab *vocab;
    struct gg_chat_template *template;
    struct gg_chat_reader *reader;
};

static void
open_bench(struct bench *b, const struct chain_spec *spec, bool drafts)
{
    const struct gg_session_params params = { .n_threads = 1, .n_ctx = 256 };

    if (!chain_write(spec, scratch_path()))
        exit(99);
    must(gg_model_open(scratch_path(), NULL, &b->model, &err));
    b->vocab = gg_model_vocab(b->model);
    must(gg_session_new(b->model, &params, &b->session, &err));
    must(gg_engine_new(b->model, b->session, NULL, &b->engine, &err));
    if (drafts)
        must(gg_engine_draft(b->engine, NULL, &err));
    must(gg_chat_open(b->vocab, NULL, &b->template, &err));
    must(gg_chat_reader_new(b->vocab, b->template, NULL, &b->reader, &err));
}

static void
close_bench(struct bench *b)
{
    gg_chat_reader_free(b->reader);
    gg_chat_free(b->template);
    gg_engine_free(b->engine);
    gg_session_free(b->session);
    gg_model_free(b->model);
}

/* An answer to be made, and how. */
struct job {
    const char *grammar, *stop; /* or NULL */
    const char *prompt;         /* after the rendered one, or NULL */
    uint64_t max_ids;
    int64_t max_thought; /* -1: no limit */
    bool draws;          /* at a temperature; else the likeliest */
    bool calls;
};

struct result {
    char parts[GG_PART_ALL + 1][256];
    enum gg_finish finish;
    bool open;
    enum gg_part part;
    size_t n;
};

static size_t
encode_prompt(const struct bench *b, const struct job *job, int32_t *ids)
{
    static const struct gg_message m = { GG_ROLE_USER, "q", 1 };
    const struct gg_chat_params params = { .flags = GG_CHAT_ANSWER };
    struct gg_encoded n, more = { 0 };

    must(gg_chat_encode(b->vocab, b->template, &m, 1, &params, ids, 128, &n,
                        &err));
    if (job->prompt)
        must(gg_vocab_encode(b->vocab, job->prompt, strlen(job->prompt),
                             GG_ENCODE_SPECIAL, ids + n.n, 128, &more, &err));
    return n.n + more.n;
}

static void
take(struct gg_text *t, struct result *r)
{
    for (int i = 0; i <= GG_PART_ALL; i++) {
        size_t n;
        const char *p = gg_text_take_part(t, (enum gg_part)i, &n);

        strncat(r->parts[i], p, n);
    }
}

static void
run_text(const struct bench *b, const struct job *job, struct gg_text_params *p,
         struct result *r)
{
    struct gg_sequence *q;
    struct gg_text *t;
    int32_t ids[256];
    size_t n = encode_prompt(b, job, ids);

    must(gg_sequence_new(b->engine, &q, &err));
    must(gg_sequence_put(q, ids, n, &err));
    must(gg_text_new(q, p, &t, &err));
    while (gg_text_finish(t) == GG_FINISH_NONE) {
        must(gg_engine_step(b->engine, &t, 1, &err));
        take(t, r);
    }
    if (gg_text_error(t))
        printf("# %s\n", gg_text_error(t));
    r->finish = gg_text_finish(t);
    r->open = gg_text_is_open(t);
    r->part = gg_text_part(t);
    (void)gg_text_ids(t, &r->n);
    gg_text_free(t);
    gg_sequence_free(q);
}

static struct result
run(const struct bench *b, const struct job *job)
{
    struct gg_sampler_params s = gg_sampler_params_default();
    uint64_t limit = (uint64_t)job->max_thought;
    struct gg_text_params p = { .reader = b->reader,
                                .max_ids = job->max_ids ? job->max_ids : 40,
                                .max_thought =
                                    job->max_thought < 0 ? NULL : &limit,
                                .grammar_of_calls = job->calls };
    struct gg_sampler *sampler;
    struct gg_stop *stop = NULL;
    struct result r = { 0 };

    s.greedy = !job->draws;
    s.seed = 5;
    if (job->grammar)
        must(gg_grammar_new(b->vocab, job->grammar, strlen(job->grammar),
                            &s.grammar, &err));
    must(gg_sampler_new(&s, &sampler, &err));
    if (job->stop) {
        must(gg_stop_new(&stop, &err));
        must(gg_stop_add(stop, job->stop, strlen(job->stop), &err));
    }
    p.sampler = sampler;
    p.stop = stop;
    run_text(b, job, &p, &r);
    gg_sampler_free(sampler);
    gg_grammar_free(s.grammar);
    gg_stop_free(stop);
    return r;
}

static void
check(const struct bench *b, const char *what, struct job job,
      const char *reasoning, const char *text, const char *all,
      enum gg_finish finish)
{
    struct result r = run(b, &job);
    bool right = !strcmp(r.parts[GG_PART_REASONING], reasoning) &&
                 !strcmp(r.parts[GG_PART_TEXT], text) &&
                 (!all || !strcmp(r.parts[GG_PART_ALL], all)) &&
                 r.finish == finish;

    ok(right, what);
    if (!right)
        printf("# '%s' '%s' '%s' %d\n", r.parts[GG_PART_REASONING],
               r.parts[GG_PART_TEXT], r.parts[GG_PART_ALL], (int)r.finish);
}

#define GRAMMAR "root ::= \"[\" [0-9] \"]\""

static void
check_simple(bool drafts)
{
    struct bench b;
    struct result r;

    open_bench(&b, &simple, drafts);
    check(&b, "a thought that the end of generation ends",
          (struct job){ .max_thought = -1 }, "ab", "", "<think>ab",
          GG_FINISH_EOG);
    check(&b, "a grammar waits, and no end comes before it",
          (struct job){ .max_thought = -1, .grammar = GRAMMAR }, "abc", "[1]",
          "<think>abc</think>[1]", GG_FINISH_EOG);
    check(&b, "a thought that the prompt opens",
          (struct job){
              .max_thought = -1, .prompt = "<think>", .grammar = GRAMMAR },
          "abc", "[1]", "abc</think>[1]", GG_FINISH_EOG);
    check(
        &b, "a thought that the prompt closes",
        (struct job){ .max_thought = -1, .prompt = "<think>\n\n</think>\n\n" },
        "", "[1]", "[1]", GG_FINISH_EOG);
    check(&b, "and closed: the grammar from the first token",
          (struct job){
              .max_thought = -1, .grammar = GRAMMAR, .prompt = "</think>" },
          "", "[1]", "[1]", GG_FINISH_EOG);
    check(&b, "a budget forces the mark", (struct job){ .max_thought = 1 }, "a",
          "[1]", "<think>a</think>\n[1]", GG_FINISH_EOG);
    check(&b, "a budget of none", (struct job){ .max_thought = 0 }, "", "[1]",
          "<think></think>\n[1]", GG_FINISH_EOG);
    check(&b, "a budget of none, where the prompt opens it",
          (struct job){
              .max_thought = 0, .prompt = "<think>", .grammar = GRAMMAR },
          "", "[1]", "</think>[1]", GG_FINISH_EOG);
    check(&b, "draws at a temperature",
          (struct job){ .max_thought = 1, .draws = true, .grammar = GRAMMAR },
          "a", "[1]", "<think>a</think>[1]", GG_FINISH_EOG);
    check(&b, "a stop string is of the text only",
          (struct job){ .max_thought = 2, .stop = "]" }, "ab", "[1",
          "<think>ab</think>\n[1", GG_FINISH_STOP);
    check(&b, "and not of the thought",
          (struct job){ .max_thought = 2, .stop = "b" }, "ab", "[1]",
          "<think>ab</think>\n[1]", GG_FINISH_EOG);
    r = run(&b, &(struct job){ .max_thought = -1, .max_ids = 3 });
    ok(r.open && r.finish == GG_FINISH_LENGTH && r.part == GG_PART_REASONING,
       "an answer that is cut in a thought is open");
    close_bench(&b);
}

static void
check_harmony(void)
{
    struct bench b;

    open_bench(&b, &harmony, false);
    check(&b, "harmony: a grammar behind the final channel's mark",
          (struct job){ .max_thought = -1, .grammar = GRAMMAR }, "ab", "[1]",
          "ab\n\n[1]", GG_FINISH_EOG);
    check(&b, "harmony: a budget",
          (struct job){ .max_thought = 1, .stop = "b" }, "a", "a", "a\n\na",
          GG_FINISH_STOP);
    check(&b, "harmony: a grammar of calls behind the thought",
          (struct job){ .max_thought = -1,
                        .calls = true,
                        .grammar = "root ::= <|channel|> \"commentary\" "
                                   "<|constrain|> <|message|> [0-9]" },
          "ab", "0", NULL, GG_FINISH_EOG);
    close_bench(&b);
}

int
main(void)
{
    check_simple(false);
    check_simple(true);
    check_harmony();
    return tap_done();
}
