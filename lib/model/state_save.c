/* state_save.c - writes what a session holds to a file */
#include "model/state.h"

#include <string.h>
#include <sys/stat.h>

#include "core/crc32.h"
#include "core/mem.h"
#include "model/adapter.h"
#include "model/arch.h"
#include "model/recurrent.h"
#include "model/session_remote.h"

struct saver {
    struct gg_session *session;
    const struct gg_state *state;
    int32_t *held;  /* a sequence: its ids whose keys are written */
    int32_t *kinds; /* a layer */
    struct gguf_context *gguf;
    struct ggml_context *ctx; /* of tensors that describe the file's */
    uint32_t *crc;            /* n_crc of them are complete */
    size_t n_crc;
    bool no_memory; /* a key is missing */
    int fd;
    uint8_t *buffer; /* STATE_PIECE bytes, `used` of which wait to be written */
    size_t used, n_put;
    char *rows; /* CACHE_BLOCK of the cache, or one state */
    struct gg_error *err;
};

const struct gguf_tensor *
model_state_any_keys(const struct gguf_context *gguf)
{
    const struct gguf_tensor *t;

    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++) {
        t = gguf_tensor(gguf, i);
        if (!strncmp(t->name, "cache_k.", 8))
            return t;
    }
    return NULL;
}

struct state_rope
model_state_rope_of(const struct gg_session *s)
{
    static const char *const names[] = {
        [ROPE_NONE] = "none",
        [ROPE_LINEAR] = "linear",
        [ROPE_YARN] = "yarn",
        [ROPE_LONG] = "longrope",
    };
    const struct model_rope *r = &s->model->rope;
    const struct rope_params *p = &r->params;

    if (p->n_rot == 0)
        return (struct state_rope){ .scaling = names[ROPE_NONE] };
    return (struct state_rope){
        .scaling = names[p->scaling],
        .factor = p->factor,
        .base = p->base,
        .n_ctx_orig = (uint32_t)p->n_ctx_orig,
        .longer = r->divisors_long && s->n_ctx > p->n_ctx_orig,
    };
}

/* ---- what is saved ------------------------------------------------------ */

/* Where windowed layers have moved on beyond what is requested, nothing is. */
static int32_t
held_by_slot(const struct gg_session *s, const struct gg_state_sequence *q)
{
    int32_t there;

    if (q->slot < 0)
        return 0;
    there = s->slots.there[q->slot];
    if ((size_t)there > q->n_held)
        there = (int32_t)q->n_held;
    return model_cache_kept(&s->cache, q->slot, there);
}

static enum gg_status
check_sequence(const struct saver *v, const struct gg_state_sequence *q)
{
    const struct gg_session *s = v->session;

    if (!q->ids && q->n_ids)
        return error_null(v->err);
    if (q->slot >= s->n_slots || q->n_ids == 0 || q->n_held > q->n_ids ||
        q->n_pending > q->n_ids - q->n_held ||
        (!v->state->numbered && q->number) ||
        q->n_dropped >> STATE_MAX_DROPPED_LOG2)
        return error_set(v->err, GG_ERR_ARG, "a sequence makes no sense");
    if (q->slot >= 0 && q->n_held > 0 &&
        !model_adapters_same(s->model, s->model->scales,
                             model_slots_scales(&s->slots, q->slot)))
        return error_set(v->err, GG_ERR_UNSUPPORTED,
                         "a state has the adapters that the model was opened "
                         "with, and a sequence has others");
    for (size_t i = 0; i < q->n_ids; i++)
        if (q->ids[i] < 0 || q->ids[i] >= s->model->hp.n_vocab)
            return error_set(v->err, GG_ERR_ARG, "id %d is not in 0..%d",
                             (int)q->ids[i], (int)s->model->hp.n_vocab - 1);
    return GG_OK;
}

static enum gg_status
find_held(struct saver *v, bool with_cache)
{
    const struct gg_state *state = v->state;
    enum gg_status st = GG_OK;

    v->held = mem_array(state->n_sequences, sizeof(*v->held));
    if (!v->held)
        return error_nomem(v->err);
    for (size_t i = 0; i < state->n_sequences && st == GG_OK; i++) {
        st = check_sequence(v, &state->sequences[i]);
        if (st == GG_OK && with_cache)
            v->held[i] = held_by_slot(v->session, &state->sequences[i]);
    }
    return st;
}

