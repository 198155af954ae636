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
#include "core/error.h"
#include "core/mem.h"
#include "engine/draft.h"
#include "engine/draft_table.h"
#include "session/session.h"

enum {
    ON_GPU = 7, /* drafted ids whose logits have the same bits there */
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
    if (!d->forced && !d->mtp && !d->engine)
        d->table = engine_table_new();
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
    engine->no_forced = false;
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
    if (st != GG_OK)
        return st;
    if (engine->draft->most > most)
        engine->draft->most = most;
    engine->draft->length.at_once = session_mtp_blocks(engine->session);
    return GG_OK;
}

enum gg_status
gg_engine_draft_none(struct gg_engine *engine, struct gg_error *err)
{
    if (!engine)
        return error_null(err);
    engine_draft_free(engine->draft);
    engine->draft = NULL;
    engine->no_forced = true;
    return GG_OK;
}

void
engine_draft_free(struct engine_draft *draft)
{
    if (!draft)
        return;
    gg_sampler_free(draft->greedy);
    engine_table_free(draft->table);
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
    mem_free(t->draft.best[0].ids);
    mem_free(t->draft.best[0].logits);
    t->draft = (struct text_draft){ 0 };
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

/* Ids that must come are evaluated with the end of a prompt. Where the session
 * goes back to where an evaluation began, or logits depend on how many ids it
 * has, they are not, nor where a thought may begin instead. */
static size_t
useful_after_prompt(const struct engine_draft *d, const struct gg_text *t)
{
    const struct gg_sequence *q = t->sequence;
    const struct gg_engine *e = q->engine;

    if (e->can.goes_back || !session_is_on_cpu(e->session) ||
        !engine_draft_has_forced(t) || engine_text_may_open(t))
        return 0;
    if (e->bound.applies && q->most < engine_step_lacks(t))
        return 0;
    return useful(d, t);
}

static size_t
find_forced(struct engine_draft *d, struct gg_text *t)
{
    struct text_draft *td = &t->draft;
    size_t most;

    td->n = td->n_accepted = td->again = 0;
    td->n_forced = td->n_certain = 0;
    td->aside = false;
    td->counts = is_decoding(t);
    most = td->counts ? useful(d, t) : useful_after_prompt(d, t);
    if (most && engine_draft_has_forced(t))
        engine_draft_forced(d, t, most);
    return td->counts ? most : td->n;
}

static enum gg_status
make_drafts(struct engine_draft *d, struct gg_text *const *texts, size_t n,
            size_t *wanted, struct gg_error *err)
{
    engine_draft_length_begin(&d->length, n);
    for (size_t i = 0; i < n; i++)
        wanted[i] = find_forced(d, texts[i]);
    if (d->forced)
        return GG_OK;
    if (d->mtp)
        return engine_draft_by_mtp(d, texts, n, wanted, err);
    if (d->engine)
        return engine_draft_by_model(d, texts, n, wanted, err);
    for (size_t i = 0; i < n; i++)
        if (wanted[i] > texts[i]->draft.n)
            engine_draft_by_search(d, texts[i], wanted[i]);
    return GG_OK;
}

/* Whether wrong ids of a draft can be taken back, in both sessions. */
static bool
can_take_back(const struct engine_draft *d, const struct gg_engine *e)
{
    return e->can.truncate && (!d->engine || d->engine->can.truncate);
}

/* Without drafts of another kind there are those of what must come, unless
 * other texts are evaluated meanwhile. */
static enum gg_status
start_forced(struct gg_engine *e, struct gg_text *const *texts, size_t n,
             struct gg_error *err)
{
    bool some = false;

    if (e->draft || session_overlap(e->session) > 1)
        return GG_OK;
    for (size_t i = 0; i < n && !some; i++)
        some = engine_draft_has_forced(texts[i]);
    return some ? start_draft(e, &(struct engine_draft){ .forced = true }, err)
                : GG_OK;
}

/* A draft that is made to see whether it is right goes; there may be none yet,
 * as a model has not come to the end of its prompt. */
static void
set_aside(struct engine_draft *d, struct text_draft *td)
{
    if (!td->aside)
        return;
    td->guess = td->ids[0];
    td->aside = td->n > 0;
    d->length.asides -= td->n == 0;
    td->n = 0;
}

enum gg_status
engine_draft_put(struct gg_engine *e, struct gg_text *const *texts, size_t n,
                 struct gg_error *err)
{
    struct engine_draft *d;
    enum gg_status st = start_forced(e, texts, n, err);
    size_t *wanted;

    if (st != GG_OK)
        return st;
    d = e->draft;
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
        set_aside(d, td);
        st = gg_sequence_put(q, td->ids, td->n, err);
        if (st != GG_OK)
            break;
        q->n_drafted = td->n;
        if (e->bound.applies && q->most < SIZE_MAX - td->n)
            q->most += td->n;
    }
    return st;
}

void
engine_draft_evaluated(struct gg_engine *e, struct gg_text *const *texts,
                       size_t n, int64_t us)
{
    struct engine_draft *d = e->draft;
    size_t total = 0, drafted = 0;
    bool counts = true;

    for (size_t i = 0; i < n; i++) { /* they stand after the text's ids */
        struct text_draft *td = &texts[i]->draft;
        struct gg_sequence *q = texts[i]->sequence;

        q->n_ids -= q->n_drafted;
        q->n_drafted = 0;
        drafted += td->n;
        total += td->n + td->again;
        counts = counts && td->counts;
    }
    if (!d || !us)
        return;
    if (counts)
        engine_draft_length_evaluated(&d->length, (total + n / 2) / n,
                                      (double)us);
    d->stats.n_runs += counts || drafted;
}

/* The first ids of the draft were drawn; `rejected`: the next was not. */
static void
learn_parts(struct draft_length *length, const struct text_draft *td,
            size_t rejected)
{
    size_t n = td->n_accepted, forced = td->n_forced;

    if (n < forced) {
        engine_draft_length_learn(length, DRAFT_FORCED, n + rejected, n);
        return;
    }
    engine_draft_length_learn(length, DRAFT_FORCED, forced, forced);
    engine_draft_length_learn(length, td->kind, n - forced + rejected,
                              n - forced);
}

/* Learns what the draft was worth. */
static void
settle_draft(struct gg_text *t, size_t rejected)
{
    struct engine_draft *d = t->sequence->engine->draft;
    struct text_draft *td = &t->draft;

    if (d && td->counts)
        learn_parts(&d->length, td, rejected);
    if (d) {
        d->stats.n_drafted += td->n;
        d->stats.n_accepted += td->n_accepted;
    }
    td->n = td->n_accepted = 0;
    td->counts = td->aside = false;
    t->row = t->n_rows;
    engine_sequence_release(t->sequence, t->sequence->n_ids);
}

bool
engine_draft_accept(struct gg_text *t, int32_t id)
{
    struct text_draft *td = &t->draft;
    struct engine_draft *d = t->sequence->engine->draft;
    bool drafted = td->n_accepted < td->n;

    if (d && td->aside)
        engine_draft_length_tried(&d->length, td->kind, td->guess == id);
    td->aside = false;
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

void
engine_draft_end(struct gg_text *t)
{
    struct engine_draft *d = t->sequence->engine->draft;

    settle_draft(t, 0);
    if (d)
        engine_draft_learn(d, t);
}
