/* rows.c - room for the logits that a text is drawn from */
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/text.h"

static bool
grow_best(struct gg_best *b, size_t k)
{
    int32_t *ids = mem_realloc(b->ids, k * sizeof(*ids));
    float *logits;

    if (!ids)
        return false;
    b->ids = ids;
    logits = mem_realloc(b->logits, k * sizeof(*logits));
    if (!logits)
        return false;
    b->logits = logits;
    return true;
}

static bool
add_logits(struct gg_text *t, size_t n)
{
    size_t n_vocab = t->sequence->engine->n_vocab;
    float *logits = mem_realloc(t->logits, n * n_vocab * sizeof(*logits));

    if (!logits)
        return false;
    t->logits = logits;
    t->n_logits = n;
    return true;
}

static bool
add_best(struct gg_text *t, size_t n)
{
    struct gg_best *best = mem_realloc(t->best, n * sizeof(*best));

    if (!best)
        return false;
    memset(best + t->n_best, 0, (n - t->n_best) * sizeof(*best));
    t->best = best;
    t->n_best = n;
    t->best_room = 0; /* of the new ones */
    return true;
}

static bool
reserve_best(struct gg_text *t, size_t n)
{
    bool done = n <= t->n_best || add_best(t, n);

    if (done && t->k > t->best_room) {
        for (size_t i = 0; i < t->n_best && done; i++)
            done = grow_best(&t->best[i], t->k);
        t->best_room = done ? t->k : 0;
    }
    for (size_t i = 0; i < t->n_best && done; i++) {
        t->best[i].k = t->k;
        t->best[i].no_sum = !t->params.logprobs;
    }
    return done;
}

enum gg_status
engine_text_reserve_rows(struct gg_text *t, size_t n, struct gg_error *err)
{
    bool done = t->k              ? reserve_best(t, n)
                : n > t->n_logits ? add_logits(t, n)
                                  : true;

    return done ? GG_OK : error_nomem(err);
}

struct gg_query
engine_text_query(struct gg_text *t, size_t n)
{
    t->n_rows = n;
    t->row = 0;
    return (struct gg_query){ .sequence = t->sequence,
                              .rows.logits = t->k ? NULL : t->logits,
                              .rows.best = t->k ? t->best : NULL,
                              .rows.n_last = n };
}