/* ---- the head ----------------------------------------------------------- */

/* Those that count; *n gets how many. Returns the version that says so. */
static uint32_t
set_adapters(struct saver *v)
{
    const struct model *m = v->session->model;
    size_t most = m->files.n_adapters, n = 0;
    uint64_t *prints = mem_array(most, sizeof(*prints));
    float *scales = mem_array(most, sizeof(*scales));
    const char **names = mem_array(most, sizeof(*names));

    for (size_t i = 0; i < most && prints && scales && names; i++) {
        if (m->scales[i] == 0)
            continue;
        prints[n] = model_adapter_fingerprint(&m->adapters[i]);
        scales[n] = m->scales[i];
        names[n++] = m->files.adapters[i].path;
    }
    if (n) {
        gguf_set_arr_data(v->gguf, STATE_KEY_ADAPTERS, GGUF_TYPE_UINT64, prints,
                          n);
        gguf_set_arr_data(v->gguf, STATE_KEY_SCALES, GGUF_TYPE_FLOAT32, scales,
                          n);
        gguf_set_arr_str(v->gguf, STATE_KEY_NAMES, names, n);
    }
    v->no_memory = most && !(prints && scales && names);
    mem_free(prints);
    mem_free(scales);
    mem_free(names);
    return n ? STATE_VERSION : STATE_PLAIN;
}

static void
set_kinds(struct saver *v)
{
    const struct model *m = v->session->model;
    int32_t *kinds = v->kinds;

    for (int32_t i = 0; i < m->hp.n_layer; i++)
        kinds[i] = (int32_t)model_state_kind(m, i);
    gguf_set_arr_data(v->gguf, STATE_KEY_LAYERS, GGUF_TYPE_INT32, kinds,
                      (size_t)m->hp.n_layer);
}

static void
set_keys(struct saver *v)
{
    const struct model *m = v->session->model;
    struct state_rope rope = model_state_rope_of(v->session);
    struct gguf_context *g = v->gguf;

    gguf_set_val_str(g, "general.type", STATE_TYPE);
    gguf_set_val_u32(g, STATE_KEY_VERSION, set_adapters(v));
    set_kinds(v);
    gguf_set_val_u64(g, STATE_KEY_MODEL, gguf_fingerprint(m->file->gguf));
    gguf_set_val_str(g, STATE_KEY_FAMILY, m->arch->name);
    gguf_set_val_bool(g, STATE_KEY_NUMBERED, v->state->numbered);
    if (v->state->chat)
        gguf_set_val_str(g, STATE_KEY_CHAT, v->state->chat);
    if (v->state->chat && v->state->date > 0)
        gguf_set_val_u64(g, STATE_KEY_DATE, (uint64_t)v->state->date);
    if (v->state->has_mirostat && !v->state->numbered)
        gguf_set_val_f64(g, STATE_KEY_MIROSTAT, v->state->mirostat);
    gguf_set_val_str(g, STATE_KEY_SCALING, rope.scaling);
    gguf_set_val_f32(g, STATE_KEY_FACTOR, rope.factor);
    gguf_set_val_f32(g, STATE_KEY_BASE, rope.base);
    gguf_set_val_u32(g, STATE_KEY_CONTEXT, rope.n_ctx_orig);
    gguf_set_val_bool(g, STATE_KEY_LONG, rope.longer);
}

static void
add_tensor(struct saver *v, const char *name, enum ggml_type type, int64_t n0,
           int64_t n1)
{
    struct ggml_tensor *t;

    if (n0 == 0 || n1 == 0)
        return;
    t = ggml_new_tensor_2d(v->ctx, type, n0, n1);
    ggml_set_name(t, name);
    gguf_add_tensor(v->gguf, t);
}

static int64_t
rows_of_layer(const struct saver *v, int32_t layer)
{
    const struct model *m = v->session->model;
    int64_t n = 0;

    for (size_t i = 0; i < v->state->n_sequences; i++)
        n += v->held[i] - model_state_first(m, layer, v->held[i]);
    return n;
}

