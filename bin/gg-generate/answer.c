/* answer.c - the answer to a prompt while it is made */
#include <config.h>

#include <inttypes.h>

#include "gg-generate/generate.h"

void
answer_clear(struct answer *a)
{
    gg_text_free(a->made);
    gg_sequence_free(a->sequence);
    gg_sampler_free(a->sampler);
    buffer_clear(&a->text);
    logprobs_clear(&a->logprobs);
    buffer_clear(&a->reasoning);
    buffer_clear(&a->calls);
    buffer_clear(&a->tool_calls);
    buffer_clear(&a->shown);
    *a = (struct answer){ .tail = -1 };
}

enum gg_status
answer_start(const struct generate *g, struct answer *a,
             const struct prompt *prompt, size_t begin, struct gg_error *err)
{
    struct gg_text_params params = {
        .sampler = a->sampler,
        .stop = a->stop,
        .sequence = a->draws,
        .max_ids = a->sampling->count,
        .decode_flags = g->o->special == SPECIAL_PARSE ? GG_DECODE_SPECIAL : 0,
        .ignore_eog = a->sampling->ignore_eog,
        .logprobs = a->wants_logprob || a->sampling->logprobs >= 0,
        .all_logits = a->sampling->logprobs >= 0,
        .goes_on = prompt->goes_on,
        .n_top = a->logprobs.n_top,
        .mirostat = g->base.has_mirostat ? &g->base.mirostat : NULL,
        .reader = prompt->reader,
        .grammar_of_calls = prompt->must_call,
        .max_thought = a->thoughts && a->thoughts->is_limited
                           ? &a->thoughts->budget
                           : NULL,
    };
    enum gg_status st = GG_OK;

    a->logprob = 0;
    a->n_made = 0;
    a->vocab = g->engine.vocab;
    a->is_parted = prompt->reader != NULL;
    a->tools = prompt->tools;
    a->hides_calls = prompt->tools && g->o->tool_calls;
    a->tool_calls.len = 0;
    a->hides_thought = g->o->show_reasoning != SHOW_REASONING;
    a->n_thought = 0;
    a->text.len = a->reasoning.len = a->calls.len = a->shown.len = 0;
    if (!a->made)
        st = gg_text_new(a->sequence, &params, &a->made, err);
    if (st == GG_OK)
        st = gg_text_continue(a->made, &params, prompt->ids + begin,
                              prompt->n - begin, err);
    if (st == GG_OK)
        logprobs_begin(&a->logprobs, a->made);
    return st;
}

static void
take_part(struct answer *a, enum gg_part part, struct buffer *out)
{
    size_t len;
    const char *bytes = gg_text_take_part(a->made, part, &len);

    buffer_add(out, bytes, len);
}

/* What is written: all as it was, or without thoughts. */
static void
show_parts(struct answer *a, size_t text, size_t calls)
{
    size_t before = a->shown.len;

    take_part(a, GG_PART_ALL, &a->shown);
    if (!a->hides_thought && !a->hides_calls)
        return;
    a->shown.len = before;
    buffer_add(&a->shown, a->text.p + text, a->text.len - text);
    if (!a->hides_calls)
        buffer_add(&a->shown, a->calls.p + calls, a->calls.len - calls);
}

static void
take_bytes(struct answer *a)
{
    size_t text = a->text.len, calls = a->calls.len;

    take_part(a, GG_PART_TEXT, &a->text);
    if (!a->is_parted) {
        buffer_add(&a->shown, a->text.p + text, a->text.len - text);
        return;
    }
    take_part(a, GG_PART_REASONING, &a->reasoning);
    take_part(a, GG_PART_CALLS, &a->calls);
    show_parts(a, text, calls);
}

void
answer_take(struct answer *a)
{
    struct gg_drawn drawn = gg_text_drawn(a->made);
    size_t before = a->n_made;

    take_bytes(a);
    a->tail = gg_text_pending(a->made);
    (void)gg_text_ids(a->made, &a->n_made);
    if (a->n_made == before)
        return;
    a->logprob += drawn.logprob;
    logprobs_take(&a->logprobs, a->vocab, a->made);
    if (a->sampling->logprobs >= 0)
        sampling_log(a->sampling, a->numbered, a->number, drawn.position,
                     &drawn.draw, drawn.logprob);
}

void
answer_cut(struct answer *a)
{
    gg_text_cut(a->made);
    take_bytes(a);
    if (a->n_made)
        a->tail = gg_text_pending(a->made);
}

static void
say_no_text(const struct answer *a, bool length, char *text, size_t size)
{
    if (length)
        snprintf(text, size, "cut by -n %" PRIu64 " within its thought",
                 a->sampling->count);
    else
        snprintf(text, size, "the context is full within its thought");
}

bool
answer_is_cut(const struct answer *a, char *text, size_t size)
{
    bool length = gg_text_finish(a->made) == GG_FINISH_LENGTH;
    enum gg_part part = gg_text_part(a->made);

    if ((!length && gg_text_finish(a->made) != GG_FINISH_CONTEXT) ||
        !gg_text_is_open(a->made))
        return false;
    if (part != GG_PART_TEXT && part != GG_PART_CALLS)
        say_no_text(a, length, text, size);
    else if (length)
        sampling_say_cut(a->sampling, text, size);
    else
        snprintf(text, size,
                 "the context is full before its grammar or "
                 "schema is satisfied");
    return true;
}
