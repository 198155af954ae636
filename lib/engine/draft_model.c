/* draft_model.c - drafts by a smaller model, which draws as the text does */
#include <ggml.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/draft.h"

static struct gg_text_params
draft_params(const struct engine_draft *d, const struct gg_text *t)
{
    return (struct gg_text_params){
        .sampler = engine_draft_sampler(d, t),
        .sequence = t->params.sequence,
        .ignore_eog = t->params.ignore_eog,
    };
}

/* Ids of a text that the draft's model sees: tokens. Its media are another
 * model's. */
struct seen {
    int32_t *ids;
    size_t n;
};

static bool
see(struct seen *s, const struct gg_sequence *q)
{
    s->ids = mem_array(q->n_ids, sizeof(*s->ids));
    for (size_t i = 0; i < q->n_ids && s->ids; i++)
        if (!engine_is_row(q->engine, q->ids[i]))
            s->ids[s->n++] = q->ids[i];
    return s->ids;
}

/* The model's sequence gets these ids, and those that are drafted. */
static enum gg_status
follow_ids(struct engine_draft *d, struct gg_text *t, const struct seen *s,
           struct gg_error *err)
{
    struct text_draft *td = &t->draft;
    struct gg_text_params params = draft_params(d, t);
    enum gg_status st;
    size_t same = 0;

    while (same < td->sequence->n_ids && same + 1 < s->n &&
           td->sequence->ids[same] == s->ids[same])
        same++;
    if (td->text)
        engine_draft_drop(td->text);
    gg_sequence_truncate(td->sequence, same);
    /* draws are functions of their place */
    td->sequence->n_dropped =
        t->sequence->n_dropped + t->sequence->n_ids - s->n;
    st = gg_sequence_put(td->sequence, s->ids + same, s->n - same, err);
    if (st == GG_OK && td->text)
        return gg_text_continue(td->text, &params, td->ids, td->n, err);
    if (st == GG_OK)
        st = gg_sequence_put(td->sequence, td->ids, td->n, err);
    return st == GG_OK ? gg_text_new(td->sequence, &params, &td->text, err)
                       : st;
}

/* The model's sequence gets the text's tokens. GG_ERR_CONTEXT: it has no room,
 * or there are none. */
static enum gg_status
follow_text(struct engine_draft *d, struct gg_text *t, struct gg_error *err)
{
    const struct gg_sequence *q = t->sequence;
    struct seen s = { q->ids, q->n_ids };
    bool rows = false;
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < q->n_ids && !rows; i++)
        rows = engine_is_row(q->engine, q->ids[i]);
    if (rows)
        s.n = 0;
    if (!t->draft.sequence)
        st = gg_sequence_new(d->engine, &t->draft.sequence, err);
    if (st == GG_OK && rows && !see(&s, q))
        st = error_nomem(err);
    if (st == GG_OK)
        st = s.n ? follow_ids(d, t, &s, err) : GG_ERR_CONTEXT;
    if (rows)
        mem_free(s.ids);
    return st;
}

/* The texts whose drafts are to have more ids, and what draws them. */
static size_t
find_short(struct gg_text *const *texts, size_t n, const size_t *wanted,
           struct gg_text **out)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (texts[i]->draft.n < wanted[i])
            out[found++] = texts[i]->draft.text;
    return found;
}

/* Each draft that lacks some gets one id; one that has ended lacks none, nor
 * one whose model has not come to the end of the prompt: that goes on with the
 * next step. */
static void
take_drawn(struct gg_text *const *texts, size_t n, size_t *wanted)
{
    for (size_t i = 0; i < n; i++) {
        struct text_draft *td = &texts[i]->draft;

        if (td->n >= wanted[i])
            continue;
        if (td->text->finish == GG_FINISH_NONE &&
            td->text->n_made > td->n - td->n_forced)
            td->ids[td->n++] = td->text->drawn.draw.id;
        else
            wanted[i] = td->n;
    }
}

static enum gg_status
draw_drafts(struct engine_draft *d, struct gg_text *const *texts, size_t n,
            size_t *wanted, struct gg_text **scratch, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    size_t n_short, total = 0;
    int64_t start = ggml_time_us();

    while (st == GG_OK &&
           (n_short = find_short(texts, n, wanted, scratch)) > 0) {
        st = gg_engine_step(d->engine, scratch, n_short, err);
        if (st == GG_OK)
            take_drawn(texts, n, wanted);
    }
    for (size_t i = 0; i < n; i++)
        total += texts[i]->draft.n - texts[i]->draft.n_forced;
    engine_draft_length_drafted(&d->length, (total + n - 1) / n,
                                (double)(ggml_time_us() - start));
    return st;
}

/* How many ids each draft is to have, where the model can follow the text. */
static enum gg_status
want_drafts(struct engine_draft *d, struct gg_text *const *texts, size_t n,
            size_t *wanted, struct gg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        enum gg_status st;

        wanted[i] = engine_draft_wanted(d, texts[i], wanted[i]);
        if (wanted[i] == texts[i]->draft.n)
            continue;
        st = follow_text(d, texts[i], err);
        if (st == GG_ERR_CONTEXT)
            wanted[i] = texts[i]->draft.n;
        else if (st != GG_OK)
            return st;
    }
    return GG_OK;
}

enum gg_status
engine_draft_by_model(struct engine_draft *d, struct gg_text *const *texts,
                      size_t n, size_t *wanted, struct gg_error *err)
{
    struct gg_text **scratch = mem_array(n, sizeof(*scratch));
    enum gg_status st =
        scratch ? want_drafts(d, texts, n, wanted, err) : error_nomem(err);

    if (st == GG_OK)
        st = draw_drafts(d, texts, n, wanted, scratch, err);
    mem_free(scratch);
    return st;
}
