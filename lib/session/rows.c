/* rows.c - rows of a session's memory, in this process or in another */
#include "session/impl.h"
#include "session/pipeline.h"
#include "session/recurrent.h"

void
session_assume(struct gg_session *s, const struct gg_chunk *chunk)
{
    s->model->pipeline->call->hold(s, chunk);
    if (chunk->n == 0) {
        session_slots_cut(&s->slots, chunk->slot, 0);
        return;
    }
    s->slots.encoded[chunk->slot] =
        (int32_t)session_encoder_ids(s, chunk->ids, chunk->n);
    session_cache_assume(&s->cache, chunk->slot, (int32_t)chunk->n);
    session_slots_add(&s->slots, chunk);
}

static struct pipeline_rows
rows_elsewhere(int32_t layer, int k, int64_t row, int64_t n,
               const struct ggml_tensor *t)
{
    return (struct pipeline_rows){ .layer = layer,
                                   .which = k,
                                   .first = row,
                                   .n = n,
                                   .size =
                                       (size_t)n * session_cache_row_size(t) };
}

static struct pipeline_rows
state_elsewhere(int32_t layer, int k, int32_t slot, int32_t n,
                const struct ggml_tensor *t)
{
    return (struct pipeline_rows){ .layer = layer,
                                   .which = k,
                                   .recurrent = true,
                                   .first = slot,
                                   .n = n,
                                   .size = t->nb[1] };
}

enum gg_status
session_get_rows(struct gg_session *s, int32_t layer, int k, int64_t row,
                 int64_t n, char *to, struct gg_error *err)
{
    const struct ggml_tensor *t = s->cache.layers[layer].t[k];
    struct pipeline_rows rows = rows_elsewhere(layer, k, row, n, t);

    if (!session_cache_is_here(&s->cache, layer))
        return s->model->pipeline->call->save(s, &rows, to, err);
    session_cache_get_rows(&s->cache, t, row, n, to);
    return GG_OK;
}

void
session_set_rows(struct gg_session *s, int32_t layer, int k, int64_t row,
                 int64_t n, const char *from)
{
    struct ggml_tensor *t = s->cache.layers[layer].t[k];
    struct pipeline_rows rows = rows_elsewhere(layer, k, row, n, t);

    if (session_cache_is_here(&s->cache, layer))
        session_cache_set_rows(&s->cache, t, row, n, from);
    else
        s->model->pipeline->call->load(s, &rows, from);
}

enum gg_status
session_get_state(struct gg_session *s, int32_t layer, int k, int32_t slot,
                  int32_t n, char *to, struct gg_error *err)
{
    int64_t row;
    const struct ggml_tensor *t =
        session_recurrent_find(&s->cache, slot, n, layer, k, &row);
    struct pipeline_rows rows = state_elsewhere(layer, k, slot, n, t);

    if (!session_cache_is_here(&s->cache, layer))
        return s->model->pipeline->call->save(s, &rows, to, err);
    ggml_backend_tensor_get(t, to, (size_t)row * t->nb[1], t->nb[1]);
    return GG_OK;
}

void
session_set_state(struct gg_session *s, int32_t layer, int k, int32_t slot,
                  const char *from)
{
    struct ggml_tensor *t = s->cache.layers[layer].states[k];
    struct pipeline_rows rows = state_elsewhere(layer, k, slot, 0, t);

    if (session_cache_is_here(&s->cache, layer))
        ggml_backend_tensor_set(t, from, (size_t)slot * t->nb[1], t->nb[1]);
    else
        s->model->pipeline->call->load(s, &rows, from);
}
