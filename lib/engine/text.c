/* text.c - texts: what is drawn after a sequence */
#include "engine/text.h"

#include <ggml.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"

/* ---- birth and death ----------------------------------------------------- */

/* The likeliest are enough where the sampler takes no more, and as many again
 * as may be excluded. */
static size_t
enough(const struct gg_text *t)
{
    const struct gg_engine *e = t->sequence->engine;
    size_t k = gg_sampler_enough(t->params.sampler), n_eog = 0;

    gg_vocab_eog_ids(e->vocab, &n_eog);
    if (k > 0 && t->params.ignore_eog)
        k += n_eog;
    if (k > 0 && k < t->params.n_top)
        k = t->params.n_top;
    return k >= e->n_vocab || t->params.all_logits ? 0 : k;
}

/* A sampler that is new to the text has to hear of all of its ids. */
static enum gg_status
start_history(struct gg_text *t, bool new, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (!new && t->history) {
        gg_history_restart(t->history);
        return GG_OK;
    }
    gg_history_free(t->history);
    t->history = NULL;
    t->n_new = t->sequence->n_ids;
    if (gg_sampler_remembers(t->params.sampler))
        st = gg_history_new(t->params.sampler, &t->history, err);
    if (t->history && t->params.mirostat)
        gg_history_set_mirostat(t->history, *t->params.mirostat);
    return st;
}

static enum gg_status
start_text(struct gg_text *t, const struct gg_text_params *params,
           struct gg_error *err)
{
    bool new = params->sampler != t->params.sampler;
    enum gg_status st = ERROR_RESERVED(params, err);

    if (st != GG_OK)
        return st;
    t->params = *params;
    t->params.logprobs = params->logprobs || params->n_top;
    t->decode = (struct gg_decode_state){ .started = params->goes_on };
    t->n_made = 0;
    t->pending = -1;
    t->n_rows = t->row = 0;
    t->finish = GG_FINISH_NONE;
    t->bytes.len = t->n_taken = 0;
    t->k = enough(t);
    st = start_history(t, new, err);
    if (st == GG_OK && !engine_stop_start(&t->stop, params->stop))
        st = error_nomem(err);
    if (st == GG_OK)
        st = engine_top_reserve(t, err);
    return st == GG_OK ? engine_text_reserve_rows(t, 1, err) : st;
}

enum gg_status
gg_text_new(struct gg_sequence *sequence, const struct gg_text_params *params,
            struct gg_text **out, struct gg_error *err)
{
    struct gg_text *t;
    enum gg_status st;

    if (!sequence || !out)
        return error_null(err);
    t = mem_zalloc(sizeof(*t));
    st = t ? GG_OK : error_nomem(err);
    if (st == GG_OK && (!params || !params->sampler))
        st = error_set(err, GG_ERR_ARG, "a text needs a sampler");
    if (st == GG_OK && sequence->engine->score)
        st = error_set(err, GG_ERR_ARG, "an engine that scores makes no texts");
    if (st == GG_OK) {
        t->sequence = sequence;
        st = start_text(t, params, err);
    }
    if (st == GG_OK)
        *out = t;
    else
        gg_text_free(t);
    return st;
}

void
gg_text_free(struct gg_text *text)
{
    if (!text)
        return;
    engine_draft_clear(text);
    gg_history_free(text->history);
    mem_free(text->logits);
    for (size_t i = 0; i < text->n_best; i++) {
        mem_free(text->best[i].ids);
        mem_free(text->best[i].logits);
    }
    mem_free(text->best);
    mem_free(text->top);
    engine_stop_clear(&text->stop);
    mem_free(text->bytes.p);
    mem_free(text->piece);
    mem_free(text->made);
    mem_free(text);
}

enum gg_status
gg_text_continue(struct gg_text *text, const struct gg_text_params *params,
                 const int32_t *ids, size_t n, struct gg_error *err)
{
    struct gg_text *t = text;
    enum gg_status st;

    if (!t || !params || !params->sampler || (!ids && n))
        return error_null(err);
    engine_draft_drop(t);
    st = gg_sequence_put(t->sequence, ids, n, err);
    if (st != GG_OK)
        return st;
    t->n_new += n;
    t->n_put = n;
    return start_text(t, params, err);
}

