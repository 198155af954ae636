/* session_remote.c - a session of a pipeline: what rank 0 tells the others of
 * it */
#include <string.h>

#include "core/mem.h"
#include "model/recurrent.h"
#include "model/session.h"
#include "model/session_commands.h"

/* ---- sessions ----------------------------------------------------------- */

/* What this process leads; NULL: it is alone, or follows. */
static struct gg_pipeline *
led(const struct gg_session *s)
{
    struct gg_pipeline *p = s->model->pipeline;

    return model_pipeline_leads(p) ? p : NULL;
}

static int32_t
free_number(const struct gg_pipeline *p)
{
    int32_t i = 0;

    while (i < PIPELINE_MAX_SESSIONS && p->sessions[i])
        i++;
    return i;
}

enum gg_status
model_session_begin_remote(struct gg_session *s, enum gg_status st,
                           struct gg_error *err)
{
    struct gg_pipeline *p = s->model->pipeline;
    int32_t number = free_number(p);
    struct pipeline_command c = {
        .op = PIPELINE_SESSION,
        .session = number,
        .args = { s->n_ctx, s->n_slots, s->n_batch,
                  (int64_t)s->params.cache_type, s->params.bf16 },
    };

    if (st == GG_OK && number == PIPELINE_MAX_SESSIONS)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "a pipeline has %d sessions at most",
                         PIPELINE_MAX_SESSIONS);
    if (st != GG_OK)
        return st;
    st = model_pipeline_tell_all(p, &c, NULL, err);
    if (st == GG_OK)
        st = model_pipeline_agree(p, GG_OK, err);
    if (st != GG_OK)
        return st;
    s->number = number;
    p->sessions[number] = s;
    return GG_OK;
}

void
model_session_end_remote(struct gg_session *s)
{
    struct gg_pipeline *p = led(s);
    struct pipeline_command c = { .op = PIPELINE_END, .session = s->number };
    struct gg_error e;

    if (!p)
        return;
    (void)model_session_wait(s, s->flights.started, &e);
    if (p->flying == s)
        p->flying = NULL;
    (void)model_pipeline_tell_all(p, &c, NULL, NULL);
    p->sessions[s->number] = NULL;
}

/* ---- chunks -------------------------------------------------------------- */

static struct told_chunk
told(const struct gg_chunk *c)
{
    unsigned wanted = 0;

    wanted |= c->rows.logits || c->rows.best ? WANT_LOGITS : 0;
    wanted |= c->scores.logprobs ? WANT_SCORES : 0;
    wanted |= c->scores.next ? WANT_NEXT : 0;
    wanted |= c->embed.values ? WANT_EMBEDDING : 0;
    return (struct told_chunk){
        .slot = c->slot,
        .pooling = (int32_t)c->embed.pooling,
        .wanted = wanted,
        .n = c->n,
        .n_last = c->rows.n_last,
        .first = c->scores.first,
    };
}

static char *
append(char *to, const void *from, size_t n)
{
    if (n)
        memcpy(to, from, n);
    return to + n;
}

enum gg_status
model_session_tell_chunks(struct gg_session *s, const struct gg_chunk *chunks,
                          size_t n_chunks, struct gg_error *err)
{
    struct gg_pipeline *p = led(s);
    struct pipeline_command c = { .op = PIPELINE_EVAL, .session = s->number };
    size_t scales = model_session_n_adapters(s) * sizeof(float);
    struct told_chunk *one;
    char *bytes, *to;
    enum gg_status st;

    if (!p)
        return GG_OK;
    c.args[0] = (int64_t)n_chunks;
    c.size = n_chunks * (sizeof(*one) + scales);
    for (size_t i = 0; i < n_chunks; i++)
        c.size += chunks[i].n * sizeof(int32_t);
    bytes = mem_alloc((size_t)c.size);
    if (!bytes)
        return error_nomem(err);
    one = (struct told_chunk *)(void *)bytes;
    for (size_t i = 0; i < n_chunks; i++)
        one[i] = told(&chunks[i]);
    to = bytes + n_chunks * sizeof(*one);
    for (size_t i = 0; i < n_chunks; i++)
        to = append(to, model_session_scales(s, &chunks[i]), scales);
    for (size_t i = 0; i < n_chunks; i++)
        to = append(to, chunks[i].ids, chunks[i].n * sizeof(int32_t));
    st = model_pipeline_tell_all(p, &c, bytes, err);
    mem_free(bytes);
    return st;
}

/* ---- memory -------------------------------------------------------------- */

