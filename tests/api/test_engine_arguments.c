/* test_engine_arguments.c - no argument of a function of <gg-engine.h> ends the
 * process
 *
 * Each function of the header is called here, which is checked against the
 * header itself. */
#include <gg-engine.h>
#include <math.h>

#include "harness/header_functions.h"
#include "harness/session_test.h"

static struct gg_model *model;
static struct gg_session *session;
static struct gg_engine *engine, *scoring;
static struct gg_sequence *sequence; /* of 3 ids */
static struct gg_sampler *sampler;
static const int32_t ids[4] = { 5, 6, 7, 8 };

static void
refused(enum gg_status st, const char *what)
{
    ok(st == GG_ERR_ARG && err.message[0], what);
    err.message[0] = '\0';
}

static bool
write_nothing(void *data, const char *bytes, size_t n)
{
    (void)data, (void)bytes, (void)n;
    return true;
}

static void
test_generate(void)
{
    const struct gg_generate_params later = { .reserved = { 1 } };

    refused(gg_generate(NULL, "a", 1, NULL, write_nothing, NULL, &err),
            "gg_generate: no model");
    refused(gg_generate(model, NULL, 1, NULL, write_nothing, NULL, &err),
            "no prompt");
    refused(gg_generate(model, "a", 1, NULL, NULL, NULL, &err),
            "nothing to write with");
    refused(gg_generate(model, "a", 1, &later, write_nothing, NULL, &err),
            "a reserved field");
}

static void
test_engines(void)
{
    const struct gg_engine_params later = { .reserved = { [7] = 1 } };
    struct gg_engine *e = NULL;

    refused(gg_engine_new(NULL, session, NULL, &e, &err),
            "gg_engine_new: no model");
    refused(gg_engine_new(model, NULL, NULL, &e, &err), "no session");
    refused(gg_engine_new(model, session, NULL, NULL, &err), "no result");
    refused(gg_engine_new(model, session, &later, &e, &err),
            "a reserved field");
    gg_engine_free(NULL);
    is(gg_engine_stats(NULL).n_evaluated, 0, "gg_engine_stats: no engine");
    refused(gg_engine_draft(NULL, engine, &err), "gg_engine_draft: no engine");
    refused(gg_engine_draft(engine, engine, &err), "the same engine");
    refused(gg_engine_draft(engine, scoring, &err), "fewer slots");
    refused(gg_engine_draft_mtp(NULL, &err), "gg_engine_draft_mtp: no engine");
    refused(gg_engine_draft_mtp(engine, &err), "no MTP layers");
    refused(gg_engine_draft_none(NULL, &err),
            "gg_engine_draft_none: no engine");
    refused(gg_engine_draft_read(NULL, "", 0, &err),
            "gg_engine_draft_read: no engine");
    refused(gg_engine_draft_read(engine, "", 0, &err), "no table");
    refused(gg_engine_draft_write(NULL, 1, &err),
            "gg_engine_draft_write: no engine");
    refused(gg_engine_draft_write(engine, 1, &err), "no table");
    is(gg_engine_draft_stats(NULL).n_runs, 0,
       "gg_engine_draft_stats: no engine");
}

static void
test_eval(void)
{
    float logits[V];
    struct gg_query twice[] = { { .sequence = sequence },
                                { .sequence = sequence } };
    struct gg_query wrong[] = {
        { .sequence = NULL },
        { .sequence = sequence, .rows.logits = logits, .rows.n_last = 4 },
        { .sequence = sequence, .scores.logprobs = logits, .scores.first = 4 },
        { .sequence = sequence, .reserved = { 1 } },
    };

    refused(gg_engine_eval(NULL, twice, 1, &err), "gg_engine_eval: no engine");
    refused(gg_engine_eval(engine, NULL, 1, &err), "no queries");
    refused(gg_engine_eval(engine, twice, 2, &err), "a sequence twice");
    refused(gg_engine_eval(scoring, twice, 1, &err), "another engine's");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        refused(gg_engine_eval(engine, &wrong[i], 1, &err), "a wrong query");
}

static void
test_choose(void)
{
    struct gg_choice none = { .n = 1 }, same = { .ids = ids, .n = 2 };
    struct gg_choices wrong[] = {
        { NULL, 1, &same, 1, NULL, NULL }, { ids, 2, NULL, 1, NULL, NULL },
        { ids, 2, &none, 1, NULL, NULL },  { ids, 2, &same, 1, NULL, NULL },
        { NULL, 0, &same, 1, NULL, NULL },
    };
    struct gg_contest *contest = NULL;
    bool done;

    refused(gg_engine_choose(NULL, wrong, 1, &err),
            "gg_engine_choose: no engine");
    refused(gg_engine_choose(engine, NULL, 1, &err), "no choices");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        refused(gg_engine_choose(engine, &wrong[i], 1, &err),
                "a wrong list of choices");
    refused(gg_contest_new(NULL, wrong, 1, &contest, &err),
            "gg_contest_new: no engine");
    refused(gg_contest_new(engine, wrong, 0, NULL, &err), "no result");
    refused(gg_contest_step(NULL, true, &done, &err),
            "gg_contest_step: no contest");
    gg_contest_free(NULL);
}

