/* engine.c - begins and ends an engine */
#include "core/error.h"
#include "core/mem.h"
#include "engine/draft.h"
#include "engine/prefix.h"
#include "engine/text.h"

static bool
fill_in(struct gg_engine *e)
{
    size_t n = (size_t)e->n_slots;

    e->slots = mem_array(n, sizeof(*e->slots));
    e->chunks = mem_array(n, sizeof(*e->chunks));
    return e->slots && e->chunks;
}

enum gg_status
engine_new(const struct gg_vocab *vocab, struct gg_session *session,
           const struct gg_engine_params *params, struct gg_engine **out,
           struct gg_error *err)
{
    struct gg_engine *e = mem_zalloc(sizeof(*e));

    if (!e)
        return error_nomem(err);
    e->vocab = vocab;
    e->session = session;
    e->can = session_can(session);
    e->shift = params->shift;
    e->score = params->score;
    e->n_ctx = (size_t)gg_session_n_ctx(session);
    e->n_vocab = (size_t)session_n_vocab(session);
    e->n_adapters = session_n_adapters(session);
    e->n_slots = gg_session_n_slots(session);
    if (!fill_in(e)) {
        gg_engine_free(e);
        return error_nomem(err);
    }
    *out = e;
    return GG_OK;
}

void
gg_engine_free(struct gg_engine *engine)
{
    if (!engine)
        return;
    for (int32_t i = 0; engine->slots && i < engine->n_slots; i++) {
        mem_free(engine->slots[i].ids);
        mem_free(engine->slots[i].logprobs);
        mem_free(engine->slots[i].scales);
        mem_free(engine->slots[i].key);
    }
    mem_free(engine->slots);
    mem_free(engine->chunks);
    engine_draft_free(engine->draft);
    engine_prefixes_free(engine->prefixes);
    mem_free(engine);
}

struct gg_engine_stats
gg_engine_stats(const struct gg_engine *engine)
{
    return engine ? engine->stats : (struct gg_engine_stats){ 0 };
}
