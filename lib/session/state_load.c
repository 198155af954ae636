/* state_load.c - a sequence of a state goes on in a slot of a session */
#include "session/pipeline.h"
#include "session/state_open.h"

/* The rows of sequence i. */
static void
set_rows(struct gg_session *s, const struct gg_state_file *f, int32_t slot,
         int32_t layer, size_t i, int k)
{
    const struct ggml_tensor *t = s->cache.layers[layer].t[k];
    const struct gguf_tensor *from = gguf_tensor_named(f->file.gguf, t->name);
    int part = session_state_part(s->model, layer, k);
    const struct cache *c = &s->cache;
    int32_t held = (int32_t)f->sequences[i].n_held;
    int32_t n = session_state_rows(s->model, part, held);
    int64_t to = session_cache_row(c, graph_part_of(&c->layers[layer], k), slot,
                                   session_state_first(s->model, part, held));
    size_t size = session_cache_row_size(t);
    const char *rows;

    if (n == 0)
        return;
    rows = (const char *)from->data + (size_t)f->before[part][i] * size;
    for (; n > 0; n -= CACHE_BLOCK, to += CACHE_BLOCK) {
        session_set_rows(s, layer, k, to, n < CACHE_BLOCK ? n : CACHE_BLOCK,
                         rows);
        rows += CACHE_BLOCK * size;
    }
}

/* The recurrent states of sequence i, which holds something. */
static void
set_states(struct gg_session *s, const struct gg_state_file *f, int32_t slot,
           int32_t layer, size_t i)
{
    for (int k = 0; k < CACHE_RECURRENT; k++) {
        struct ggml_tensor *t = s->cache.layers[layer].states[k];
        const char *from;

        if (!t)
            continue;
        from = gguf_tensor_named(f->file.gguf, t->name)->data;
        session_set_state(s, layer, k, slot,
                          from +
                              (size_t)f->before[STATE_OF_STATES][i] * t->nb[1]);
    }
}

/* A decoder that has nothing to look at: no session has made that. */
static bool
lacks_encoder(const struct gg_session *s, const struct gg_chunk *c)
{
    return s->model->hp.n_encoder > 0 &&
           session_encoder_ids(s, c->ids, c->n) == 0;
}

int32_t
gg_session_load(struct gg_session *session, int32_t slot,
                const struct gg_state_file *file, size_t i)
{
    struct gg_session *s = session;
    const struct gg_state_sequence *q;
    struct gg_chunk chunk;

    if (!s || slot < 0 || slot >= s->n_slots || !file ||
        i >= file->state.n_sequences)
        return gg_session_length(session, slot);
    q = &file->sequences[i];
    chunk = (struct gg_chunk){ .slot = slot, .ids = q->ids, .n = q->n_held };
    session_slots_cut(&s->slots, slot, 0);
    session_slots_set_scales(&s->slots, slot, s->model->scales);
    if (q->n_held > (size_t)s->n_ctx || lacks_encoder(s, &chunk) ||
        !session_slots_keep(&s->slots, &chunk))
        chunk.n = 0;
    session_assume(s, &chunk);
    if (chunk.n == 0)
        return 0;
    for (int32_t l = 0; l < s->cache.n_layer; l++) {
        for (int k = 0; k < CACHE_TENSORS; k++)
            if (s->cache.layers[l].t[k])
                set_rows(s, file, slot, l, i, k);
        set_states(s, file, slot, l, i);
    }
    return (int32_t)q->n_held;
}