static void
test_sequences(void)
{
    const int32_t wrong[] = { -1, V };
    bool done;
    struct gg_sequence *q = NULL;
    size_t n = 7;

    refused(gg_sequence_new(NULL, &q, &err), "gg_sequence_new: no engine");
    refused(gg_sequence_new(engine, NULL, &err), "no result");
    refused(gg_sequence_copy(NULL, &q, &err), "gg_sequence_copy: nothing");
    refused(gg_sequence_copy(sequence, NULL, &err), "no result");
    gg_sequence_free(NULL);
    gg_sequence_keep(NULL, true);
    refused(gg_sequence_set_scales(NULL, NULL, &err),
            "gg_sequence_set_scales: nowhere");
    refused(gg_sequence_set_key(NULL, "a", &err),
            "gg_sequence_set_key: nowhere");
    is(gg_sequence_evaluated(NULL), 0, "gg_sequence_evaluated: none");
    is(gg_sequence_shared(NULL), 0, "gg_sequence_shared: none");
    gg_engine_bound_steps(NULL, 1, 1);
    refused(gg_engine_eval_some(NULL, NULL, 0, true, &done, &err),
            "gg_engine_eval_some: no engine");
    refused(gg_engine_eval_some(engine, NULL, 0, true, NULL, &err),
            "no result");
    gg_engine_bound_cache(NULL, 1);
    refused(gg_sequence_put(NULL, ids, 1, &err), "gg_sequence_put: nowhere");
    refused(gg_sequence_put(sequence, NULL, 1, &err), "no ids");
    refused(gg_sequence_put(sequence, wrong, 1, &err), "a negative id");
    refused(gg_sequence_put(sequence, wrong + 1, 1, &err), "too large an id");
    gg_sequence_truncate(NULL, 1);
    gg_sequence_truncate(sequence, SIZE_MAX);
    ok(gg_sequence_ids(sequence, &n) && n == 3, "the sequence is what it was");
    ok(!gg_sequence_ids(NULL, &n) && n == 0, "gg_sequence_ids: none");
    ok(gg_sequence_ids(sequence, NULL) != NULL, "their number is not wanted");
    is(gg_sequence_dropped(NULL), 0, "gg_sequence_dropped: none");
    n = 7;
    ok(!gg_sequence_logprobs(NULL, &n) && n == 0, "gg_sequence_logprobs: none");
    is(gg_sequence_cost(NULL, NULL, 0), 0, "gg_sequence_cost: none");
    is(gg_sequence_cost(sequence, NULL, 1), 0, "no other ones");
    refused(gg_sequence_load(NULL, NULL, 0, &err), "gg_sequence_load: none");
    refused(gg_sequence_load(sequence, NULL, 0, &err), "no file");
    is(gg_sequence_state(NULL).slot, -1, "gg_sequence_state: none");
}

static void
test_stop(void)
{
    struct gg_stop *stop;

    refused(gg_stop_new(NULL, &err), "gg_stop_new: no result");
    refused(gg_stop_add(NULL, "a", 1, &err), "gg_stop_add: nowhere");
    must(gg_stop_new(&stop, &err));
    refused(gg_stop_add(stop, NULL, 1, &err), "no string");
    refused(gg_stop_add(stop, "", 0, &err), "an empty string");
    gg_stop_free(stop);
    gg_stop_free(NULL);
}

static void
test_ban(void)
{
    const struct gg_vocab *vocab = gg_model_vocab(model);
    struct gg_stop *strings;
    struct gg_ban *ban;
    size_t n = 7;

    must(gg_stop_new(&strings, &err));
    refused(gg_ban_new(NULL, strings, &ban, &err), "gg_ban_new: no vocabulary");
    refused(gg_ban_new(vocab, NULL, &ban, &err), "no strings");
    refused(gg_ban_new(vocab, strings, NULL, &err), "no result");
    must(gg_ban_new(vocab, strings, &ban, &err));
    refused(gg_ban_before(NULL, NULL, &err), "gg_ban_before: none");
    refused(gg_ban_after(NULL, 1, NULL, &n, &err), "gg_ban_after: none");
    refused(gg_ban_after(ban, 1, NULL, NULL, &err), "no result");
    ok(!gg_ban_forbidden(NULL, &n) && n == 0, "gg_ban_forbidden: none");
    ok(!gg_ban_forbidden(ban, NULL), "their number is not wanted");
    is(gg_ban_open(NULL), 0, "gg_ban_open: none");
    must(gg_ban_after(ban, 1, NULL, &n, &err));
    is(n, 0, "without strings nothing is banned");
    gg_ban_restart(NULL);
    gg_ban_restart(ban);
    gg_ban_free(ban);
    gg_ban_free(NULL);
    gg_stop_free(strings);
    is(gg_text_settled(NULL), 0, "gg_text_settled: none");
}

