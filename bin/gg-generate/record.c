/* record.c - a record: its prompt, its answers */
#include <config.h>

#include <ggml.h>
#include <stdlib.h>
#include <string.h>

#include "common/records/batch.h"
#include "gg-generate/options.h"
#include "gg-generate/records.h"
#include "gg-generate/stream.h"
#include "gg-generate/vectors.h"

/* ---- life ---- */

void
generate_start_requests(struct generate *g)
{
    g->requests = (struct requests){ .rows = generate_rows,
                                     .adapters = &g->o->engine.adapters,
                                     .sampling = &g->o->sampling,
                                     .reasoning = &g->o->reasoning,
                                     .vocab = g->engine.vocab,
                                     .quiet = g->o->engine.quiet };
}

struct record *
record_new(const struct generate *g, const struct writer *writer,
           uint64_t number)
{
    struct record *r = cli_alloc(NULL, 1, sizeof(*r));

    *r = (struct record){ .writer = writer, .answers.n = 1 };
    request_begin(&g->requests, number, &r->request);
    return r;
}

void
record_forget_input(struct generate *g, struct record *r)
{
    request_clear(&g->requests, &r->request);
    buffer_clear(&r->text);
    prompt_clear(&r->prompt);
    logprobs_clear(&r->likely);
    vectors_close(r->vectors);
    r->vectors = NULL;
    for (size_t i = 0; i < r->n_others; i++)
        prompt_clear(&r->others[i]);
    free(r->others);
    r->others = NULL;
    r->n_others = 0;
    for (size_t i = 0; r->answers.written && i < r->answers.n; i++)
        buffer_clear(&r->answers.written[i]);
    free(r->answers.written);
    r->answers.written = NULL;
}

void
record_free(struct generate *g, struct record *r)
{
    record_forget_input(g, r);
    buffer_clear(&r->out);
    buffer_clear(&r->before);
    buffer_clear(&r->id);
    stream_free(r->stream);
    free(r->cache_key);
    free(r);
}

/* ---- the prompt ---- */

/* The grammar of calls becomes the record's. */
static enum gg_status
take_grammar(struct generate *g, struct record *r, struct gg_error *err)
{
    const char *text = r->prompt.grammar;

    if (r->request.sampling.params.grammar)
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: calls have a grammar of their own");
    return request_take_grammar(&g->requests, &r->request, text, strlen(text),
                                err);
}

/* Leaves out what the template has no place for. */
static void
leave_thoughts_out(struct request_reasoning *asked,
                   const struct prompt_source *s)
{
    struct reasoning_options *o = &asked->options;
    struct gg_error err;
    char *text = NULL;

    if (asked->has_effort && !gg_chat_reads(s->template, "reasoning_effort")) {
        reasoning_drop_argument(&o->arguments, "reasoning_effort");
        asked->has_effort = false;
        batch_warn(s->lenient, "reasoning_effort is left out: the chat "
                               "template does not read it");
    }
    if (o->mode && reasoning_arguments(o, NULL, s->template, &text, &err) ==
                       GG_ERR_UNSUPPORTED) {
        o->mode = REASONING_AUTO;
        batch_warn(s->lenient, "reasoning is left to the model: nothing "
                               "switches the template's thoughts");
    }
    free(text);
}

/* Checks the record's members on reasoning. */
static enum gg_status
check_thoughts(struct record *r, struct prompt_source *s, struct gg_error *err)
{
    if (r->request.reasoning.said && !s->is_chat)
        return cli_error(err, GG_ERR_FORMAT,
                         "reasoning: a prompt is no conversation");
    if (s->lenient)
        leave_thoughts_out(&r->request.reasoning, s);
    if (r->request.reasoning.has_effort &&
        !gg_chat_reads(s->template, "reasoning_effort"))
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "reasoning_effort: the chat template does not read "
                         "it");
    s->reasoning = &r->request.reasoning.options;
    return GG_OK;
}

enum gg_status
record_encode(struct generate *g, struct record *r, bool messages,
              const char *text, size_t len, struct gg_error *err)
{
    struct request *asked = &r->request;
    const struct choices *choices =
        asked->choices.n ? &asked->choices : &g->o->choices;
    struct prompt_source s = { 0 };
    enum gg_status st;

    if (messages)
        st = prompt_source_open_messages(g, &s, text, len, err);
    else if (r->request.batch) /* which says itself what it is */
        st = prompt_source_open_text(g, &s, text, len, err);
    else
        st = prompt_source_open(g, &s, text, len, err);
    if (st == GG_OK && asked->tools.allowed)
        st = tools_allow(g, asked->tools.allowed, &asked->tools.list, err);
    s.lenient = asked->batch && asked->batch->lenient ? asked->batch : NULL;
    s.tools = asked->tools.list;
    s.tool_choice = asked->tools.choice;
    s.is_json = asked->grammar.is_json;
    if (st == GG_OK && asked->tools.list && !s.is_chat)
        st = cli_error(err, GG_ERR_FORMAT, "tools: a prompt has none");
    if (st == GG_OK && tools_must_call(asked->tools.choice) && !s.is_chat)
        st =
            cli_error(err, GG_ERR_FORMAT, "tool_choice: a prompt has no tools");
    if (st == GG_OK && asked->suffix.len)
        st = prompt_source_add_suffix(g, &s, asked->suffix.p, asked->suffix.len,
                                      err);
    if (st == GG_OK && s.suffix && r->request.choices.n)
        st = cli_error(err, GG_ERR_FORMAT,
                       "suffix: what is to come is not chosen");
    if (st == GG_OK)
        st = check_thoughts(r, &s, err);
    if (st == GG_OK)
        st = generate_check_length(g, &s, &r->least_ids, err);
    if (st == GG_OK)
        st = prompt_source_encode(g, &s, choices, &r->prompt, err);
    r->prompt.contest.scales = r->request.scales;
    if (st == GG_OK && r->prompt.grammar)
        st = take_grammar(g, r, err);
    r->takes_date = s.is_chat && gg_chat_takes_date(s.template);
    prompt_source_close(&s);
    return st;
}

