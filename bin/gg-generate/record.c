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
    choices_clear(&r->choices);
    prompt_clear(&r->prompt);
    free(r->bias);
    for (size_t i = 0; r->breakers && i < r->sampling.n_breakers; i++)
        free(r->breakers[i]);
    free(r->breakers);
    free(r->suffix);
    r->suffix = NULL;
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

enum gg_status
record_encode(struct generate *g, struct record *r, bool messages,
              const char *text, size_t len, struct gg_error *err)
{
    const struct choices *choices = r->choices.n ? &r->choices : &g->o->choices;
    struct prompt_source s = { 0 };
    enum gg_status st = messages
                            ? prompt_source_open_messages(g, &s, text, len, err)
                            : prompt_source_open(g, &s, text, len, err);

    if (st == GG_OK && r->suffix)
        st = prompt_source_add_suffix(g, &s, r->suffix, r->n_suffix, err);
    if (st == GG_OK && s.suffix && r->choices.n)
        st = cli_error(err, GG_ERR_FORMAT,
                       "suffix: what is to come is not chosen");
    if (st == GG_OK)
        st = prompt_source_encode(g, &s, choices, &r->prompt, err);
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
    if (g->o->echo)
        buffer_add(&r->out, all.p, all.len);
    st = record_encode(g, r, false, all.p, all.len, err);
    buffer_clear(&all);
    return st;
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
    sampling.params.seed += which;
    st = sampling_sampler(&sampling, g->engine.vocab, &a->sampler, err);
    a->sampling = &r->sampling;
    a->stop = r->stop ? r->stop : g->o->stop;
    a->draws = r->sequence;
    a->numbered = true;
    a->number = g->o->form == FORM_JSONL ? r->number : r->sequence;
    a->wants_logprob = g->o->form == FORM_JSONL;
    if (st == GG_OK)
        st = generate_new_sequence(g, &a->sequence, err);
    return st == GG_OK ? answer_start(g, a, &r->prompt,
                                      engine_count_ids(a->sequence), err)
                       : st;
}

void
record_end(const struct generate *g, const struct form *form, struct record *r,
           size_t which, const struct answer *a)
{
    form->add(g, r, which, a, &r->written[which]);
    r->n_ended++;
    r->n_made += a->n_made;
}