/* Sequences of which something is kept. */
static int64_t
count_held(const struct saver *v)
{
    int64_t n = 0;

    for (size_t i = 0; i < v->state->n_sequences; i++)
        n += v->held[i] > 0;
    return n;
}

static void
add_cache(struct saver *v)
{
    const struct cache *c = &v->session->cache;

    for (int32_t i = 0; i < c->n_layer; i++) {
        int64_t rows = rows_of_layer(v, i);

        for (int k = 0; k < CACHE_TENSORS && c->layers[i].t[k]; k++) {
            const struct ggml_tensor *t = c->layers[i].t[k];

            add_tensor(v, t->name, c->type, model_state_width(t), rows);
        }
        for (int k = 0; k < CACHE_RECURRENT; k++)
            if (c->layers[i].states[k])
                add_tensor(v, c->layers[i].states[k]->name, GGML_TYPE_F32,
                           c->layers[i].states[k]->ne[0], count_held(v));
    }
}

/* The most that is copied at a time: rows of keys or values, or one of a
 * recurrent state. */
static size_t
rows_size(const struct cache *c)
{
    size_t most = 1;

    for (int32_t i = 0; i < c->n_layer; i++) {
        for (int k = 0; k < CACHE_TENSORS && c->layers[i].t[k]; k++) {
            size_t n = CACHE_BLOCK * model_cache_row_size(c->layers[i].t[k]);

            most = n > most ? n : most;
        }
        for (int k = 0; k < CACHE_RECURRENT; k++)
            if (c->layers[i].states[k] && c->layers[i].states[k]->nb[1] > most)
                most = c->layers[i].states[k]->nb[1];
    }
    return most;
}