void
model_session_tell_op(struct gg_session *s, enum pipeline_op op, int32_t a,
                      int32_t b, int32_t c)
{
    struct pipeline_command told = { .op = (int32_t)op,
                                     .session = s->number,
                                     .args = { a, b, c } };

    if (led(s))
        (void)model_pipeline_tell_all(led(s), &told, NULL, NULL);
}

void
model_session_tell_load(struct gg_session *s, const struct gg_chunk *chunk)
{
    struct pipeline_command c = { .op = PIPELINE_LOAD,
                                  .session = s->number,
                                  .args = { chunk->slot },
                                  .size = chunk->n * sizeof(*chunk->ids) };

    if (led(s))
        (void)model_pipeline_tell_all(led(s), &c, chunk->ids, NULL);
}

void
model_session_assume(struct gg_session *s, const struct gg_chunk *chunk)
{
    model_session_tell_load(s, chunk);
    model_slots_cut(&s->slots, chunk->slot, 0);
    if (chunk->n == 0)
        return;
    model_cache_assume(&s->cache, chunk->slot, (int32_t)chunk->n);
    model_slots_add(&s->slots, chunk);
}

static struct pipeline_command
rows_command(const struct gg_session *s, enum pipeline_op op, bool recurrent,
             int32_t layer, int k, int64_t first, int64_t n)
{
    return (struct pipeline_command){
        .op = (int32_t)op,
        .session = s->number,
        .args = { recurrent, layer, k, first, n },
    };
}

static enum gg_status
get_remote(struct gg_session *s, const struct pipeline_command *c, char *to,
           size_t size, struct gg_error *err)
{
    struct gg_pipeline *p = led(s);
    int32_t rank = model_pipeline_rank_of(p, (int32_t)c->args[ROWS_LAYER]);
    enum gg_status st = model_pipeline_tell(p, rank, c, NULL, err);

    return st == GG_OK ? model_pipeline_reply(p, rank, to, size, err) : st;
}

static void
set_remote(struct gg_session *s, struct pipeline_command *c, const char *from,
           size_t size)
{
    struct gg_pipeline *p = led(s);

    c->size = size;
    (void)model_pipeline_tell(
        p, model_pipeline_rank_of(p, (int32_t)c->args[ROWS_LAYER]), c, from,
        NULL);
}

enum gg_status
model_session_get_rows(struct gg_session *s, int32_t layer, int k, int64_t row,
                       int64_t n, char *to, struct gg_error *err)
{
    const struct ggml_tensor *t = s->cache.layers[layer].t[k];
    struct pipeline_command c =
        rows_command(s, PIPELINE_GET, false, layer, k, row, n);

    if (!model_cache_is_here(&s->cache, layer))
        return get_remote(s, &c, to, (size_t)n * model_cache_row_size(t), err);
    model_cache_get_rows(&s->cache, t, row, n, to);
    return GG_OK;
}

void
model_session_set_rows(struct gg_session *s, int32_t layer, int k, int64_t row,
                       int64_t n, const char *from)
{
    struct ggml_tensor *t = s->cache.layers[layer].t[k];
    struct pipeline_command c =
        rows_command(s, PIPELINE_SET, false, layer, k, row, n);

    if (model_cache_is_here(&s->cache, layer))
        model_cache_set_rows(&s->cache, t, row, n, from);
    else
        set_remote(s, &c, from, (size_t)n * model_cache_row_size(t));
}

enum gg_status
model_session_get_state(struct gg_session *s, int32_t layer, int k,
                        int32_t slot, int32_t n, char *to, struct gg_error *err)
{
    struct pipeline_command c =
        rows_command(s, PIPELINE_GET, true, layer, k, slot, n);
    int64_t row;
    const struct ggml_tensor *t =
        model_recurrent_find(&s->cache, slot, n, layer, k, &row);

    if (!model_cache_is_here(&s->cache, layer))
        return get_remote(s, &c, to, t->nb[1], err);
    ggml_backend_tensor_get(t, to, (size_t)row * t->nb[1], t->nb[1]);
    return GG_OK;
}

void
model_session_set_state(struct gg_session *s, int32_t layer, int k,
                        int32_t slot, const char *from)
{
    struct ggml_tensor *t = s->cache.layers[layer].states[k];
    struct pipeline_command c =
        rows_command(s, PIPELINE_SET, true, layer, k, slot, 0);

    if (model_cache_is_here(&s->cache, layer))
        ggml_backend_tensor_set(t, from, (size_t)slot * t->nb[1], t->nb[1]);
    else
        set_remote(s, &c, from, t->nb[1]);
}
