/* overlap.c - evaluations of some texts while those of others are under way
 *
 * Ranks of a pipeline evaluate one after the other: with a single evaluation
 * all but one of them wait. What texts need is begun, and they are stepped
 * while that of further texts is under way. Drafts are not made before their
 * text's last id is drawn, and adapt to the time that evaluations take: they
 * are left to the step. */
#include "core/error.h"
#include "core/mem.h"
#include "engine/text.h"

enum gg_status
engine_text_check(const struct gg_engine *e, struct gg_text *const *texts,
                  size_t n, struct gg_error *err)
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
engine_text_wait(struct gg_text *t, struct gg_error *err)
{
    uint64_t ticket = t->ticket;
    enum gg_status st;
    struct gg_error own;

    t->ticket = 0;
    if (ticket == 0)
        return GG_OK;
    st = session_wait(t->sequence->engine->session, ticket, err ? err : &own);
    if (st != GG_OK)
        t->n_rows = t->row = 0;
    return st;
}

int32_t
gg_engine_overlap(const struct gg_engine *engine)
{
    return engine && !engine->draft ? session_overlap(engine->session) : 1;
}

/* Texts that need an evaluation, and have none begun. */
static size_t
find_idle(struct gg_text *const *texts, size_t n, struct gg_text **out)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        if (texts[i]->row == texts[i]->n_rows)
            out[found++] = texts[i];
    return found;
}

static enum gg_status
begin(struct gg_engine *e, struct gg_text *const *texts, size_t n,
      struct gg_query *queries, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    uint64_t ticket = 0;

    for (size_t i = 0; i < n && st == GG_OK; i++) {
        st = engine_text_reserve_rows(texts[i], 1, err);
        if (st == GG_OK)
            queries[i] = engine_text_query(texts[i], 1);
    }
    if (st == GG_OK)
        st = engine_start(e, queries, n, &ticket, err);
    for (size_t i = 0; i < n; i++)
        if (st == GG_OK)
            texts[i]->ticket = ticket;
        else
            texts[i]->n_rows = texts[i]->row = 0;
    return st;
}

enum gg_status
gg_engine_begin(struct gg_engine *engine, struct gg_text *const *texts,
                size_t n, struct gg_error *err)
{
    struct gg_text **idle;
    struct gg_query *queries;
    enum gg_status st = engine_text_check(engine, texts, n, err);

    if (st != GG_OK || gg_engine_overlap(engine) < 2 || n == 0)
        return st;
    idle = mem_array(n, sizeof(*idle));
    queries = mem_array(n, sizeof(*queries));
    st = idle && queries
             ? begin(engine, idle, find_idle(texts, n, idle), queries, err)
             : error_nomem(err);
    mem_free(idle);
    mem_free(queries);
    return st;
}