enum gg_status
record_take_prompt(struct generate *g, struct record *r, const char *text,
                   size_t len, struct gg_error *err)
{
    const char *before = g->o->prompt ? g->o->prompt : "";
    struct buffer all = { 0 };
    enum gg_status st;

    buffer_add(&all, before, strlen(before));
    buffer_add(&all, text, len);
    if (g->o->echo || r->request.echo)
        buffer_add(&r->out, all.p, all.len);
    st = record_encode(g, r, false, all.p, all.len, err);
    buffer_clear(&all);
    return st;
}

/* The text of ids, to r->out. */
static enum gg_status
echo_ids(const struct generate *g, struct record *r, const int32_t *ids,
         size_t n, struct gg_error *err)
{
    struct gg_decode_state state = { 0 };
    size_t done = 0, len, most = 1 << 10;
    enum gg_status st = GG_OK;

    for (; n && st == GG_OK; ids += done, n -= done) {
        st = gg_vocab_decode_ids(g->engine.vocab, &state, ids, n, 0,
                                 buffer_room(&r->out, most), most, &done, &len,
                                 err);
        if (st == GG_OK && done == 0)
            most = len;
        else if (st == GG_OK)
            r->out.len += len;
    }
    return st;
}

enum gg_status
record_take_ids(struct generate *g, struct record *r, const int32_t *ids,
                size_t n, struct gg_error *err)
{
    struct prompt_source s = { .ids = ids, .n_ids = n };
    bool choices = r->request.choices.n || g->o->choices.n;

    if (choices || r->request.suffix.len || g->o->suffix ||
        (g->o->prompt && *g->o->prompt))
        return cli_error(err, GG_ERR_FORMAT,
                         "prompt: ids go with no choice, suffix or text");
    if ((g->o->echo || r->request.echo) && echo_ids(g, r, ids, n, err) != GG_OK)
        return GG_ERR_FORMAT;
    return prompt_source_encode(g, &s, &g->o->choices, &r->prompt, err);
}

void
record_next_prompt(struct record *r)
{
    r->others = cli_alloc(r->others, r->n_others + 1, sizeof(*r->others));
    r->others[r->n_others++] = r->prompt;
    r->prompt = (struct prompt){ 0 };
}

void
record_end_prompts(struct record *r)
{
    r->answers.n *= r->n_others;
    r->prompt = r->others[0];
    r->n_others--;
    memmove(r->others, r->others + 1, r->n_others * sizeof(*r->others));
}

/* How many answers each prompt has. */
static size_t
answers_each(const struct record *r)
{
    return r->answers.n / (1 + r->n_others);
}

const struct prompt *
record_prompt(const struct record *r, size_t which)
{
    size_t i = which / answers_each(r);

    return i ? &r->others[i - 1] : &r->prompt;
}

size_t
record_cached(const struct record *r, size_t which, const struct answer *a)
{
    size_t shared = gg_sequence_shared(a->sequence);
    size_t all = record_prompt(r, which)->n;

    return shared < all ? shared : all;
}

/* ---- answers ---- */

static void
make_room(struct record *r)
{
    if (r->answers.written)
        return;
    r->answers.written =
        cli_alloc(NULL, r->answers.n, sizeof(*r->answers.written));
    for (size_t i = 0; i < r->answers.n; i++)
        r->answers.written[i] = (struct buffer){ 0 };
}

enum gg_status
record_begin(const struct generate *g, struct record *r, size_t which,
             struct answer *a, struct gg_error *err)
{
    struct sampling_options sampling = r->request.sampling;
    enum gg_status st;

    make_room(r);
    if (!r->begun)
        r->begun = ggml_time_us();
    a->logprobs = r->request.logprobs;
    if (r->request.sampling.none)
        return GG_OK;
    sampling.params.seed += which % answers_each(r);
    st = sampling_sampler(&sampling, g->engine.vocab, &a->sampler, err);
    a->sampling = &r->request.sampling;
    a->stop = r->request.stop ? r->request.stop : g->o->stop;
    a->thoughts = &r->request.reasoning.options;
    a->draws = r->sequence;
    a->numbered = true;
    a->number = g->o->form == FORM_JSONL ? r->request.number : r->sequence;
    a->wants_logprob = g->o->form == FORM_JSONL;
    if (st == GG_OK)
        st = generate_new_sequence(g, &a->sequence, err);
    if (st == GG_OK && r->cache_key)
        st = gg_sequence_set_key(a->sequence, r->cache_key, err);
    if (st == GG_OK && r->request.scales)
        st = gg_sequence_set_scales(a->sequence, r->request.scales, err);
    return st == GG_OK ? answer_start(g, a, record_prompt(r, which),
                                      engine_count_ids(a->sequence), err)
                       : st;
}

void
record_end(const struct generate *g, struct record *r, size_t which,
           const struct answer *a)
{
    r->writer->add(g, r, which, a, &r->answers.written[which]);
    if (which % answers_each(r) == 0)
        r->answers.n_cached += record_cached(r, which, a);
    r->answers.n_ended++;
    r->answers.n_made += a->n_made;
}