/* ---- rows ---------------------------------------------------------------- */

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

/* ---- drawing ------------------------------------------------------------- */

static enum gg_status
take_best(const struct gg_best *b, struct text_row *r, struct gg_error *err)
{
    *r = (struct text_row){ b->logits, b->ids, b->n, b->log_sum_exp };
    if (isfinite(r->log_sum_exp))
        return GG_OK;
    return error_set(err, GG_ERR_FORMAT, "%s",
                     r->log_sum_exp == -(double)INFINITY
                         ? "no token is possible: all logits are -infinity"
                         : "a logit is NaN or infinite");
}

static enum gg_status
next_row(struct gg_text *t, struct text_row *r, struct gg_error *err)
{
    size_t n_vocab = t->sequence->engine->n_vocab, i = t->row++;

    if (t->k)
        return take_best(&t->best[i], r, err);
    *r = (struct text_row){ t->logits + i * n_vocab, NULL, n_vocab, 0 };
    if (t->params.logprobs)
        r->log_sum_exp = gg_log_sum_exp(r->logits, r->n);
    return GG_OK;
}

static float *
find_logit(const struct text_row *r, int32_t id)
{
    if (!r->ids)
        return &r->logits[id];
    for (size_t i = 0; i < r->n; i++)
        if (r->ids[i] == id)
            return &r->logits[i];
    return NULL;
}

static void
exclude_eog(const struct gg_text *t, struct text_row *r)
{
    size_t n;
    const int32_t *eog = gg_vocab_eog_ids(t->sequence->engine->vocab, &n);

    for (size_t i = 0; i < n; i++) {
        float *logit = find_logit(r, eog[i]);

        if (logit)
            *logit = -INFINITY;
    }
}

/* The history hears of the ids that came since the last draw. */
static enum gg_status
hear(struct gg_text *t, struct gg_error *err)
{
    const struct gg_sequence *q = t->sequence;
    size_t n = t->n_new < q->n_ids ? t->n_new : q->n_ids;

    t->n_new = 0;
    if (!t->history)
        return GG_OK;
    return gg_history_add(t->history, q->ids + q->n_ids - n, n, err);
}

static enum gg_status
draw(struct gg_text *t, struct gg_error *err)
{
    uint64_t position = t->sequence->n_dropped + t->sequence->n_ids;
    struct gg_drawn *d = &t->drawn;
    struct text_row r;
    enum gg_status st = next_row(t, &r, err);

    if (st == GG_OK)
        engine_top_take(t, &r);
    if (st == GG_OK && t->params.ignore_eog)
        exclude_eog(t, &r);
    if (st == GG_OK)
        st = hear(t, err);
    if (st == GG_OK)
        st = gg_sampler_next(t->params.sampler, t->history, r.ids, r.logits,
                             r.n, t->params.sequence, position, &d->draw, err);
    if (st != GG_OK)
        return st;
    d->position = position;
    if (t->params.logprobs) {
        const float *logit = find_logit(&r, d->draw.id);

        d->logprob = (logit ? (double)*logit : -INFINITY) - r.log_sum_exp;
    }
    return GG_OK;
}

/* ---- what is drawn ------------------------------------------------------- */

static void
forget_taken(struct gg_text *t)
{
    struct engine_bytes *b = &t->bytes;

    b->len -= t->n_taken;
    if (b->len && t->n_taken)
        memmove(b->p, b->p + t->n_taken, b->len);
    t->n_taken = 0;
}

