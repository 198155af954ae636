/* topk.c - the likeliest ids of a row of logits, without a device */
#include "session/topk.h"

#include <math.h>

#include "core/mem.h"
#include "core/select.h"

/* The first of the impossible ids fill what is left of k. */
static void
add_impossible(const float *logits, size_t n, size_t m, struct gg_best *out)
{
    for (size_t i = 0; i < n && m < out->k; i++) {
        if (logits[i] > -INFINITY)
            continue;
        out->ids[m] = (int32_t)i;
        out->logits[m++] = logits[i];
    }
}

bool
session_topk_find(struct topk *t, const float *logits, size_t n,
                  struct gg_best *out)
{
    size_t k = out->k ? out->k : 1; /* the highest is there for the sum */
    size_t room = k < SELECT_MANY ? k : 2 * n, m;
    enum select_state state = select_check(logits, n);

    out->n = out->k;
    out->log_sum_exp = state == SELECT_BAD ? (double)NAN : -(double)INFINITY;
    if (state != SELECT_SOUND)
        return true;
    if (!mem_grow(&t->choices, &t->cap, room, sizeof(*t->choices)))
        return false;
    m = select_top(NULL, logits, n, k, t->choices);
    for (size_t i = 0; i < m && i < out->k; i++) {
        out->ids[i] = t->choices[i].id;
        out->logits[i] = t->choices[i].logit;
    }
    add_impossible(logits, n, m, out);
    out->log_sum_exp =
        out->no_sum ? 0 : select_log_sum(logits, n, t->choices[0].logit);
    return true;
}

void
session_topk_clear(struct topk *t)
{
    mem_free(t->choices);
    *t = (struct topk){ 0 };
}
