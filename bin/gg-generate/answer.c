/* answer.c - a text in the making */
#include <config.h>

#include "gg-generate/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/shift.h"

void
answer_init(struct answer *a, const struct engine *engine, int32_t slot)
{
    *a = (struct answer){ .engine = engine, .slot = slot, .tail = -1 };
    a->logits = cli_alloc(NULL, (size_t)gg_model_n_vocab(engine->model),
                          sizeof(*a->logits));
}

void
answer_clear(struct answer *a)
{
    gg_history_free(a->history);
    gg_sampler_free(a->sampler);
    free(a->ids);
    free(a->made);
    free(a->logits);
    free(a->best.ids);
    free(a->best.logits);
    stop_clear(&a->stop);
    free(a->text.p);
    free(a->piece);
    *a = (struct answer){ .tail = -1 };
}

/* The likeliest are enough where the sampler takes no more, and as many again
 * as may be excluded. */
static void
need_best(struct answer *a)
{
    size_t k = gg_sampler_enough(a->sampler), n_eog = 0;

    gg_vocab_eog_ids(a->engine->vocab, &n_eog);
    if (k > 0 && a->sampling->ignore_eog)
        k += n_eog;
    if (k >= (size_t)gg_model_n_vocab(a->engine->model) ||
        a->sampling->logprobs >= 0)
        k = 0;
    if (k > a->best_cap) {
        a->best.ids = cli_alloc(a->best.ids, k, sizeof(*a->best.ids));
        a->best.logits = cli_alloc(a->best.logits, k, sizeof(*a->best.logits));
        a->best_cap = k;
    }
    a->best.k = k;
}

/* A sampler that is new to the answer has to hear all of its ids. */
static void
start_history(struct answer *a)
{
    struct gg_error err;

    gg_history_free(a->history);
    a->history = NULL;
    if (gg_sampler_remembers(a->sampler))
        cli_check(gg_history_new(a->sampler, &a->history, &err), &err);
    if (a->history && a->has_mirostat)
        gg_history_set_mirostat(a->history, a->mirostat);
    a->n_new = a->n_ids;
}

void
answer_start(struct answer *a, const struct sampling_options *sampling,
             struct gg_sampler *sampler, const struct stop_strings *stop)
{
    bool new = sampler != a->sampler;

    if (new)
        gg_sampler_free(a->sampler);
    a->sampling = sampling;
    a->sampler = sampler;
    if (new || !a->history)
        start_history(a);
    else
        gg_history_restart(a->history);
    stop_start(&a->stop, stop);
    a->decode = (struct gg_decode_state){ 0 };
    a->n_made = 0;
    a->tail = -1;
    a->logprob = 0;
    a->ending = ENDING_NONE;
    need_best(a);
}

void
answer_drop(struct answer *a)
{
    gg_history_free(a->history);
    gg_sampler_free(a->sampler);
    a->history = NULL;
    a->sampler = NULL;
}

/* ---- ids ----------------------------------------------------------------- */

/* Drops what must go for the `more` ids that stand behind those of the
 * context. False: nothing helps. */
static bool
make_room(struct answer *a, size_t more)
{
    const struct engine *e = a->engine;
    size_t n_ctx = (size_t)gg_session_n_ctx(e->session), kept, count;

    if (a->n_ids <= n_ctx && more <= n_ctx - a->n_ids)
        return true;
    kept = shift_kept(a->n_ids, a->ids[0], gg_vocab_bos(e->vocab));
    count = shift_count(a->n_ids, kept, more, n_ctx);
    if (!e->shift || count == 0)
        return false;
    shift_ids(a->ids, a->n_ids + more, kept, count);
    a->n_ids -= count;
    a->n_dropped += count;
    gg_session_truncate(e->session, a->slot, 0);
    if (e->verbose)
        cli_warn("the context is full: %zu ids dropped", count);
    return true;
}

bool
answer_put(struct answer *a, const int32_t *ids, size_t n)
{
    if (a->ids_cap - a->n_ids < n) {
        a->ids_cap = 2 * (a->n_ids + n);
        a->ids = cli_alloc(a->ids, a->ids_cap, sizeof(*a->ids));
    }
    if (n)
        memcpy(a->ids + a->n_ids, ids, n * sizeof(*ids));
    if (!make_room(a, n))
        return false;
    a->n_ids += n;
    a->n_new += n;
    return true;
}

void
answer_take_back(struct answer *a, size_t n)
{
    a->n_ids -= n;
    a->n_new -= n;
}

struct gg_chunk
answer_chunk(struct answer *a)
{
    size_t held = (size_t)gg_session_length(a->engine->session, a->slot);

    return (struct gg_chunk){
        .slot = a->slot,
        .ids = a->ids + held,
        .n = a->n_ids - held,
        .logits = a->logits,
        .best = a->best.k ? &a->best : NULL,
    };
}