/* The bytes of an id; *found: a stop string is complete. */
static enum gg_status
add_bytes(struct gg_text *t, int32_t id, bool *found, struct gg_error *err)
{
    struct gg_decode_state next;
    enum gg_status st;
    size_t n;

    for (;;) {
        next = t->decode;
        st = gg_vocab_decode(t->sequence->engine->vocab, &next, id,
                             t->params.decode_flags, t->piece, t->cap_piece, &n,
                             err);
        if (st != GG_OK || n <= t->cap_piece)
            break;
        if (!mem_grow(&t->piece, &t->cap_piece, n, 1))
            return error_nomem(err);
    }
    if (st != GG_OK)
        return st;
    t->decode = next;
    forget_taken(t);
    if (!engine_stop_add(&t->stop, t->piece, n, &t->bytes, found) ||
        !mem_grow(&t->bytes.p, &t->bytes.cap, t->bytes.len + t->stop.held.len,
                  1))
        return error_nomem(err);
    return GG_OK;
}

static enum gg_status
add_made(struct gg_text *t, int32_t id, struct gg_error *err)
{
    if (!mem_grow(&t->made, &t->cap_made, t->n_made + 1, sizeof(*t->made)))
        return error_nomem(err);
    t->made[t->n_made++] = id;
    return GG_OK;
}

/* The sequence goes on with the id, if there is room. */
static enum gg_status
put_token(struct gg_text *t, int32_t id, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (!engine_draft_accept(t, id))
        st = gg_sequence_put(t->sequence, &id, 1, err);
    if (st == GG_ERR_CONTEXT) {
        t->finish = GG_FINISH_CONTEXT;
        return GG_OK;
    }
    if (st == GG_OK) {
        t->n_new++;
        t->pending = -1;
    }
    return st;
}

static enum gg_status
go_on(struct gg_text *t, int32_t id, struct gg_error *err)
{
    t->pending = id;
    if (t->n_made == t->params.max_ids)
        t->finish = GG_FINISH_LENGTH;
    else
        return put_token(t, id, err);
    return GG_OK;
}

enum gg_status
engine_text_draw(struct gg_text *t, struct gg_error *err)
{
    bool found = false;
    int32_t id;
    enum gg_status st = draw(t, err);

    id = t->drawn.draw.id;
    if (st == GG_OK)
        st = add_made(t, id, err);
    if (st == GG_OK)
        st = add_bytes(t, id, &found, err);
    if (st != GG_OK)
        return st;
    t->pending = -1;
    if (found)
        t->finish = GG_FINISH_STOP;
    else if (gg_vocab_is_eog(t->sequence->engine->vocab, id))
        t->finish = GG_FINISH_EOG;
    else
        st = go_on(t, id, err);
    return st;
}

/* ---- a step -------------------------------------------------------------- */

static bool
needs_evaluation(const struct gg_text *t)
{
    return t->row == t->n_rows;
}

/* A text that fails for itself ends; only want of memory concerns all. */
static enum gg_status
draw_all(struct gg_text *const *texts, size_t n, struct gg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct gg_text *t = texts[i];
        enum gg_status st = engine_text_draw(t, &t->error);

        if (st == GG_ERR_NOMEM)
            return error_nomem(err);
        if (st != GG_OK)
            t->finish = GG_FINISH_ERROR;
        if (t->finish != GG_FINISH_NONE)
            engine_draft_drop(t);
    }
    return GG_OK;
}

/* The texts that need an evaluation, to `out`. */
static size_t
find_needy(struct gg_text *const *texts, size_t n, struct gg_text **out)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (needs_evaluation(texts[i]))
            out[found++] = texts[i];
    return found;
}

static enum gg_status
evaluate(struct gg_engine *e, struct gg_text *const *texts, size_t n,
         struct gg_query *queries, struct gg_error *err)
{
    enum gg_status st = engine_draft_put(e, texts, n, err);
    int64_t start = ggml_time_us();

    for (size_t i = 0; i < n && st == GG_OK; i++) {
        st = engine_text_reserve_rows(texts[i], texts[i]->draft.n + 1, err);
        if (st == GG_OK)
            queries[i] = engine_text_query(texts[i], texts[i]->draft.n + 1);
    }
    if (st == GG_OK)
        st = gg_engine_eval(e, queries, n, err);
    engine_draft_evaluated(e, texts, n,
                           st == GG_OK ? ggml_time_us() - start : 0);
    for (size_t i = 0; i < n && st != GG_OK; i++) {
        engine_draft_drop(texts[i]);
        texts[i]->n_rows = texts[i]->row = 0;
    }
    return st;
}

