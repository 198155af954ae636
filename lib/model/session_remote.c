/* session_remote.c - a session of a pipeline: what rank 0 tells the others of
 * it, and how they follow */
#include "model/session_remote.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "model/recurrent.h"
#include "model/session.h"

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

enum wanted {
    WANT_LOGITS = 1 << 0, /* all of them, or the best */
    WANT_SCORES = 1 << 1,
    WANT_NEXT = 1 << 2,
    WANT_EMBEDDING = 1 << 3,
};

/* A chunk without its scales and its ids: those of all chunks follow, and then
 * these. */
struct told_chunk {
    int32_t slot, pooling;
    uint32_t wanted; /* enum wanted */
    uint32_t reserved;
    uint64_t n, n_last, first, n_next;
};

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
        .n_next = c->scores.n_next,
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

/* As rank 0's chunk, but that results go nowhere: they are not written here. */
static struct gg_chunk
heard(const struct told_chunk *t, const float *scales, const int32_t *ids)
{
    static float nowhere[1];
    struct gg_chunk c = {
        .slot = t->slot, .ids = ids, .n = (size_t)t->n, .scales = scales
    };

    c.rows.n_last = (size_t)t->n_last;
    c.rows.logits = t->wanted & WANT_LOGITS ? nowhere : NULL;
    c.scores.first = (size_t)t->first;
    c.scores.n_next = (size_t)t->n_next;
    c.scores.logprobs = t->wanted & WANT_SCORES ? nowhere : NULL;
    c.scores.next = t->wanted & WANT_NEXT ? ids : NULL;
    c.embed.values = t->wanted & WANT_EMBEDDING ? nowhere : NULL;
    c.embed.pooling = (enum gg_pooling)t->pooling;
    return c;
}

static enum gg_status
damaged(struct gg_error *err)
{
    return error_set(err, GG_ERR_FORMAT, "a command of rank 0 is damaged");
}

static enum gg_status
read_chunks(const struct gg_session *s, const char *bytes, size_t size,
            struct gg_chunk *chunks, size_t n_chunks, struct gg_error *err)
{
    size_t n_scales = model_session_n_adapters(s);
    size_t at = n_chunks * sizeof(struct told_chunk);
    const float *scales = (const float *)(const void *)(bytes + at);

    at += n_chunks * n_scales * sizeof(*scales);
    if (at > size)
        return damaged(err);
    for (size_t i = 0; i < n_chunks; i++) {
        struct told_chunk t;

        memcpy(&t, bytes + i * sizeof(t), sizeof(t));
        if (t.slot < 0 || t.slot >= s->n_slots ||
            t.n > (size - at) / sizeof(int32_t))
            return damaged(err);
        chunks[i] = heard(&t, n_scales ? scales + i * n_scales : NULL,
                          (const int32_t *)(const void *)(bytes + at));
        at += (size_t)t.n * sizeof(int32_t);
    }
    return at == size ? GG_OK : damaged(err);
}

