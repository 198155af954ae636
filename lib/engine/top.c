/* top.c - the likeliest ids where the next one of a text is drawn */
#include "core/error.h"
#include "core/mem.h"
#include "engine/text.h"

enum gg_status
engine_top_reserve(struct gg_text *t, struct gg_error *err)
{
    size_t n = t->params.n_top, most = t->sequence->engine->n_vocab;
    struct gg_likely *top;

    t->n_top = 0;
    t->params.n_top = n = n < most ? n : most;
    if (n == 0)
        return GG_OK;
    top = mem_realloc(t->top, n * sizeof(*top));
    if (!top)
        return error_nomem(err);
    t->top = top;
    return GG_OK;
}

/* Puts it where it belongs among the n that were found, the last of which may
 * have to go. Ids come in ascending order where they are not sorted. */
static size_t
add(struct gg_likely *top, size_t n, size_t most, struct gg_likely one)
{
    size_t at = n;

    while (at > 0 && one.logprob > top[at - 1].logprob)
        at--;
    if (at == most)
        return n;
    n += n < most;
    for (size_t i = n - 1; i > at; i--)
        top[i] = top[i - 1];
    top[at] = one;
    return n;
}

void
engine_top_take(struct gg_text *t, const struct text_row *row)
{
    size_t most = t->params.n_top, n = 0;

    for (size_t i = 0; i < row->n && most; i++) {
        double logit = (double)row->logits[i];

        if (n < most || logit > t->top[n - 1].logprob)
            n = add(t->top, n, most,
                    (struct gg_likely){ row->ids ? row->ids[i] : (int32_t)i,
                                        logit });
    }
    for (size_t i = 0; i < n; i++)
        t->top[i].logprob -= row->log_sum_exp;
    t->n_top = n;
}

const struct gg_likely *
gg_text_top(const struct gg_text *text, size_t *n)
{
    if (n)
        *n = text ? text->n_top : 0;
    return text ? text->top : NULL;
}