/* The context's keys and tensors. */
static enum gg_status
describe_state(struct saver *v)
{
    const struct gg_state *state = v->state;
    size_t most = 4 + (CACHE_TENSORS + CACHE_RECURRENT) *
                          (size_t)v->session->cache.n_layer;
    struct ggml_init_params params = {
        .mem_size = most * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    int64_t n_ids = 0;

    v->gguf = gguf_init_empty();
    v->ctx = ggml_init(params);
    v->kinds = mem_array((size_t)v->session->cache.n_layer, sizeof(*v->kinds));
    v->crc = mem_array(most + 2, sizeof(*v->crc)); /* and of the gaps */
    v->buffer = mem_alloc(STATE_PIECE);
    v->rows = mem_alloc(rows_size(&v->session->cache));
    if (!v->gguf || !v->ctx || !v->kinds || !v->crc || !v->buffer || !v->rows)
        return error_nomem(v->err);
    for (size_t i = 0; i < state->n_sequences; i++)
        n_ids += (int64_t)state->sequences[i].n_ids;
    set_keys(v);
    if (v->no_memory)
        return error_nomem(v->err);
    add_tensor(v, STATE_SEQUENCES, GGML_TYPE_I64, STATE_COLUMNS,
               (int64_t)state->n_sequences);
    add_tensor(v, STATE_IDS, GGML_TYPE_I32, n_ids, 1);
    add_tensor(v, STATE_FORGOTTEN, GGML_TYPE_I64, 2,
               (int64_t)state->n_forgotten);
    add_cache(v);
    add_tensor(v, STATE_CRC, GGML_TYPE_I32, gguf_get_n_tensors(v->gguf) + 1, 1);
    return gguf_finish(v->gguf, "state", v->err);
}

/* ---- bytes -------------------------------------------------------------- */

static enum gg_status
flush(struct saver *v)
{
    size_t n = v->used;

    v->used = 0;
    return file_write_all(v->fd, v->buffer, n, v->err);
}

/* What was written to buffer[used .. used + n) counts. */
static enum gg_status
took(struct saver *v, size_t n)
{
    v->crc[v->n_crc] = crc32_bytes(v->crc[v->n_crc], v->buffer + v->used, n);
    v->used += n;
    v->n_put += n;
    return v->used == STATE_PIECE ? flush(v) : GG_OK;
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static enum gg_status
save_bytes(struct saver *v, const void *data, size_t size)
{
    const uint8_t *p = data;
    enum gg_status st = GG_OK;

    while (size && st == GG_OK) {
        size_t n = least(size, STATE_PIECE - v->used);

        memcpy(v->buffer + v->used, p, n);
        st = took(v, n);
        p += n;
        size -= n;
    }
    return st;
}

/* Rows of a tensor of the cache, wherever it is. */
static enum gg_status
put_part(struct saver *v, int32_t layer, int k, int64_t row, int64_t n)
{
    const struct ggml_tensor *t = v->session->cache.layers[layer].t[k];
    enum gg_status st = GG_OK;

    for (; n > 0 && st == GG_OK; n -= CACHE_BLOCK, row += CACHE_BLOCK) {
        int64_t some = n < CACHE_BLOCK ? n : CACHE_BLOCK;

        st = model_session_get_rows(v->session, layer, k, row, some, v->rows,
                                    v->err);
        if (st == GG_OK)
            st = save_bytes(v, v->rows, (size_t)some * model_cache_row_size(t));
    }
    return st;
}

/* The next tensor of the file begins after zeros, which no CRC is about. */
static enum gg_status
next_part(struct saver *v)
{
    static const uint8_t zeros[GGUF_DEFAULT_ALIGNMENT];
    size_t gap = (0 - v->n_put) % sizeof(zeros);
    enum gg_status st;

    v->n_crc++;
    st = save_bytes(v, zeros, gap);
    v->crc[v->n_crc] = 0;
    return st;
}

/* ---- parts of the file -------------------------------------------------- */

static enum gg_status
put_head(struct saver *v)
{
    size_t size = gguf_get_meta_size(v->gguf);
    uint8_t *data = mem_alloc(size);
    enum gg_status st = data ? GG_OK : error_nomem(v->err);

    if (st == GG_OK) {
        gguf_get_meta_data(v->gguf, data);
        st = save_bytes(v, data, size);
    }
    mem_free(data);
    return st;
}

static enum gg_status
put_sequences(struct saver *v)
{
    const struct gg_state *state = v->state;
    enum gg_status st = next_part(v);

    for (size_t i = 0; i < state->n_sequences && st == GG_OK; i++) {
        const struct gg_state_sequence *q = &state->sequences[i];
        uint64_t row[STATE_COLUMNS] = { q->number, q->n_dropped, q->n_ids,
                                        q->n_pending, (uint64_t)v->held[i] };

        st = save_bytes(v, row, sizeof(row));
    }
    if (st == GG_OK)
        st = next_part(v);
    for (size_t i = 0; i < state->n_sequences && st == GG_OK; i++) {
        const struct gg_state_sequence *q = &state->sequences[i];

        st = save_bytes(v, q->ids, q->n_ids * sizeof(*q->ids));
    }
    return st;
}

static enum gg_status
put_forgotten(struct saver *v)
{
    const struct gg_state *state = v->state;
    enum gg_status st = next_part(v);

    for (size_t i = 0; i < state->n_forgotten && st == GG_OK; i++) {
        uint64_t row[2] = { state->forgotten[i].first,
                            state->forgotten[i].last };

        st = save_bytes(v, row, sizeof(row));
    }
    return st;
}

/* The rows of all sequences. */
static enum gg_status
put_rows(struct saver *v, int32_t layer, int k)
{
    const struct cache *c = &v->session->cache;
    enum gg_status st = next_part(v);

    for (size_t i = 0; i < v->state->n_sequences && st == GG_OK; i++) {
        int32_t n = v->held[i];
        int32_t first = model_state_first(v->session->model, layer, n);
        int64_t row;

        if (n == 0)
            continue;
        row = model_cache_row(c, c->layers[layer].kind,
                              v->state->sequences[i].slot, first);
        st = put_part(v, layer, k, row, n - first);
    }
    return st;
}

/* The rows of recurrent states, one a sequence. */
static enum gg_status
put_states(struct saver *v, int32_t layer, enum cache_recurrent_tensor which)
{
    enum gg_status st = next_part(v);

    for (size_t i = 0; i < v->state->n_sequences && st == GG_OK; i++) {
        if (v->held[i] == 0)
            continue;
        st = model_session_get_state(v->session, layer, which,
                                     v->state->sequences[i].slot, v->held[i],
                                     v->rows, v->err);
        if (st == GG_OK)
            st = save_bytes(
                v, v->rows,
                v->session->cache.layers[layer].states[which]->nb[1]);
    }
    return st;
}

static enum gg_status
put_layer(struct saver *v, int32_t layer)
{
    const struct cache_layer *l = &v->session->cache.layers[layer];
    enum gg_status st = GG_OK;

    for (int k = 0; k < CACHE_TENSORS && st == GG_OK; k++)
        if (l->t[k])
            st = put_rows(v, layer, k);
    for (int k = 0; k < CACHE_RECURRENT && st == GG_OK; k++)
        if (l->states[k])
            st = put_states(v, layer, k);
    return st;
}

static enum gg_status
put_cache(struct saver *v)
{
    struct gg_session *s = v->session;
    enum gg_status st = GG_OK;

    if (count_held(v) == 0)
        return GG_OK;
    for (int32_t i = 0; i < s->cache.n_layer && st == GG_OK; i++)
        st = put_layer(v, i);
    if (st == GG_OK) /* a device may have failed meanwhile */
        st =
            model_compute_status(s->compute.sched, GGML_STATUS_SUCCESS, v->err);
    return st;
}

static enum gg_status
put_all(struct saver *v)
{
    enum gg_status st = put_head(v);

    if (st == GG_OK && v->state->n_sequences)
        st = put_sequences(v);
    if (st == GG_OK && v->state->n_forgotten)
        st = put_forgotten(v);
    if (st == GG_OK)
        st = put_cache(v);
    if (st == GG_OK)
        st = next_part(v);
    if (st == GG_OK)
        st = save_bytes(v, v->crc, v->n_crc * sizeof(*v->crc));
    if (st == GG_OK)
        st = next_part(v);
    return st == GG_OK ? flush(v) : st;
}

/* ---- the file ----------------------------------------------------------- */

static enum gg_status
write_file(struct saver *v, const char *path)
{
    struct file_out out;
    enum gg_status st = file_create(path, &out, v->err);

    if (st != GG_OK)
        return st;
    v->fd = fileno(out.stream);
    st = put_all(v);
    if (st == GG_OK)
        return file_commit(&out, v->err);
    file_discard(&out);
    return error_prefix(v->err, st, "%s", path);
}

static void
clear_saver(struct saver *v)
{
    gguf_free(v->gguf);
    ggml_free(v->ctx);
    mem_free(v->held);
    mem_free(v->kinds);
    mem_free(v->crc);
    mem_free(v->buffer);
    mem_free(v->rows);
}

static enum gg_status
save(struct gg_session *s, const struct gg_state *state, const char *path,
     bool with_cache, struct gg_error *err)
{
    struct saver v = { .session = s, .state = state, .err = err };
    enum gg_status st = find_held(&v, with_cache);

    if (st == GG_OK)
        st = describe_state(&v);
    if (st == GG_OK)
        st = write_file(&v, path);
    clear_saver(&v);
    return st;
}

/* Nothing that cannot be replaced. */
static enum gg_status
check_path(const char *path, struct gg_error *err)
{
    struct stat st;

    if (stat(path, &st) || S_ISREG(st.st_mode))
        return GG_OK;
    return error_prefix(err,
                        error_set(err, GG_ERR_ARG, "a state is a regular file"),
                        "%s", path);
}

enum gg_status
gg_session_save(struct gg_session *session, const struct gg_state *state,
                const char *path, struct gg_error *err)
{
    struct gg_session *s = session;
    enum gg_status st;
    bool lost;

    if (!s || !state || !path || (!state->sequences && state->n_sequences) ||
        (!state->forgotten && state->n_forgotten))
        return error_null(err);
    st = check_path(path, err);
    if (st == GG_OK)
        st = save(s, state, path, true, err);
    lost = st != GG_OK &&
           model_compute_status(s->compute.sched, GGML_STATUS_SUCCESS, NULL) !=
               GG_OK;
    return lost ? save(s, state, path, false, err) : st;
}
