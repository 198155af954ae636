/* follow.c - what ranks of a pipeline other than 0 do, as they are told
 *
 * A command is looked at before it is done: rank 0 may be damaged, or another
 * program. */
#include <string.h>

#include "core/mem.h"
#include "pipeline/commands.h"
#include "session/recurrent.h"
#include "session/session.h"

/* ---- chunks -------------------------------------------------------------- */

/* As rank 0's chunk, but that results go nowhere: they are not written here,
 * nor are ids looked at that may come next. */
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
    size_t n_scales = session_n_adapters(s);
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

    if (n == 0 || n > (size_t)c->size / sizeof(struct told_chunk))
        return damaged(err);
    chunks = mem_array(n, sizeof(*chunks));
    st = chunks ? read_chunks(s, bytes, (size_t)c->size, chunks, n, err)
                : error_nomem(err);
    if (st == GG_OK)
        st = session_follow(s, chunks, n, err);
    mem_free(chunks);
    return st;
}

/* ---- media --------------------------------------------------------------- */

static bool
is_whole_medium(const struct gg_session *s, const struct told_medium *t,
                uint64_t size)
{
    struct medium_sizes sizes;

    if (t->width != (uint64_t)s->model->hp.n_embd || t->n == 0 ||
        t->n > size / sizeof(float) / t->width ||
        t->n_deeper > size / sizeof(float) / t->width / t->n)
        return false;
    sizes = pipeline_medium_sizes(t);
    return size == sizes.rows + sizes.deeper + sizes.positions + sizes.blocks;
}

static enum gg_status
do_medium(struct gg_session *s, const struct pipeline_command *c,
          const char *bytes, struct gg_error *err)
{
    struct told_medium t;
    struct medium_sizes sizes;
    struct gg_medium m;
    int32_t first;

    if (c->size < sizeof(t))
        return damaged(err);
    memcpy(&t, bytes, sizeof(t));
    bytes += sizeof(t);
    if (!is_whole_medium(s, &t, c->size - sizeof(t)))
        return damaged(err);
    sizes = pipeline_medium_sizes(&t);
    m = (struct gg_medium){ .n = (size_t)t.n, .width = (size_t)t.width };
    memcpy(m.hash, t.hash, sizeof(m.hash));
    m.n_deeper = (size_t)t.n_deeper;
    m.rows = (const float *)(const void *)bytes;
    bytes += sizes.rows;
    m.deeper = sizes.deeper ? (const float *)(const void *)bytes : NULL;
    bytes += sizes.deeper;
    if (t.has_positions)
        m.positions = (const int32_t *)(const void *)bytes;
    bytes += sizes.positions;
    if (t.has_blocks)
        m.blocks = (const int32_t *)(const void *)bytes;
    return gg_session_add_rows(s, &m, &first, err);
}

/* ---- memory -------------------------------------------------------------- */

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

/* Whether the tensor has these rows; of a requested state, whether it
 * was kept. */
static bool
has_rows(const struct gg_session *s, const struct pipeline_command *c,
         const struct ggml_tensor *t)
{
    int64_t first = c->args[ROWS_FIRST], n = c->args[ROWS_N];

    if (!c->args[ROWS_RECURRENT])
        return first >= 0 && first <= t->ne[1] && n >= 0 && n <= CACHE_BLOCK &&
               n <= t->ne[1] - first;
    if (first < 0 || first >= s->n_slots || n < 0 || n > s->n_ctx)
        return false;
    return c->op == PIPELINE_SET ||
           (n > 0 &&
            session_recurrent_kept(&s->cache, (int32_t)first, (int32_t)n) == n);
}

