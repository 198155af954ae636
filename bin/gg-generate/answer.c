/* answer.c - the answer to a prompt while it is made */
#include <config.h>

#include "gg-generate/answer.h"

void
answer_clear(struct answer *a)
{
    gg_text_free(a->made);
    gg_sequence_free(a->sequence);
    gg_sampler_free(a->sampler);
    buffer_clear(&a->text);
    *a = (struct answer){ .tail = -1 };
}

enum gg_status
answer_start(struct answer *a, struct gg_text_params params, const int32_t *ids,
             size_t n, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    params.sampler = a->sampler;
    params.max_ids = a->sampling->count;
    params.ignore_eog = a->sampling->ignore_eog;
    params.all_logits = a->sampling->logprobs >= 0;
    params.logprobs = a->wants_logprob || params.all_logits;
    a->logprob = 0;
    a->n_made = 0;
    if (!a->made)
        st = gg_text_new(a->sequence, &params, &a->made, err);
    return st == GG_OK ? gg_text_continue(a->made, &params, ids, n, err) : st;
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