static enum gg_status
do_chunks(struct gg_session *s, const struct pipeline_command *c,
          const char *bytes, struct gg_error *err)
{
    size_t n = (size_t)c->args[0];
    struct gg_chunk *chunks;
    enum gg_status st;

    if (n == 0 || n > c->size / sizeof(struct told_chunk))
        return damaged(err);
    chunks = mem_array(n, sizeof(*chunks));
    st = chunks ? read_chunks(s, bytes, (size_t)c->size, chunks, n, err)
                : error_nomem(err);
    if (st == GG_OK)
        st = model_session_follow(s, chunks, n, err);
    mem_free(chunks);
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

/* Of which rows: args of GET and SET. */
enum {
    ROWS_RECURRENT, /* whether it is a state, or keys or values */
    ROWS_LAYER,
    ROWS_WHICH, /* enum cache_tensor, or cache_recurrent_tensor */
    ROWS_FIRST, /* of a state: the slot */
    ROWS_N,     /* of a state: the ids after which it is */
};

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

/* ---- what the others do ---------------------------------------------------
 */

static const struct ggml_tensor *
tensor_of(const struct gg_session *s, const struct pipeline_command *c)
{
    const struct cache_layer *l;
    int64_t layer = c->args[ROWS_LAYER], k = c->args[ROWS_WHICH];
    bool recurrent = c->args[ROWS_RECURRENT] != 0;

    if (layer < s->model->first || layer >= s->model->end || k < 0 ||
        k >= (recurrent ? (int)CACHE_RECURRENT : (int)CACHE_TENSORS))
        return NULL;
    l = &s->cache.layers[layer];
    return recurrent ? l->states[k] : l->t[k];
}

static enum gg_status
do_rows(struct gg_pipeline *p, struct gg_session *s,
        const struct pipeline_command *c, const char *bytes,
        struct gg_error *err)
{
    const struct ggml_tensor *t = tensor_of(s, c);
    bool recurrent = c->args[ROWS_RECURRENT] != 0;
    int32_t layer = (int32_t)c->args[ROWS_LAYER];
    int k = (int)c->args[ROWS_WHICH];
    int64_t first = c->args[ROWS_FIRST], n = c->args[ROWS_N];
    size_t size;
    enum gg_status st;

    if (!t || first < 0 || first > t->ne[1] || n < 0 ||
        (!recurrent && (n > CACHE_BLOCK || n > t->ne[1] - first)))
        return damaged(err);
    size = recurrent ? t->nb[1] : (size_t)n * model_cache_row_size(t);
    if (c->op == PIPELINE_SET && c->size != size)
        return damaged(err);
    if (c->op == PIPELINE_SET && recurrent)
        model_session_set_state(s, layer, k, (int32_t)first, bytes);
    else if (c->op == PIPELINE_SET)
        model_session_set_rows(s, layer, k, first, n, bytes);
    if (c->op == PIPELINE_SET)
        return GG_OK;
    if (!mem_grow(&p->buffer, &p->cap_buffer, size, 1))
        return error_nomem(err);
    st = recurrent
             ? model_session_get_state(s, layer, k, (int32_t)first, (int32_t)n,
                                       p->buffer, err)
             : model_session_get_rows(s, layer, k, first, n, p->buffer, err);
    return st == GG_OK ? model_pipeline_answer(p, p->buffer, size, err) : st;
}

static enum gg_status
do_load(struct gg_session *s, const struct pipeline_command *c,
        const char *bytes, struct gg_error *err)
{
    struct gg_chunk chunk = {
        .slot = (int32_t)c->args[0],
        .ids = (const int32_t *)(const void *)bytes,
        .n = (size_t)c->size / sizeof(int32_t),
    };

    if (chunk.slot < 0 || chunk.slot >= s->n_slots ||
        chunk.n > (size_t)s->n_ctx)
        return damaged(err);
    model_session_assume(s, &chunk);
    return GG_OK;
}

static enum gg_status
do_draft(struct gg_session *s, const struct pipeline_command *c,
         struct gg_error *err)
{
    int64_t slot = c->args[0], past = c->args[1], n = c->args[2];

    if (slot < 0 || slot >= s->n_slots || past < 0 || n < 1 ||
        n > CACHE_MTP_DRAFTED || past > s->n_ctx)
        return damaged(err);
    model_cache_make_draft_room(&s->cache, (int32_t)slot, (int32_t)past,
                                (int32_t)n);
    return GG_OK;
}

static enum gg_status
begin(struct gg_pipeline *p, const struct model *m,
      const struct gg_serve_params *serve, const struct pipeline_command *c,
      struct gg_error *err)
{
    struct gg_session_params params = {
        .n_ctx = (int32_t)c->args[0],
        .n_slots = (int32_t)c->args[1],
        .n_batch = (int32_t)c->args[2],
        .n_threads = serve->n_threads,
        .cache_type = (enum gg_cache_type)c->args[3],
        .bf16 = c->args[4] != 0,
        .watch = serve->watch,
        .watch_data = serve->watch_data,
    };
    struct gg_session *s = NULL;
    struct gg_error own;
    enum gg_status st, all;

    if (c->session < 0 || c->session >= PIPELINE_MAX_SESSIONS)
        return damaged(err);
    st = model_session_new(m, &params, &s, &own);
    all = model_pipeline_agree(p, st, &own);
    if (all == GG_OK)
        p->sessions[c->session] = s;
    else
        gg_session_free(s);
    return GG_OK; /* rank 0 says what was wrong */
}

static enum gg_status
do_op(struct gg_pipeline *p, struct gg_session *s,
      const struct pipeline_command *c, const char *bytes, struct gg_error *err)
{
    switch (c->op) {
    case PIPELINE_END:
        gg_session_free(s);
        p->sessions[c->session] = NULL;
        return GG_OK;
    case PIPELINE_EVAL:
        return do_chunks(s, c, bytes, err);
    case PIPELINE_TRUNCATE:
        (void)gg_session_truncate(s, (int32_t)c->args[0], (int32_t)c->args[1]);
        return GG_OK;
    case PIPELINE_COPY:
        (void)gg_session_copy(s, (int32_t)c->args[0], (int32_t)c->args[1],
                              (int32_t)c->args[2]);
        return GG_OK;
    case PIPELINE_DRAFT:
        return do_draft(s, c, err);
    case PIPELINE_LOAD:
        return do_load(s, c, bytes, err);
    case PIPELINE_GET:
    case PIPELINE_SET:
        return do_rows(p, s, c, bytes, err);
    default:
        return damaged(err);
    }
}

void
model_pipeline_end_sessions(struct gg_pipeline *p)
{
    for (int32_t i = 0; i < PIPELINE_MAX_SESSIONS; i++) {
        gg_session_free(p->sessions[i]);
        p->sessions[i] = NULL;
    }
}

enum gg_status
model_pipeline_do(struct gg_pipeline *p, const struct model *m,
                  const struct gg_serve_params *serve,
                  const struct pipeline_command *c, const char *bytes,
                  struct gg_error *err)
{
    if (c->op == PIPELINE_SESSION)
        return begin(p, m, serve, c, err);
    if (c->session < 0 || c->session >= PIPELINE_MAX_SESSIONS ||
        !p->sessions[c->session])
        return damaged(err);
    return do_op(p, p->sessions[c->session], c, bytes, err);
}