static enum gg_status
check_texts(const struct gg_engine *e, struct gg_text *const *texts, size_t n,
            struct gg_error *err)
{
    if (!e || (!texts && n))
        return error_null(err);
    for (size_t i = 0; i < n; i++) {
        if (!texts[i])
            return error_null(err);
        if (texts[i]->sequence->engine != e ||
            texts[i]->finish != GG_FINISH_NONE)
            return error_set(err, GG_ERR_ARG,
                             "a text has ended, or is another engine's");
    }
    return GG_OK;
}

enum gg_status
gg_engine_step(struct gg_engine *engine, struct gg_text *const *texts, size_t n,
               struct gg_error *err)
{
    struct gg_text **needy;
    struct gg_query *queries;
    enum gg_status st = check_texts(engine, texts, n, err);
    size_t n_needy = 0;

    if (st != GG_OK)
        return st;
    needy = mem_array(n, sizeof(*needy));
    queries = mem_array(n, sizeof(*queries));
    st = needy && queries ? GG_OK : error_nomem(err);
    if (st == GG_OK)
        n_needy = find_needy(texts, n, needy);
    if (n_needy)
        st = evaluate(engine, needy, n_needy, queries, err);
    if (st == GG_OK)
        st = draw_all(texts, n, err);
    mem_free(needy);
    mem_free(queries);
    return st;
}

/* ---- results ------------------------------------------------------------- */

/* The last n ids of the sequence, which were not evaluated. */
static void
take_back(struct gg_text *t, size_t n)
{
    gg_sequence_truncate(t->sequence, t->sequence->n_ids - n);
    t->n_new -= t->n_new < n ? t->n_new : n;
    t->n_put = 0;
}

void
gg_text_cut(struct gg_text *text)
{
    struct gg_sequence *q;

    if (!text || text->finish != GG_FINISH_NONE)
        return;
    q = text->sequence;
    engine_draft_drop(text);
    text->finish = GG_FINISH_CUT;
    if (text->n_made == 0) {
        take_back(text, text->n_put);
    } else if (q->n_held < q->n_ids) {
        text->pending = text->made[text->n_made - 1];
        take_back(text, 1);
    }
}

enum gg_finish
gg_text_finish(const struct gg_text *text)
{
    return text ? text->finish : GG_FINISH_NONE;
}

const char *
gg_text_error(const struct gg_text *text)
{
    return text && text->finish == GG_FINISH_ERROR ? text->error.message : NULL;
}

bool
gg_text_is_open(const struct gg_text *text)
{
    return text && text->history && !gg_history_is_complete(text->history);
}

struct gg_drawn
gg_text_drawn(const struct gg_text *text)
{
    return text ? text->drawn : (struct gg_drawn){ .draw.id = -1 };
}

const int32_t *
gg_text_ids(const struct gg_text *text, size_t *n)
{
    if (n)
        *n = text ? text->n_made : 0;
    return text ? text->made : NULL;
}

const char *
gg_text_take(struct gg_text *text, size_t *len)
{
    struct engine_bytes *b;
    size_t begin;

    if (len)
        *len = 0;
    if (!text || !len)
        return "";
    b = &text->bytes;
    begin = text->n_taken;
    if (text->finish != GG_FINISH_NONE)
        (void)engine_stop_end(&text->stop, b); /* there is room */
    text->n_taken = b->len;
    *len = b->len - begin;
    return b->p ? b->p + begin : "";
}

int32_t
gg_text_pending(const struct gg_text *text)
{
    return text ? text->pending : -1;
}

double
gg_text_mirostat(const struct gg_text *text)
{
    return text && text->history ? gg_history_mirostat(text->history)
                                 : (double)NAN;
}
