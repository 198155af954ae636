/* record.c - a record: its prompt, its answers */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gg-generate/records.h"

/* ---- life ---- */

void
record_forget_input(struct generate *g, struct record *r)
{
    grammars_give_back(&g->grammars, r->grammar);
    r->grammar = NULL;
    buffer_clear(&r->text);
    free(r->reasoning.arguments);
    r->reasoning.arguments = NULL;
    choices_clear(&r->choices);
    prompt_clear(&r->prompt);
    for (size_t i = 0; i < r->n_others; i++)
        prompt_clear(&r->others[i]);
    free(r->others);
    r->others = NULL;
    r->n_others = 0;
    free(r->bias);
    for (size_t i = 0; r->breakers && i < r->sampling.n_breakers; i++)
        free(r->breakers[i]);
    free(r->breakers);
    free(r->scales);
    r->scales = NULL;
    free(r->suffix);
    r->suffix = NULL;
    free(r->tools);
    free(r->tool_choice);
    free(r->allowed_tools);
    r->tools = r->tool_choice = r->allowed_tools = NULL;
    batch_free(r->batch);
    r->batch = NULL;
    gg_stop_free(r->stop);
    for (size_t i = 0; r->written && i < r->n_answers; i++)
        buffer_clear(&r->written[i]);
    free(r->written);
    r->written = NULL;
    r->stop = NULL;
    r->bias = NULL;
    r->breakers = NULL;
}

void
record_free(struct generate *g, struct record *r)
{
    record_forget_input(g, r);
    buffer_clear(&r->out);
    buffer_clear(&r->before);
    free(r);
}

/* ---- the prompt ---- */

/* The grammar of calls becomes the record's. */
static enum gg_status
take_grammar(struct generate *g, struct record *r, struct gg_error *err)
{
    const char *text = r->prompt.grammar;
    enum gg_status st;

    if (r->sampling.params.grammar)
        return cli_error(err, GG_ERR_FORMAT,
                         "tool_choice: calls have a grammar of their own");
    st = grammars_take(&g->grammars, g->engine.vocab, false, text, strlen(text),
                       &r->grammar, err);
    if (st == GG_OK)
        r->sampling.params.grammar = grammars_get(r->grammar);
    return st;
}

/* Checks what the record says of thoughts. */
static enum gg_status
check_thoughts(struct record *r, struct prompt_source *s,
               struct gg_error *err)
{
    if (r->says_thoughts && !s->is_chat)
        return cli_error(err, GG_ERR_FORMAT,
                         "reasoning: a prompt is no conversation");
    if (r->has_effort && !gg_chat_reads(s->template, "reasoning_effort"))
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "reasoning_effort: the chat template does not read "
                         "it");
    s->reasoning = &r->reasoning;
    return GG_OK;
}

enum gg_status
record_encode(struct generate *g, struct record *r, bool messages,
              const char *text, size_t len, struct gg_error *err)
{
    const struct choices *choices = r->choices.n ? &r->choices : &g->o->choices;
    struct prompt_source s = { 0 };
    enum gg_status st;

    if (messages)
        st = prompt_source_open_messages(g, &s, text, len, err);
    else if (r->batch) /* which says itself what it is */
        st = prompt_source_open_text(g, &s, text, len, err);
    else
        st = prompt_source_open(g, &s, text, len, err);
    if (st == GG_OK && r->allowed_tools)
        st = tools_allow(g, r->allowed_tools, &r->tools, err);
    s.tools = r->tools;
    s.tool_choice = r->tool_choice;
    s.is_json = r->is_json;
    if (st == GG_OK && r->tools && !s.is_chat)
        st = cli_error(err, GG_ERR_FORMAT, "tools: a prompt has none");
    if (st == GG_OK && tools_must_call(r->tool_choice) && !s.is_chat)
        st =
            cli_error(err, GG_ERR_FORMAT, "tool_choice: a prompt has no tools");
    if (st == GG_OK && r->suffix)
        st = prompt_source_add_suffix(g, &s, r->suffix, r->n_suffix, err);
    if (st == GG_OK && s.suffix && r->choices.n)
        st = cli_error(err, GG_ERR_FORMAT,
                       "suffix: what is to come is not chosen");
    if (st == GG_OK)
        st = check_thoughts(r, &s, err);
    if (st == GG_OK)
        st = prompt_source_encode(g, &s, choices, &r->prompt, err);
    r->prompt.contest.scales = r->scales;
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
    if (g->o->echo || r->echo)
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
    bool choices = r->choices.n || g->o->choices.n;

    if (choices || r->suffix || g->o->suffix || (g->o->prompt && *g->o->prompt))
        return cli_error(err, GG_ERR_FORMAT,
                         "prompt: ids go with no choice, suffix or text");
    if ((g->o->echo || r->echo) && echo_ids(g, r, ids, n, err) != GG_OK)
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
    r->n_answers *= r->n_others;
    r->prompt = r->others[0];
    r->n_others--;
    memmove(r->others, r->others + 1, r->n_others * sizeof(*r->others));
}

/* How many answers each prompt has. */
static size_t
answers_each(const struct record *r)
{
    return r->n_answers / (1 + r->n_others);
}

const struct prompt *
record_prompt(const struct record *r, size_t which)
{
    size_t i = which / answers_each(r);

    return i ? &r->others[i - 1] : &r->prompt;
}

/* By the finaliser of SplitMix64 (Steele, Lea, Flood 2014); 32 bits are easy to
 * type again. */
uint64_t
record_seed(uint64_t seed, uint64_t number)
{
    for (int i = 0; i < 2; i++) {
        seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
        seed ^= seed >> 31;
        seed += i ? 0 : number * UINT64_C(0x9e3779b97f4a7c15);
    }
    return seed >> 32;
}

bool
record_matches_seed(const struct generate *g, const struct record *r,
                    double seed)
{
    const struct sampling_options *s = &g->o->sampling;

    return !s->has_seed || r->has_seed ||
           seed == (double)record_seed(s->params.seed, r->number);
}

/* ---- answers ---- */

static void
make_room(struct record *r)
{
    if (r->written)
        return;
    r->written = cli_alloc(NULL, r->n_answers, sizeof(*r->written));
    for (size_t i = 0; i < r->n_answers; i++)
        r->written[i] = (struct buffer){ 0 };
}

enum gg_status
record_begin(const struct generate *g, struct record *r, size_t which,
             struct answer *a, struct gg_error *err)
{
    struct sampling_options sampling = r->sampling;
    enum gg_status st;

    make_room(r);
    sampling.params.seed += which % answers_each(r);
    st = sampling_sampler(&sampling, g->engine.vocab, &a->sampler, err);
    a->sampling = &r->sampling;
    a->stop = r->stop ? r->stop : g->o->stop;
    a->thoughts = &r->reasoning;
    a->draws = r->sequence;
    a->numbered = true;
    a->number = g->o->form == FORM_JSONL ? r->number : r->sequence;
    a->wants_logprob = g->o->form == FORM_JSONL;
    a->logprobs = r->logprobs;
    if (st == GG_OK)
        st = generate_new_sequence(g, &a->sequence, err);
    if (st == GG_OK && r->scales)
        st = gg_sequence_set_scales(a->sequence, r->scales, err);
    return st == GG_OK ? answer_start(g, a, record_prompt(r, which),
                                      engine_count_ids(a->sequence), err)
                       : st;
}

void
record_end(const struct generate *g, struct record *r, size_t which,
           const struct answer *a)
{
    r->writer->add(g, r, which, a, &r->written[which]);
    r->n_ended++;
    r->n_made += a->n_made;
}