static enum gg_status
do_rows(struct pipeline *p, struct gg_session *s,
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

    if (!t || !has_rows(s, c, t))
        return damaged(err);
    size = recurrent ? t->nb[1] : (size_t)n * session_cache_row_size(t);
    if (c->op == PIPELINE_SET && c->size != size)
        return damaged(err);
    if (c->op == PIPELINE_SET && recurrent)
        session_set_state(s, layer, k, (int32_t)first, bytes);
    else if (c->op == PIPELINE_SET)
        session_set_rows(s, layer, k, first, n, bytes);
    if (c->op == PIPELINE_SET)
        return GG_OK;
    if (!mem_grow(&p->buffer, &p->cap_buffer, size, 1))
        return error_nomem(err);
    st = recurrent ? session_get_state(s, layer, k, (int32_t)first, (int32_t)n,
                                       p->buffer, err)
                   : session_get_rows(s, layer, k, first, n, p->buffer, err);
    return st == GG_OK ? pipeline_answer(p, p->buffer, size, err) : st;
}

static enum gg_status
do_load(struct gg_session *s, const struct pipeline_command *c,
        const char *bytes, struct gg_error *err)
{
    bool has_slot = c->args[0] >= 0 && c->args[0] < s->n_slots;
    struct gg_chunk chunk = {
        .slot = (int32_t)c->args[0],
        .ids = (const int32_t *)(const void *)bytes,
        .n = (size_t)c->size / sizeof(int32_t),
    };

    if (!has_slot || chunk.n > (size_t)s->n_ctx ||
        session_stray_id(s, chunk.ids, chunk.n) < chunk.n)
        return damaged(err);
    session_slots_cut(&s->slots, chunk.slot, 0);
    if (!session_slots_keep(&s->slots, &chunk))
        return error_nomem(err);
    session_assume(s, &chunk);
    return GG_OK;
}

/* Makes room at positions that the window has rows of, or has had. */
static enum gg_status
do_draft(struct gg_session *s, const struct pipeline_command *c,
         struct gg_error *err)
{
    const struct cache_part *w = &s->cache.parts[CACHE_WINDOW];
    int64_t slot = c->args[0], past = c->args[1], n = c->args[2];

    if (slot < 0 || slot >= s->n_slots || past < 0 || n < 1 ||
        n > CACHE_MTP_DRAFTED || past > w->base[slot] + w->n_rows)
        return damaged(err);
    session_cache_make_draft_room(&s->cache, (int32_t)slot, (int32_t)past,
                                  (int32_t)n);
    return GG_OK;
}

/* ---- sessions ------------------------------------------------------------ */

static enum gg_status
begin(struct pipeline *p, const struct model *m,
      const struct gg_serve_params *serve, const struct pipeline_command *c,
      struct gg_error *err)
{
    struct gg_session_params params = {
        .n_ctx = (int32_t)c->args[0],
        .n_slots = (int32_t)c->args[1],
        .n_batch = (int32_t)c->args[2],
        .n_threads = serve->n_threads,
        .cache_type = (enum gg_cache_type)c->args[3],
        .bf16 = c->args[4] & PIPELINE_BF16,
        .no_rotation = c->args[4] & PIPELINE_NO_ROTATION,
        .value_type = (enum gg_cache_type)c->args[5],
        .has_value_type = true,
        .n_encoder_ids = (int32_t)c->args[6],
        .watch = serve->watch,
        .watch_data = serve->watch_data,
    };
    struct gg_session *s = NULL;
    struct gg_error own;
    enum gg_status st, all;

    if (c->session < 0 || c->session >= PIPELINE_MAX_SESSIONS ||
        p->sessions[c->session])
        return damaged(err);
    st = session_new(m, &params, &s, &own);
    all = pipeline_agree(&p->base, st, &own);
    if (all == GG_OK)
        p->sessions[c->session] = s;
    else
        gg_session_free(s);
    return GG_OK; /* rank 0 says what was wrong */
}

static enum gg_status
do_op(struct pipeline *p, struct gg_session *s,
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
    case PIPELINE_ROWS:
        return do_medium(s, c, bytes, err);
    case PIPELINE_GET:
    case PIPELINE_SET:
        return do_rows(p, s, c, bytes, err);
    default:
        return damaged(err);
    }
}

void
pipeline_end_sessions(struct pipeline *p)
{
    for (int32_t i = 0; i < PIPELINE_MAX_SESSIONS; i++) {
        gg_session_free(p->sessions[i]);
        p->sessions[i] = NULL;
    }
}

enum gg_status
pipeline_do(struct pipeline *p, const struct model *m,
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
