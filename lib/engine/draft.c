/* draft.c - speculative decoding: drafts, evaluated in one batch
 *
 * To evaluate several ids at once takes little longer than to evaluate one: the
 * weights are read once. So ids are drafted, evaluated after the one that was
 * drawn, and then drawn at each place, as if one after the other had been
 * evaluated: as long as what is drawn is what was drafted, the next logits are
 * there. Those do not depend on how many ids are evaluated together, so that
 * the text does not depend on the draft. Y. Leviathan et al., "Fast inference
 * from transformers via speculative decoding", 2023, without its rejection
 * sampling: draws are functions of their place. */
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/draft.h"
#include "session/session.h"

enum {
    ON_GPU = 7,   /* drafted ids whose logits have the same bits there */
    LONGEST = 16, /* ids at the end that are looked for before */
};

/* ---- birth and death ----------------------------------------------------- */

static enum gg_status
check_draft(const struct gg_engine *a, const struct gg_engine *b,
            struct gg_error *err)
{
    if (b && (a == b || b->n_slots < a->n_slots))
        return error_set(err, GG_ERR_ARG,
                         "the draft's engine is the same, or has fewer slots");
    if (!b || gg_vocab_fingerprint(a->vocab) == gg_vocab_fingerprint(b->vocab))
        return GG_OK;
    return error_set(err, GG_ERR_ARG, "the draft model has another vocabulary");
}

/* Takes the place of what drafted before. */
static enum gg_status
start_draft(struct gg_engine *engine, const struct engine_draft *what,
            struct gg_error *err)
{
    const struct gg_sampler_params greedy = { .greedy = true };
    struct engine_draft *d = mem_zalloc(sizeof(*d));
    enum gg_status st;

    if (!d)
        return error_nomem(err);
    *d = *what;
    st = gg_sampler_new(&greedy, &d->greedy, err);
    if (st != GG_OK) {
        engine_draft_free(d);
        return st;
    }
    d->most = session_is_on_cpu(engine->session) ? DRAFT_MOST : ON_GPU;
    engine_draft_length_init(&d->length);
    d->length.goes_back = engine->can.goes_back;
    engine_draft_free(engine->draft);
    engine->draft = d;
    return GG_OK;
}

enum gg_status
gg_engine_draft(struct gg_engine *engine, struct gg_engine *draft,
                struct gg_error *err)
{
    enum gg_status st = engine ? GG_OK : error_null(err);

    if (st == GG_OK)
        st = check_draft(engine, draft, err);
    return st == GG_OK
               ? start_draft(engine, &(struct engine_draft){ .engine = draft },
                             err)
               : st;
}

enum gg_status
gg_engine_draft_mtp(struct gg_engine *engine, struct gg_error *err)
{
    enum gg_status st = engine ? GG_OK : error_null(err);
    size_t most = engine ? (size_t)session_mtp(engine->session) : 0;

    if (st == GG_OK && most == 0)
        st = error_set(err, GG_ERR_ARG,
                       "the model was opened without its MTP layers");
    if (st == GG_OK)
        st = start_draft(engine, &(struct engine_draft){ .mtp = true }, err);
    if (st == GG_OK && engine->draft->most > most)
        engine->draft->most = most;
    return st;
}

void
engine_draft_free(struct engine_draft *draft)
{
    if (!draft)
        return;
    gg_sampler_free(draft->greedy);
    mem_free(draft);
}

struct gg_draft_stats
gg_engine_draft_stats(const struct gg_engine *engine)
{
    return engine && engine->draft ? engine->draft->stats
                                   : (struct gg_draft_stats){ 0 };
}

void
engine_draft_clear(struct gg_text *t)
{
    gg_text_free(t->draft.text);
    gg_sequence_free(t->draft.sequence);
    mem_free(t->draft.logits);
    mem_free(t->draft.best.ids);
    mem_free(t->draft.best.logits);
    t->draft = (struct text_draft){ 0 };
}

/* ---- drafts by what was there -------------------------------------------- */

