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
    size_t k = gg_sampler_enough(t->params.sampler);
    if (t->params.max_thought && t->params.reader && t->params.logprobs)
        return 0; /* of an id that is forced, too */
    if (t->params.ban)
        return 0; /* any number of ids may be excluded */
    if (k > 0)
        k += engine_text_excluded(t);
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
start_ban(struct gg_text *t, struct gg_error *err)
{
    gg_ban_free(t->ban);
    t->ban = NULL;
    if (!engine_stop_count(t->params.ban))
        return GG_OK;
    /* A place that is gone back to would not have its logits again. */
    if (t->sequence->engine->shift)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "banned strings do not go with a context shift");
    return gg_ban_new(t->sequence->engine->vocab, t->params.ban, &t->ban, err);
}

static enum gg_status
start_text(struct gg_text *t, const struct gg_text_params *params,
           struct gg_error *err)
{
    bool new = params->sampler != t->params.sampler;
    enum gg_status st = ERROR_RESERVED(params, err);

    if (st == GG_OK && !params->last_thought && params->n_last_thought)
        st = error_null(err);
    if (st != GG_OK)
        return st;
    t->params = *params;
    t->params.logprobs = params->logprobs || params->n_top;
    t->n_made = 0;
    t->pending = -1;
    t->n_rows = t->row = 0;
    t->finish = GG_FINISH_NONE;
    t->n_forced = 0;
    t->n_thought = 0;
    t->ends_thought = false;
    t->k = enough(t);
    st = start_ban(t, err);
    if (st == GG_OK)
        st = start_history(t, new, err);
    if (st == GG_OK)
        st = engine_part_start(t, err);
    if (st == GG_OK)
        st = engine_top_reserve(t, err);
    if (st != GG_OK)
        return st;
    engine_text_plan(t, CHAT_ANSWER_TEXT);
    return engine_text_reserve_rows(t, 1, err);
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
    (void)engine_text_wait(text, NULL);
    engine_draft_clear(text);
    gg_ban_free(text->ban);
    mem_free(text->marks);
    gg_history_free(text->history);
    mem_free(text->logits);
    for (size_t i = 0; i < text->n_best; i++) {
        mem_free(text->best[i].ids);
        mem_free(text->best[i].logits);
    }
    mem_free(text->best);
    mem_free(text->top);
    engine_part_clear(text);
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
    st = engine_text_wait(t, err);
    if (st != GG_OK)
        return st;
    st = gg_sequence_put(t->sequence, ids, n, err);
    if (st != GG_OK)
        return st;
    t->n_new += n;
    t->n_put = n;
    return start_text(t, params, err);
}

/* ---- what is drawn ------------------------------------------------------- */

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
append_token(struct gg_text *t, int32_t id, struct gg_error *err)
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
        return append_token(t, id, err);
    return GG_OK;
}

/* Draws an id, and adds it; then the text has ended, or the id was put. */
static enum gg_status
draw_one(struct gg_text *t, struct gg_error *err)
{
    enum chat_answer_state from = t->answer.state;
    bool found = false;
    int32_t id;
    size_t back = 0;
    enum gg_status st = engine_text_draw(t, &back, err);

    if (st == GG_OK && back)
        return engine_text_back(t, back, err);
    id = t->drawn.draw.id;
    if (st == GG_OK)
        st = add_made(t, id, err);
    if (st == GG_OK)
        st = engine_part_add(t, id, &found, err);
    if (st == GG_OK)
        st = engine_part_mark(t, err);
    if (st != GG_OK)
        return st;
    t->pending = -1;
    if (found)
        t->finish = GG_FINISH_STOP;
    else if (t->answer.ended || gg_vocab_is_eog(t->sequence->engine->vocab, id))
        t->finish = GG_FINISH_EOG;
    else
        st = go_on(t, id, err);
    engine_text_plan(t, from);
    return st;
}

/* ---- a step -------------------------------------------------------------- */

static bool
needs_evaluation(const struct gg_text *t)
{
    return t->row == t->n_rows;
}

/* A text that fails for itself ends; of want of memory the call tells, too, and
 * the others are drawn. One that has no logits has a prompt that goes on. */
static enum gg_status
draw_all(struct gg_text *const *texts, size_t n, struct gg_error *err)
{
    bool no_memory = false;

    for (size_t i = 0; i < n; i++) {
        struct gg_text *t = texts[i];
        enum gg_status st;

        if (needs_evaluation(t))
            continue;
        st = draw_one(t, &t->error);
        no_memory = no_memory || st == GG_ERR_NOMEM;
        if (st != GG_OK)
            t->finish = GG_FINISH_ERROR;
        if (t->finish != GG_FINISH_NONE)
            engine_draft_end(t);
    }
    return no_memory ? error_nomem(err) : GG_OK;
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
    for (size_t i = 0; i < n; i++) {
        if (st == GG_OK && !texts[i]->sequence->goes_on)
            continue;
        engine_draft_drop(texts[i]);
        texts[i]->n_rows = texts[i]->row = 0;
    }
    return st;
}

