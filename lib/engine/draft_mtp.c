/* draft_mtp.c - drafts by the model's own MTP layers
 *
 * A step drafts one id of each text: by the hidden vector before the last id,
 * which the session has kept, and then by what the step before has left. Some
 * drafters give all ids of a draft in one step: then each is drawn from a row
 * of its own. */
#include <ggml.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/draft.h"
#include "session/session.h"

/* Likeliest ids that are enough to draw from; 0: all logits are. */
static size_t
enough(const struct engine_draft *d, const struct gg_text *t)
{
    const struct gg_engine *e = t->sequence->engine;
    size_t k = gg_sampler_enough(engine_draft_sampler(d, t));

    if (k > 0)
        k += engine_text_excluded(t);
    return k >= e->n_vocab ? 0 : k;
}

/* Rows of n ids and logits in one piece of memory. */
static bool
reserve_best(struct text_draft *td, size_t n)
{
    size_t k = td->best[0].k;
    int32_t *ids = mem_array(n, k * sizeof(*ids));
    float *logits = mem_array(n, k * sizeof(*logits));

    mem_free(td->best[0].ids);
    mem_free(td->best[0].logits);
    for (size_t i = 0; i < n; i++)
        td->best[i] =
            (struct gg_best){ .k = k,
                              .ids = ids ? ids + i * k : NULL,
                              .logits = logits ? logits + i * k : NULL };
    return ids && logits;
}

/* Room for the n rows that a step gives. */
static bool
reserve(const struct engine_draft *d, struct gg_text *t, size_t n)
{
    struct text_draft *td = &t->draft;
    size_t n_vocab = t->sequence->engine->n_vocab;

    td->best[0].k = enough(d, t);
    if (td->best[0].k > 0)
        return reserve_best(td, n);
    if (td->n_logits >= n)
        return true;
    mem_free(td->logits);
    td->logits = mem_array(n, n_vocab * sizeof(*td->logits));
    td->n_logits = td->logits ? n : 0;
    return td->logits != NULL;
}

/* Rows that a step gives to a draft of so many ids. */
static size_t
rows_of(const struct engine_draft *d, size_t wanted)
{
    return d->length.at_once ? wanted : 1;
}

/* How many ids each draft is to have, where there is a hidden vector. */
static enum gg_status
want_drafts(struct engine_draft *d, struct gg_text *const *texts, size_t n,
            size_t *wanted, struct gg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct gg_sequence *q = texts[i]->sequence;

        if (wanted[i] > texts[i]->draft.n &&
            !session_mtp_can(q->engine->session, q->slot,
                             (int32_t)q->n_ids - 1)) {
            wanted[i] = texts[i]->draft.n;
            engine_draft_length_wait(&d->length);
        }
        wanted[i] = engine_draft_wanted(d, texts[i], wanted[i]);
        if (wanted[i] == texts[i]->draft.n)
            continue;
        if (!reserve(d, texts[i], rows_of(d, wanted[i])))
            return error_nomem(err);
        texts[i]->draft.after[0] = q->ids[q->n_ids - 1];
        texts[i]->draft.n = 0; /* steps go through what is forced, too */
    }
    return GG_OK;
}

/* The next id, from a row. False: nothing can be drawn. */
static bool
draw(const struct engine_draft *d, struct gg_text *t, size_t row)
{
    struct text_draft *td = &t->draft;
    const struct gg_sequence *q = t->sequence;
    const struct gg_best *best = &td->best[row];
    bool all = td->best[0].k == 0;
    size_t n = all ? q->engine->n_vocab : best->n;
    const int32_t *ids = all ? NULL : best->ids;
    float *logits = all ? td->logits + row * n : best->logits;
    struct gg_draw drawn;

    engine_text_exclude(t, ids, logits, n);
    if (gg_sampler_next(engine_draft_sampler(d, t), NULL, ids, logits, n,
                        t->params.sequence, q->n_dropped + q->n_ids + td->n,
                        &drawn, NULL) != GG_OK)
        return false;
    td->ids[td->n] = td->after[td->n + 1] = drawn.id;
    td->n++;
    return true;
}

/* The texts whose drafts are to have more ids: what they ask for. */
static size_t
ask(const struct engine_draft *d, struct gg_text *const *texts, size_t n,
    const size_t *wanted, struct model_guess *out)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        struct text_draft *td = &texts[i]->draft;
        const struct gg_sequence *q = texts[i]->sequence;

        if (td->n >= wanted[i])
            continue;
        out[found++] = (struct model_guess){
            .slot = q->slot,
            .past = (int32_t)q->n_ids - 1,
            .ids = td->after,
            .n = (int32_t)td->n + 1,
            .n_rows = (int32_t)rows_of(d, wanted[i]),
            .logits = td->logits,
            .best = td->best[0].k ? td->best : NULL,
        };
    }
    return found;
}

/* The next id is what must come, or drawn from a row. */
static bool
take_row(const struct engine_draft *d, struct gg_text *t, size_t row)
{
    struct text_draft *td = &t->draft;

    if (td->n >= td->n_forced)
        return draw(d, t, row);
    td->after[td->n + 1] = td->ids[td->n];
    td->n++;
    return true;
}

/* The draft gets ids from a step's rows; it ends where nothing can be drawn. */
static void
take(const struct engine_draft *d, struct gg_text *t, size_t *wanted)
{
    size_t n = t->draft.n < *wanted ? rows_of(d, *wanted) : 0, row = 0;

    while (row < n && take_row(d, t, row))
        row++;
    if (row < n)
        *wanted = t->draft.n;
}

/* A device that fails does so again where the ids are evaluated, which says
 * so or goes on without it; here a draft ends. */
static enum gg_status
make_steps(struct engine_draft *d, struct gg_text *const *texts, size_t n,
           size_t *wanted, struct model_guess *guesses, struct gg_error *err)
{
    struct gg_session *s = texts[0]->sequence->engine->session;
    int64_t start = ggml_time_us();
    size_t n_asked, total = 0;
    enum gg_status st = GG_OK;

    while (st == GG_OK && (n_asked = ask(d, texts, n, wanted, guesses)) > 0) {
        st = session_mtp_guess(s, guesses, n_asked, err);
        for (size_t i = 0; i < n && st == GG_OK; i++)
            take(d, texts[i], &wanted[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (texts[i]->draft.n > texts[i]->draft.n_forced)
            total += texts[i]->draft.n;
    engine_draft_length_drafted(&d->length, (total + n - 1) / n,
                                (double)(ggml_time_us() - start));
    return st == GG_ERR_IO ? GG_OK : st;
}

enum gg_status
engine_draft_by_mtp(struct engine_draft *d, struct gg_text *const *texts,
                    size_t n, size_t *wanted, struct gg_error *err)
{
    struct model_guess *guesses = mem_array(n, sizeof(*guesses));
    enum gg_status st =
        guesses ? want_drafts(d, texts, n, wanted, err) : error_nomem(err);

    session_mtp_rest(texts[0]->sequence->engine->session,
                     engine_draft_length_rests(&d->length));
    if (st == GG_OK)
        st = make_steps(d, texts, n, wanted, guesses, err);
    mem_free(guesses);
    return st;
}