/* How many ids in front of ids[i] are those in front of ids[n]. */
static size_t
count_same(const int32_t *ids, size_t i, size_t n)
{
    size_t k = 0;

    while (k < i && k < LONGEST && ids[i - 1 - k] == ids[n - 1 - k])
        k++;
    return k;
}

/* Where the longest end of ids[0..n) stood before, the last time: the place
 * after it; *len gets its length. */
static size_t
find_before(const int32_t *ids, size_t n, size_t *len)
{
    size_t found = 0;

    *len = 0;
    for (size_t i = n - 1; i > *len && *len < LONGEST; i--) {
        size_t k = ids[i - 1] == ids[n - 1] ? count_same(ids, i, n) : 0;

        if (k > *len) {
            *len = k;
            found = i;
        }
    }
    return found;
}

/* Drafts the ids that followed then, again and again where they go up to the
 * end. */
static void
draft_by_search(struct engine_draft *d, struct gg_text *t, size_t most)
{
    const struct gg_sequence *q = t->sequence;
    struct text_draft *out = &t->draft;
    size_t len, at = find_before(q->ids, q->n_ids, &len);

    if (len < 2)
        return;
    out->kind = len < 4 ? 0 : len < 8 ? 1 : 2;
    d->length.again = out->again;
    out->n = engine_draft_length_best(&d->length, out->kind, most);
    for (size_t i = 0; i < out->n; i++, at++) {
        int32_t id = at < q->n_ids ? q->ids[at] : out->ids[at - q->n_ids];

        if (engine_is_row(q->engine, id))
            out->n = i;
        else
            out->ids[i] = id;
    }
    if (out->n == 0)
        engine_draft_length_skipped(&d->length, out->kind);
}

/* ---- drafts by a model --------------------------------------------------- */

static struct gg_text_params
params_of(const struct engine_draft *d, const struct gg_text *t)
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

/* The model's sequence gets these ids. */
static enum gg_status
follow_ids(struct engine_draft *d, struct gg_text *t, const struct seen *s,
           struct gg_error *err)
{
    struct text_draft *td = &t->draft;
    struct gg_text_params params = params_of(d, t);
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
    if (td->text)
        return gg_text_continue(td->text, &params, s->ids + same, s->n - same,
                                err);
    st = gg_sequence_put(td->sequence, s->ids + same, s->n - same, err);
    return st == GG_OK ? gg_text_new(td->sequence, &params, &td->text, err)
                       : st;
}

/* The model's sequence gets the text's tokens. GG_ERR_CONTEXT: it has no room,
 * or there are none. */
static enum gg_status
follow(struct engine_draft *d, struct gg_text *t, struct gg_error *err)
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
        if (td->text->finish == GG_FINISH_NONE && td->text->n_made > td->n)
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
        total += texts[i]->draft.n;
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
        if (wanted[i] == 0)
            continue;
        st = follow(d, texts[i], err);
        if (st == GG_ERR_CONTEXT)
            wanted[i] = 0;
        else if (st != GG_OK)
            return st;
    }
    return GG_OK;
}

static enum gg_status
draft_by_model(struct engine_draft *d, struct gg_text *const *texts, size_t n,
               size_t *wanted, struct gg_error *err)
{
    struct gg_text **scratch = mem_array(n, sizeof(*scratch));
    enum gg_status st =
        scratch ? want_drafts(d, texts, n, wanted, err) : error_nomem(err);

    if (st == GG_OK)
        st = draw_drafts(d, texts, n, wanted, scratch, err);
    mem_free(scratch);
    return st;
}

/* ---- evaluation ---------------------------------------------------------- */

/* Ids that there is room and need for; with those that are evaluated again no
 * more than an evaluation has. */
static size_t
useful(const struct engine_draft *d, const struct gg_text *t)
{
    const struct gg_sequence *q = t->sequence;
    size_t n = q->engine->n_ctx - q->n_ids, most = DRAFT_MOST - t->draft.again;
    uint64_t max = t->params.max_ids;

    most = most < d->most ? most : d->most;
    n = n < most ? n : most;
    if (max && max - t->n_made - 1 < n)
        n = (size_t)(max - t->n_made - 1);
    return n;
}

