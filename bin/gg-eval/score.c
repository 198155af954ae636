/* score.c - which ids of a sequence are evaluated to score others */
#include <config.h>

#include "gg-eval/score.h"

bool
score_known(struct sequence *q, struct gg_chunk *chunk)
{
    size_t from = q->n_held;

    if (q->n_known <= from + 1)
        return false;
    *chunk = (struct gg_chunk){ .slot = q->slot,
                                .ids = q->ids + from,
                                .n = q->n_known - 1 - from };
    q->n_held = q->n_known - 1;
    return true;
}

bool
score_chunk(struct sequence *q, size_t to, struct gg_chunk *chunk)
{
    size_t from = q->n_held;

    *chunk = (struct gg_chunk){ .slot = q->slot,
                                .ids = q->ids + from,
                                .n = to - 1 - from,
                                .logprobs = q->logprobs + from + 1,
                                .next = q->ids + to - 1 };
    if (q->n_known < to)
        q->n_known = to;
    return chunk->n > 0;
}

struct score_sum
score_sum(const struct sequence *q, size_t begin, size_t count)
{
    struct score_sum s = { 0 };

    for (size_t i = begin ? begin : 1; i < begin + count; i++, s.n++)
        s.sum += (double)q->logprobs[i];
    return s;
}
