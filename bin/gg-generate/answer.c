/* answer.c - the answer to a prompt while it is made */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    free(a->made_ids);
    free(a->message);
    *a = (struct answer){ .tail = -1 };
}

/* Encodes the message that ends reasoning without budget left; it stands in the
 * middle of a text, and so it is encoded as a continuation. */
static enum gg_status
encode_message(const struct generate *g, struct answer *a,
               struct gg_text_params *params, struct gg_error *err)
{
    const char *text = a->thoughts ? a->thoughts->message : NULL;
    size_t len = text ? strlen(text) : 0, most = 2 * len + 3;
    struct gg_encoded out;
    enum gg_status st;

    if (len == 0 || !params->max_thought)
        return GG_OK;
    a->message = cli_alloc(a->message, most, sizeof(*a->message));
    st = gg_vocab_encode(g->engine.vocab, text, len, GG_ENCODE_CONTINUE,
                         a->message, most, &out, err);
    if (st == GG_OK && out.n > most) {
        most = out.n;
        a->message = cli_alloc(a->message, most, sizeof(*a->message));
        st = gg_vocab_encode(g->engine.vocab, text, len, GG_ENCODE_CONTINUE,
                             a->message, most, &out, err);
    }
    params->last_thought = a->message;
    params->n_last_thought = st == GG_OK ? out.n : 0;
    return st;
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
        .ban = a->sampling->ban,
        .min_ids = (uint64_t)a->sampling->min_ids,
    };
    enum gg_status st = encode_message(g, a, &params, err);

    a->logprob = 0;
    a->n_made = a->n_logged = 0;
    a->vocab = g->engine.vocab;
    a->is_parted = prompt->reader != NULL;
    a->tools = prompt->tools;
    a->hides_calls = prompt->tools && g->o->tool_calls;
    a->tool_calls.len = 0;
    a->hides_thought = g->o->show_reasoning != SHOW_REASONING;
    a->n_thought = 0;
    a->text.len = a->reasoning.len = a->calls.len = a->shown.len = 0;
    if (st == GG_OK && !a->made)
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

/* Adds the text to show: all as it was, or without reasoning or calls. */
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

/* The ids that stay in any case. */
static void
log_settled(struct answer *a)
{
    size_t n = gg_text_settled(a->made);

    n = n < a->n_made ? n : a->n_made;
    for (; a->sampling->logprobs >= 0 && a->n_logged < n; a->n_logged++) {
        const struct gg_drawn *d = &a->made_ids[a->n_logged].drawn;

        sampling_log(a->sampling, a->numbered, a->number, d->position, &d->draw,
                     d->logprob);
    }
}

/* Another id has come; the last of n. */
static void
take_id(struct answer *a, size_t n)
{
    struct answer_id *id;

    if (n > a->cap_ids)
        a->made_ids = cli_alloc(a->made_ids, a->cap_ids = 2 * n + 62,
                                sizeof(*a->made_ids));
    id = &a->made_ids[n - 1];
    id->drawn = gg_text_drawn(a->made);
    id->logprob = a->logprob;
    id->place = logprobs_place(&a->logprobs);
    a->logprob += id->drawn.logprob;
    logprobs_take(&a->logprobs, a->vocab, a->made);
    log_settled(a);
}

/* The ids after the first n were taken back. */
static void
forget_ids(struct answer *a, size_t n)
{
    a->logprob = a->made_ids[n].logprob;
    logprobs_back(&a->logprobs, &a->made_ids[n].place);
}

void
answer_take(struct answer *a)
{
    size_t before = a->n_made;

    take_bytes(a);
    a->tail = gg_text_pending(a->made);
    (void)gg_text_ids(a->made, &a->n_made);
    if (a->n_made > before)
        take_id(a, a->n_made);
    else if (a->n_made < before)
        forget_ids(a, a->n_made);
}

void
answer_cut(struct answer *a)
{
    gg_text_cut(a->made);
    take_bytes(a);
    log_settled(a);
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