/* Decoding: one id, after others of this text, of which few are evaluated
 * again, as recurrent layers do after a draft that was rejected. */
static bool
is_decoding(struct gg_text *t)
{
    const struct gg_sequence *q = t->sequence;

    if (t->n_made == 0 || q->slot < 0 || q->n_ids <= q->n_held ||
        q->n_ids - q->n_held > DRAFT_MOST)
        return false;
    t->draft.again = q->n_ids - q->n_held - 1;
    return true;
}

static enum gg_status
make_drafts(struct engine_draft *d, struct gg_text *const *texts, size_t n,
            size_t *wanted, struct gg_error *err)
{
    engine_draft_length_begin(&d->length, n);
    for (size_t i = 0; i < n; i++) {
        struct text_draft *td = &texts[i]->draft;

        td->n = td->n_accepted = td->again = 0;
        td->counts = is_decoding(texts[i]);
        wanted[i] = td->counts ? useful(d, texts[i]) : 0;
    }
    if (d->mtp)
        return engine_draft_by_mtp(d, texts, n, wanted, err);
    if (d->engine)
        return draft_by_model(d, texts, n, wanted, err);
    for (size_t i = 0; i < n; i++)
        if (wanted[i])
            draft_by_search(d, texts[i], wanted[i]);
    return GG_OK;
}

/* Whether wrong ids of a draft can be taken back, in both sessions. */
static bool
can_take_back(const struct engine_draft *d, const struct gg_engine *e)
{
    return e->can.truncate && (!d->engine || d->engine->can.truncate);
}

enum gg_status
engine_draft_put(struct gg_engine *e, struct gg_text *const *texts, size_t n,
                 struct gg_error *err)
{
    struct engine_draft *d = e->draft;
    enum gg_status st;
    size_t *wanted;

    if (!d || !can_take_back(d, e))
        return GG_OK;
    wanted = mem_array(n, sizeof(*wanted));
    st = wanted ? make_drafts(d, texts, n, wanted, err) : error_nomem(err);
    mem_free(wanted);
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        struct text_draft *td = &texts[i]->draft;
        struct gg_sequence *q = texts[i]->sequence;

        if (d->replace)
            d->replace(d->data, q->n_ids, td->ids, td->n);
        st = gg_sequence_put(q, td->ids, td->n, err);
    }
    return st;
}

void
engine_draft_evaluated(struct gg_engine *e, struct gg_text *const *texts,
                       size_t n, int64_t us)
{
    struct engine_draft *d = e->draft;
    size_t total = 0;
    bool counts = true;

    for (size_t i = 0; i < n; i++) { /* they stand after the text's ids */
        struct text_draft *td = &texts[i]->draft;

        texts[i]->sequence->n_ids -= td->n;
        total += td->n + td->again;
        counts = counts && td->counts;
    }
    if (!d || !us || !counts)
        return;
    engine_draft_length_evaluated(&d->length, (total + n / 2) / n, (double)us);
    d->stats.n_runs++;
}

/* Learns what the draft was worth. */
static void
settle_draft(struct gg_text *t, size_t rejected)
{
    struct engine_draft *d = t->sequence->engine->draft;
    struct text_draft *td = &t->draft;

    if (d && td->counts) {
        engine_draft_length_learn(&d->length, td->kind,
                                  td->n_accepted + rejected, td->n_accepted);
        d->stats.n_drafted += td->n;
        d->stats.n_accepted += td->n_accepted;
    }
    td->n = td->n_accepted = 0;
    td->counts = false;
    t->row = t->n_rows;
    engine_sequence_release(t->sequence, t->sequence->n_ids);
}

bool
engine_draft_accept(struct gg_text *t, int32_t id)
{
    struct text_draft *td = &t->draft;
    bool drafted = td->n_accepted < td->n;

    if (drafted && td->ids[td->n_accepted] == id) {
        td->n_accepted++;
        t->sequence->n_ids++;
        return true;
    }
    settle_draft(t, drafted);
    return false;
}

void
engine_draft_drop(struct gg_text *t)
{
    settle_draft(t, 0);
}
