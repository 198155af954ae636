/* draw.c - draws the next id of a text, or takes one that is forced
 *
 * A grammar waits as long as the text has not begun: in a thought, and in what
 * stands before it. At the beginning of an answer the model may open a thought:
 * a draw without the grammar says whether it does. Both draws are functions of
 * the same place. */
#include <math.h>
#include <stdlib.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/text.h"
#include "sample/history.h"
#include "vocab/vocab.h"

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

static int
compare_id(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* The list is in ascending order; `ids` are those of the logits, or NULL: 0, 1,
 * 2 ... */
static void
exclude(const int32_t *list, size_t n_list, const int32_t *ids, float *logits,
        size_t n)
{
    for (size_t i = 0; i < n_list && !ids; i++)
        logits[list[i]] = -INFINITY;
    for (size_t i = 0; i < n && ids && n_list; i++)
        if (bsearch(&ids[i], list, n_list, sizeof(*list), compare_id))
            logits[i] = -INFINITY;
}

static void
exclude_eog(const struct gg_text *t, const int32_t *ids, float *logits,
            size_t n)
{
    size_t n_eog;
    const int32_t *eog = gg_vocab_eog_ids(t->sequence->engine->vocab, &n_eog);

    exclude(eog, n_eog, ids, logits, n);
}

size_t
engine_text_excluded(const struct gg_text *t)
{
    const struct gg_vocab *v = t->sequence->engine->vocab;
    size_t n, n_eog;

    gg_vocab_suppressed_ids(v, &n);
    gg_vocab_eog_ids(v, &n_eog);
    return n + (t->params.ignore_eog || t->params.min_ids ? n_eog : 0);
}

void
engine_text_exclude(const struct gg_text *t, const int32_t *ids, float *logits,
                    size_t n)
{
    size_t n_list;
    const int32_t *list =
        gg_vocab_suppressed_ids(t->sequence->engine->vocab, &n_list);

    exclude(list, n_list, ids, logits, n);
    if (t->params.ignore_eog || t->n_made < t->params.min_ids)
        exclude_eog(t, ids, logits, n);
}

/* The history hears of the ids that came since the last draw, but for rows,
 * which nobody draws. */
static enum gg_status
hear(struct gg_text *t, struct gg_error *err)
{
    const struct gg_sequence *q = t->sequence;
    size_t n = t->n_new < q->n_ids ? t->n_new : q->n_ids;
    enum gg_status st = GG_OK;

    t->n_new = 0;
    for (size_t i = q->n_ids - n, end; i < q->n_ids && t->history;
         i = end + 1) {
        end = i;
        while (end < q->n_ids && !engine_is_row(q->engine, q->ids[end]))
            end++;
        st = gg_history_add(t->history, q->ids + i, end - i, err);
        if (st != GG_OK)
            break;
    }
    return st;
}

/* ---- what is forced ------------------------------------------------------ */

static void
force(struct gg_text *t, const struct chat_ids *ids)
{
    t->forced = ids->p;
    t->n_forced = ids->n;
}

static bool
has_grammar(const struct gg_text *t)
{
    return t->history && t->history->at.grammar;
}

static bool
is_over(const struct gg_text *t)
{
    return t->params.max_thought && t->n_thought >= *t->params.max_thought;
}

/* The message comes, then the mark. */
static void
end_thought(struct gg_text *t)
{
    if (t->ends_thought || !t->params.n_last_thought) {
        force(t, &t->answer.reader->close);
        return;
    }
    t->forced = t->params.last_thought;
    t->n_forced = t->params.n_last_thought;
    t->ends_thought = true;
}

/* The thought has ended: what is left of the message, if it has a mark itself,
 * does not come. */
static void
end_message(struct gg_text *t)
{
    const int32_t *from = t->params.last_thought;

    t->ends_thought = false;
    if (t->n_forced && t->forced >= from &&
        t->forced < from + t->params.n_last_thought)
        t->n_forced = 0;
}

void
engine_text_plan(struct gg_text *t, enum chat_answer_state from)
{
    const struct chat_answer *a = &t->answer;
    bool calls = t->params.grammar_of_calls && has_grammar(t);

    if (a->state != CHAT_ANSWER_THOUGHT && t->ends_thought)
        end_message(t);
    if (!a->reader || !a->reader->thoughts || t->n_forced)
        return;
    if (a->state == CHAT_ANSWER_THOUGHT) {
        if (is_over(t))
            end_thought(t);
    } else if (a->state == CHAT_ANSWER_HEADER && from == CHAT_ANSWER_THOUGHT) {
        if (calls)
            force(t, &a->reader->start);
        else if (is_over(t) || has_grammar(t))
            force(t, &a->reader->text);
    } else if (a->state == CHAT_ANSWER_HEADER && t->n_made == 0 && calls) {
        force(t, &a->reader->open);
    }
}

/* A forced id is certain. */
static void
take_forced(struct gg_text *t)
{
    t->drawn.draw = (struct gg_draw){ .id = *t->forced };
    t->forced++;
    t->n_forced--;
}

/* ---- a draw -------------------------------------------------------------- */

bool
engine_text_grammar_waits(const struct gg_text *t)
{
    const struct chat_answer *a = &t->answer;

    return a->reader && (a->state == CHAT_ANSWER_THOUGHT ||
                         (a->state == CHAT_ANSWER_HEADER &&
                          (a->fresh || !t->params.grammar_of_calls)));
}

static enum gg_status
draw_id(struct gg_text *t, const struct text_row *r, bool waits,
        struct gg_error *err)
{
    if (t->history)
        sample_history_wait(t->history, waits);
    return gg_sampler_next(t->params.sampler, t->history, r->ids, r->logits,
                           r->n, t->params.sequence, t->drawn.position,
                           &t->drawn.draw, err);
}

bool
engine_text_may_open(const struct gg_text *t)
{
    const struct chat_answer *a = &t->answer;

    return a->reader && a->reader->open.n && t->n_made == 0 && a->fresh &&
           a->state == CHAT_ANSWER_TEXT;
}

/* *opened: what was drawn is the mark's first id, and the others follow. */
static enum gg_status
draw_opening(struct gg_text *t, const struct text_row *r, bool *opened,
             struct gg_error *err)
{
    const struct chat_ids *open = &t->answer.reader->open;
    double mirostat = gg_history_mirostat(t->history);
    enum gg_status st = draw_id(t, r, true, err);

    *opened = st == GG_OK && t->drawn.draw.id == open->p[0];
    if (!*opened)
        gg_history_set_mirostat(t->history, mirostat);
    if (*opened && open->n > 1)
        force(t, &(struct chat_ids){ open->p + 1, open->n - 1 });
    return st;
}

/* A token that ends the thought and has a text after the mark would go round
 * the grammar. */
static enum gg_status
draw_thought(struct gg_text *t, struct text_row *r, struct gg_error *err)
{
    double mirostat = gg_history_mirostat(t->history);
    const struct gg_vocab *v = t->sequence->engine->vocab;
    bool spills;
    enum gg_status st;

    exclude_eog(t, r->ids, r->logits, r->n);
    do {
        size_t n;
        const char *p;

        gg_history_set_mirostat(t->history, mirostat);
        st = draw_id(t, r, true, err);
        if (st != GG_OK)
            return st;
        p = (const char *)vocab_bytes(v, t->drawn.draw.id, &n);
        if (!chat_answer_spills(&t->answer, p, n, &spills))
            return error_nomem(err);
        if (spills)
            *find_logit(r, t->drawn.draw.id) = -INFINITY;
    } while (spills);
    return GG_OK;
}

static enum gg_status
draw(struct gg_text *t, struct text_row *r, struct gg_error *err)
{
    bool grammar = has_grammar(t), opened = false;
    enum gg_status st = GG_OK;

    engine_text_exclude(t, r->ids, r->logits, r->n);
    if (grammar && engine_text_grammar_waits(t))
        return draw_thought(t, r, err);
    if (grammar && engine_text_may_open(t))
        st = draw_opening(t, r, &opened, err);
    return st == GG_OK && !opened ? draw_id(t, r, false, err) : st;
}

/* ---- banned strings ------------------------------------------------------ */

static void
exclude_forbidden(const struct gg_text *t, const struct text_row *r)
{
    size_t n;
    const int32_t *ids = gg_ban_forbidden(t->ban, &n);

    for (size_t i = 0; i < n; i++)
        *find_logit(r, ids[i]) = -INFINITY;
}

/* Another id takes the place of one that has a banned string by itself. Where
 * one began with ids before, *back says how many; and what is forced is none of
 * it. */
static enum gg_status
draw_allowed(struct gg_text *t, struct text_row *r, size_t *back,
             struct gg_error *err)
{
    enum gg_status st = gg_ban_before(t->ban, t->history, err);
    size_t found = 1;

    while (st == GG_OK && found == 1) {
        t->n_forced = 0;
        exclude_forbidden(t, r);
        st = draw(t, r, err);
        if (st == GG_OK)
            st =
                gg_ban_after(t->ban, t->drawn.draw.id, t->history, &found, err);
    }
    *back = found ? found - 1 : 0;
    return st;
}

static enum gg_status
draw_any(struct gg_text *t, struct text_row *r, size_t *back,
         struct gg_error *err)
{
    if (t->n_forced) {
        take_forced(t);
        gg_ban_restart(t->ban);
        return GG_OK;
    }
    return t->ban ? draw_allowed(t, r, back, err) : draw(t, r, err);
}

enum gg_status
engine_text_draw(struct gg_text *t, size_t *back, struct gg_error *err)
{
    struct gg_drawn *d = &t->drawn;
    struct text_row r;
    enum gg_status st = next_row(t, &r, err);

    d->position = t->sequence->n_dropped + t->sequence->n_ids;
    if (st == GG_OK)
        engine_top_take(t, &r);
    if (st == GG_OK)
        st = hear(t, err);
    if (st == GG_OK)
        st = draw_any(t, &r, back, err);
    if (st != GG_OK || *back)
        return st;
    t->n_thought += t->answer.state == CHAT_ANSWER_THOUGHT;
    if (t->params.logprobs) {
        const float *logit = find_logit(&r, d->draw.id);

        d->logprob = (logit ? (double)*logit : -INFINITY) - r.log_sum_exp;
    }
    return GG_OK;
}