/* ---- drawing ------------------------------------------------------------- */

/* The history gets the ids that were evaluated since the last draw. */
static enum gg_status
hear(struct answer *a, struct gg_error *err)
{
    size_t n = a->n_new;

    a->n_new = 0;
    if (!a->history)
        return GG_OK;
    n = n < a->n_ids ? n : a->n_ids;
    return gg_history_add(a->history, a->ids + a->n_ids - n, n, err);
}

static void
count_logprob(struct answer *a, const struct gg_draw *drawn, uint64_t position,
              double logprob)
{
    a->logprob += logprob;
    if (a->sampling->logprobs >= 0)
        sampling_log(a->sampling, a->numbered, a->number, position, drawn,
                     logprob);
}

static enum gg_status
draw(struct answer *a, int32_t *id, struct gg_error *err)
{
    bool found = a->best.k > 0 && a->best.n > 0;
    size_t n = found ? a->best.n : (size_t)gg_model_n_vocab(a->engine->model);
    float *logits = found ? a->best.logits : a->logits;
    const int32_t *ids = found ? a->best.ids : NULL;
    double sum = found ? a->best.log_sum_exp : 0;
    bool log = a->wants_logprob || a->sampling->logprobs >= 0;
    uint64_t position = a->n_dropped + a->n_ids;
    struct gg_draw drawn;
    enum gg_status st = GG_OK;

    if (found && !isfinite(sum)) {
        snprintf(err->message, sizeof(err->message),
                 "a logit is NaN or infinite");
        return GG_ERR_FORMAT;
    }
    if (!found && log)
        sum = gg_log_sum_exp(logits, n);
    if (a->sampling->ignore_eog) {
        size_t n_eog;
        const int32_t *eog = gg_vocab_eog_ids(a->engine->vocab, &n_eog);

        sampling_exclude(logits, ids, n, eog, n_eog);
    }
    st = hear(a, err);
    if (st == GG_OK)
        st = gg_sampler_next(a->sampler, a->history, ids, logits, n,
                             a->sequence, position, &drawn, err);
    if (st != GG_OK)
        return st;
    *id = drawn.id;
    if (log)
        count_logprob(a, &drawn, position,
                      sampling_logit(logits, ids, n, *id) - sum);
    return GG_OK;
}

/* Adds the text of an id. False: a stop string is complete. */
static bool
add_text(struct answer *a, int32_t id)
{
    struct gg_decode_state next;
    struct gg_error err;
    size_t n;

    for (;;) {
        next = a->decode;
        cli_check(gg_vocab_decode(a->engine->vocab, &next, id, a->flags,
                                  a->piece, a->piece_cap, &n, &err),
                  &err);
        if (n <= a->piece_cap)
            break;
        a->piece = cli_alloc(a->piece, n, 1);
        a->piece_cap = n;
    }
    a->decode = next;
    return stop_add_text(&a->stop, a->piece, n, &a->text);
}

static void
add_made(struct answer *a, int32_t id)
{
    if (a->n_made == a->made_cap) {
        a->made_cap = 2 * a->made_cap + 64;
        a->made = cli_alloc(a->made, a->made_cap, sizeof(*a->made));
    }
    a->made[a->n_made++] = id;
}

enum gg_status
answer_draw(struct answer *a, struct gg_error *err)
{
    enum gg_status st;
    int32_t id;

    st = draw(a, &id, err);
    if (st != GG_OK)
        return st;
    add_made(a, id);
    a->tail = -1;
    if (!add_text(a, id)) {
        a->ending = ENDING_STRING;
    } else if (gg_vocab_is_eog(a->engine->vocab, id)) {
        a->ending = ENDING_EOG;
    } else {
        a->tail = id;
        if (a->n_made == a->sampling->count)
            a->ending = ENDING_LENGTH;
        else if (!answer_put(a, &id, 1))
            a->ending = ENDING_CONTEXT;
        else
            a->tail = -1;
    }
    return GG_OK;
}

bool
answer_is_cut(const struct answer *a, char *text, size_t size)
{
    bool length = a->ending == ENDING_LENGTH;

    if ((!length && a->ending != ENDING_CONTEXT) || !a->history ||
        gg_history_is_complete(a->history))
        return false;
    if (length)
        sampling_say_cut(a->sampling, text, size);
    else
        snprintf(text, size,
                 "the context is full before its grammar or "
                 "schema is satisfied");
    return true;
}

void
answer_end(struct answer *a)
{
    stop_end(&a->stop, &a->text);
    a->decode = (struct gg_decode_state){ 0 };
}
