/* answer.c - the answer to a prompt while it is made */
#include <config.h>

#include "gg-generate/generate.h"

void
answer_clear(struct answer *a)
{
    gg_text_free(a->made);
    gg_sequence_free(a->sequence);
    gg_sampler_free(a->sampler);
    buffer_clear(&a->text);
    logprobs_clear(&a->logprobs);
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
    };
    enum gg_status st = GG_OK;

    a->text.len = a->n_written = 0;
    a->logprob = 0;
    a->n_made = 0;
    if (!a->made)
        st = gg_text_new(a->sequence, &params, &a->made, err);
    if (st == GG_OK)
        st = gg_text_continue(a->made, &params, prompt->ids + begin,
                              prompt->n - begin, err);
    return st;
}

static void
take_bytes(struct answer *a)
{
    size_t len;
    const char *bytes = gg_text_take(a->made, &len);

    buffer_add(&a->text, bytes, len);
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
    logprobs_take(&a->logprobs, a->made);
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

bool
answer_is_cut(const struct answer *a, char *text, size_t size)
{
    bool length = gg_text_finish(a->made) == GG_FINISH_LENGTH;

    if ((!length && gg_text_finish(a->made) != GG_FINISH_CONTEXT) ||
        !gg_text_is_open(a->made))
        return false;
    if (length)
        sampling_say_cut(a->sampling, text, size);
    else
        snprintf(text, size,
                 "the context is full before its grammar or "
                 "schema is satisfied");
    return true;
}