/* As many ids of prompts as a step may have. */
static enum gg_status
evaluate_bounded(struct gg_engine *e, struct gg_text **texts, size_t n,
                 struct gg_query *queries, struct gg_error *err)
{
    size_t *lacks = mem_array(n, sizeof(*lacks)), n_prompt = 0;
    int64_t start = ggml_time_us();
    enum gg_status st = GG_OK;
    bool decodes;

    if (!lacks)
        return error_nomem(err);
    n = engine_step_plan(e, texts, n, lacks, &decodes);
    mem_free(lacks);
    for (size_t i = 0; i < n; i++)
        if (texts[i]->sequence->most != SIZE_MAX)
            n_prompt += texts[i]->sequence->most;
    e->bound.applies = true;
    st = evaluate(e, texts, n, queries, err);
    e->bound.applies = false;
    if (st == GG_OK)
        engine_step_learn(e, n_prompt, decodes,
                          (double)(ggml_time_us() - start));
    return st;
}

static enum gg_status
evaluate_needy(struct gg_engine *e, struct gg_text **texts, size_t n,
               bool bounded, struct gg_query *queries, struct gg_error *err)
{
    bounded = bounded && (e->bound.ids || e->bound.us) && e->can.pieces;
    return bounded ? evaluate_bounded(e, texts, n, queries, err)
                   : evaluate(e, texts, n, queries, err);
}

enum gg_status
gg_engine_step(struct gg_engine *engine, struct gg_text *const *texts, size_t n,
               struct gg_error *err)
{
    struct gg_text **needy;
    struct gg_query *queries;
    enum gg_status st = engine_text_check(engine, texts, n, err);
    size_t n_needy = 0;

    if (st != GG_OK)
        return st;
    needy = mem_array(n, sizeof(*needy));
    queries = mem_array(n, sizeof(*queries));
    st = needy && queries ? GG_OK : error_nomem(err);
    if (st == GG_OK)
        n_needy = find_needy(texts, n, needy);
    if (n_needy)
        st = evaluate_needy(engine, needy, n_needy,
                            n <= (size_t)engine->n_slots, queries, err);
    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = engine_text_wait(texts[i], err);
    if (st == GG_OK)
        st = draw_all(texts, n, err);
    mem_free(needy);
    mem_free(queries);
    return st;
}

/* ---- what is taken back -------------------------------------------------- */

/* The last n ids of the sequence, which the history has not heard of. */
static void
take_back(struct gg_text *t, size_t n)
{
    gg_sequence_truncate(t->sequence, t->sequence->n_ids - n);
    t->n_new -= t->n_new < n ? t->n_new : n;
    t->n_put = 0;
}

/* The history is that of the place, and has heard of all ids before it. The
 * last of these is evaluated again. */
enum gg_status
engine_text_back(struct gg_text *t, size_t back, struct gg_error *err)
{
    if (back >= t->sequence->n_ids)
        return error_set(err, GG_ERR_CONTEXT,
                         "the context is too small to go back for a banned "
                         "string");
    engine_draft_drop(t);
    take_back(t, back);
    t->n_new = 0;
    t->n_rows = t->row = 0;
    t->n_forced = 0;
    t->pending = -1;
    t->n_made -= back;
    return engine_part_back(t, t->n_made, err);
}

/* ---- results ------------------------------------------------------------- */

void
gg_text_cut(struct gg_text *text)
{
    struct gg_sequence *q;
    bool begun;

    if (!text || text->finish != GG_FINISH_NONE)
        return;
    q = text->sequence;
    begun = text->ticket != 0;
    (void)engine_text_wait(text, NULL);
    engine_draft_drop(text);
    text->finish = GG_FINISH_CUT;
    if (text->n_made == 0) {
        take_back(text, text->n_put);
    } else if (begun || q->n_held < q->n_ids) {
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

const char *
gg_text_stop(const struct gg_text *text, size_t *len)
{
    bool found = text && text->finish == GG_FINISH_STOP;

    return found ? engine_stop_found(&text->stop, len) : NULL;
}

/* Whether the answer has not come to its text yet. */
static bool
is_before_text(const struct gg_text *t)
{
    return t->answer.state == CHAT_ANSWER_THOUGHT ||
           (t->answer.state == CHAT_ANSWER_HEADER &&
            (!t->answer.begins || !t->answer.fresh));
}

bool
gg_text_is_open(const struct gg_text *text)
{
    if (!text)
        return false;
    return is_before_text(text) ||
           (text->history && !gg_history_is_complete(text->history));
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