static void
test_text_new(void)
{
    const struct gg_text_params p = { .sampler = sampler };
    const struct gg_text_params none = { .max_ids = 1 };
    const struct gg_text_params later = { .sampler = sampler,
                                          .reserved = { 1 } };
    const struct gg_text_params mute = { .sampler = sampler,
                                         .n_last_thought = 1 };
    struct gg_text *t = NULL;

    refused(gg_text_new(NULL, &p, &t, &err), "gg_text_new: no sequence");
    refused(gg_text_new(sequence, NULL, &t, &err), "no parameters");
    refused(gg_text_new(sequence, &none, &t, &err), "no sampler");
    refused(gg_text_new(sequence, &later, &t, &err), "a reserved field");
    refused(gg_text_new(sequence, &mute, &t, &err), "no ids of a message");
    refused(gg_text_new(sequence, &p, NULL, &err), "no result");
    ok(!t, "there is none");
}

static void
test_text(void)
{
    const struct gg_text_params p = { .sampler = sampler };
    struct gg_text *text, *none = NULL;

    refused(gg_text_continue(NULL, &p, ids, 1, &err),
            "gg_text_continue: no text");
    refused(gg_engine_step(NULL, &none, 1, &err), "gg_engine_step: no engine");
    refused(gg_engine_step(engine, NULL, 1, &err), "no texts");
    refused(gg_engine_step(engine, &none, 1, &err), "no text");
    refused(gg_engine_begin(NULL, &none, 1, &err),
            "gg_engine_begin: no engine");
    refused(gg_engine_begin(engine, NULL, 1, &err), "no texts");
    refused(gg_engine_begin(engine, &none, 1, &err), "no text");
    is(gg_engine_overlap(NULL), 1, "gg_engine_overlap: no engine");
    is(gg_engine_overlap(engine), 1, "one process");
    must(gg_text_new(sequence, &p, &text, &err));
    refused(gg_engine_begin(scoring, &text, 1, &err), "another engine's");
    refused(gg_text_continue(text, NULL, ids, 1, &err), "no parameters");
    refused(gg_text_continue(text, &p, NULL, 1, &err), "no ids");
    refused(gg_engine_step(scoring, &text, 1, &err), "another engine's");
    gg_text_cut(text);
    refused(gg_engine_step(engine, &text, 1, &err), "it has ended");
    gg_text_free(text);
}

static void
test_no_text(void)
{
    size_t n = 7;

    gg_text_free(NULL);
    gg_text_cut(NULL);
    is(gg_text_finish(NULL), GG_FINISH_NONE, "gg_text_finish: no text");
    ok(!gg_text_error(NULL), "gg_text_error: no text");
    ok(!gg_text_stop(NULL, NULL), "gg_text_stop: no text");
    ok(!gg_text_is_open(NULL), "gg_text_is_open: no text");
    is(gg_text_drawn(NULL).draw.id, -1, "gg_text_drawn: no text");
    ok(!gg_text_top(NULL, NULL), "gg_text_top: no text");
    ok(!gg_text_ids(NULL, &n) && n == 0, "gg_text_ids: no text");
    n = 7;
    is(gg_text_take(NULL, &n), "", "gg_text_take: no text");
    is(n, 0, "no bytes");
    is(gg_text_take(NULL, NULL), "", "no result");
    is(gg_text_take_part(NULL, GG_PART_ALL, &n), "",
       "gg_text_take_part: no text");
    is(gg_text_part(NULL), GG_PART_TEXT, "gg_text_part: no text");
    is(gg_text_pending(NULL), -1, "gg_text_pending: no text");
    ok(isnan(gg_text_mirostat(NULL)), "gg_text_mirostat: no text");
}

/* Whether this file calls the function of that name. */
static bool
has_test(const char *name, size_t len)
{
    FILE *f = open_source("tests/api/test_engine_arguments.c");
    char line[256];
    bool found = false;

    while (f && !found && fgets(line, sizeof(line), f)) {
        const char *at = strstr(line, "gg_");

        for (; at && !found; at = strstr(at + 1, "gg_"))
            found = strncmp(at, name, len) == 0 && at[len] == '(';
    }
    if (f)
        fclose(f);
    return found;
}

int
main(void)
{
    struct gg_session *other;

    model = new_model(&(struct model_spec){ .arch = "llama" });
    session = new_session(
        model, (struct gg_session_params){ .n_ctx = 32, .n_slots = 2 });
    other = new_session(model, (struct gg_session_params){ .n_ctx = 32 });
    must(gg_engine_new(model, session, NULL, &engine, &err));
    must(gg_engine_new(model, other, &(struct gg_engine_params){ .score = 1 },
                       &scoring, &err));
    must(gg_sequence_new(engine, &sequence, &err));
    must(gg_sequence_put(sequence, ids, 3, &err));
    must(gg_sampler_new(NULL, &sampler, &err));
    test_generate();
    test_engines();
    test_eval();
    test_choose();
    test_sequences();
    test_stop();
    test_ban();
    test_text_new();
    test_text();
    test_no_text();
    ok(header_functions("include/gg-engine.h", has_test) > 0,
       "every function of the header");
    gg_sequence_free(sequence);
    gg_engine_free(engine);
    gg_engine_free(scoring);
    gg_sampler_free(sampler);
    gg_session_free(session);
    gg_session_free(other);
    gg_model_free(model);
    return tap_done();
}
