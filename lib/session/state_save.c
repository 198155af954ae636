/* state_save.c - writes what a session holds to a file */
#include "session/state_head.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/line.h"
#include "core/mem.h"
#include "graph/adapter.h"
#include "session/pipeline.h"
#include "session/session.h"
#include "session/state_out.h"

struct saver {
    struct gg_session *session;
    const struct gg_state *state;
    int32_t *held; /* a sequence: its ids whose keys are written */
    struct gguf_context *gguf;
    struct ggml_context *ctx; /* of tensors that describe the file's */
    struct state_out out;
    char *rows; /* CACHE_BLOCK of the cache, or one state */
    struct gg_error *err;
};

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
    there = session_slots_edge(&s->slots, q->slot, there);
    return session_cache_kept(&s->cache, q->slot, there);
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
        !graph_adapters_same(s->model, s->model->scales,
                             session_slots_scales(&s->slots, q->slot)))
        return error_set(v->err, GG_ERR_UNSUPPORTED,
                         "a state has the adapters that the model was opened "
                         "with, and a sequence has others");
    return session_check_ids(s, q->ids, q->n_ids, v->err);
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

static enum gg_status
set_keys(struct saver *v)
{
    const struct gg_state *state = v->state;
    struct state_head h;
    enum gg_status st = session_state_head_of(v->session, &h, v->err);

    h.numbered = state->numbered;
    if (state->chat) {
        h.has |= STATE_HAS_CHAT;
        h.chat = (struct gguf_str){ state->chat, strlen(state->chat) };
    }
    if (st == GG_OK && state->sampling &&
        !core_is_line(state->sampling, strlen(state->sampling)))
        st = error_set(v->err, GG_ERR_ARG,
                       "what it says of sampling is no line");
    if (state->sampling) {
        h.has |= STATE_HAS_SAMPLING;
        h.sampling =
            (struct gguf_str){ state->sampling, strlen(state->sampling) };
    }
    if (state->chat && state->date > 0) {
        h.has |= STATE_HAS_DATE;
        h.date = (uint64_t)state->date;
    }
    if (state->has_mirostat && !state->numbered) {
        h.has |= STATE_HAS_MIROSTAT;
        h.mirostat = state->mirostat;
    }
    if (st == GG_OK && !session_state_head_set_media(&h, v->session, state))
        st = error_nomem(v->err);
    if (st == GG_OK)
        session_state_head_set(&h, v->gguf);
    session_state_head_clear(&h);
    return st;
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
rows_of_layer(const struct saver *v, int32_t layer, int k)
{
    const struct model *m = v->session->model;
    int part = session_state_part(m, layer, k);
    int64_t n = 0;

    for (size_t i = 0; i < v->state->n_sequences; i++)
        n += session_state_rows(m, part, v->held[i]);
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
        for (int k = 0; k < CACHE_TENSORS; k++) {
            const struct ggml_tensor *t = c->layers[i].t[k];

            if (t)
                add_tensor(v, t->name, t->type, session_state_width(t),
                           rows_of_layer(v, i, k));
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
        for (int k = 0; k < CACHE_TENSORS; k++) {
            const struct ggml_tensor *t = c->layers[i].t[k];
            size_t n = t ? CACHE_BLOCK * session_cache_row_size(t) : 0;

            most = n > most ? n : most;
        }
        for (int k = 0; k < CACHE_RECURRENT; k++)
            if (c->layers[i].states[k] && c->layers[i].states[k]->nb[1] > most)
                most = c->layers[i].states[k]->nb[1];
    }
    return most;
}

static size_t
max_tensors(const struct saver *v)
{
    return 4 + (CACHE_TENSORS + CACHE_RECURRENT) *
                   (size_t)v->session->cache.n_layer;
}

static void
add_tensors(struct saver *v)
{
    const struct gg_state *state = v->state;
    int64_t n_ids = 0;

    for (size_t i = 0; i < state->n_sequences; i++)
        n_ids += (int64_t)state->sequences[i].n_ids;
    add_tensor(v, STATE_SEQUENCES, GGML_TYPE_I64, STATE_COLUMNS,
               (int64_t)state->n_sequences);
    add_tensor(v, STATE_IDS, GGML_TYPE_I32, n_ids, 1);
    add_tensor(v, STATE_FORGOTTEN, GGML_TYPE_I64, 2,
               (int64_t)state->n_forgotten);
    add_cache(v);
    add_tensor(v, STATE_CRC, GGML_TYPE_I32, gguf_get_n_tensors(v->gguf) + 1, 1);
}

/* The context's keys and tensors. */
static enum gg_status
describe_state(struct saver *v)
{
    struct ggml_init_params params = {
        .mem_size = max_tensors(v) * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    enum gg_status st;

    v->gguf = gguf_init_empty();
    v->ctx = ggml_init(params);
    v->rows = mem_alloc(rows_size(&v->session->cache));
    if (!v->gguf || !v->ctx || !v->rows)
        return error_nomem(v->err);
    st = set_keys(v);
    if (st != GG_OK)
        return st;
    add_tensors(v);
    return gguf_finish(v->gguf, "state", v->err);
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
        st = session_state_put(&v->out, data, size);
    }
    mem_free(data);
    return st;
}

static enum gg_status
put_sequences(struct saver *v)
{
    const struct gg_state *state = v->state;
    enum gg_status st = session_state_next_part(&v->out);

    for (size_t i = 0; i < state->n_sequences && st == GG_OK; i++) {
        const struct gg_state_sequence *q = &state->sequences[i];
        uint64_t row[STATE_COLUMNS] = { q->number, q->n_dropped, q->n_ids,
                                        q->n_pending, (uint64_t)v->held[i] };

        st = session_state_put(&v->out, row, sizeof(row));
    }
    if (st == GG_OK)
        st = session_state_next_part(&v->out);
    for (size_t i = 0; i < state->n_sequences && st == GG_OK; i++) {
        const struct gg_state_sequence *q = &state->sequences[i];

        st = session_state_put(&v->out, q->ids, q->n_ids * sizeof(*q->ids));
    }
    return st;
}

static enum gg_status
put_forgotten(struct saver *v)
{
    const struct gg_state *state = v->state;
    enum gg_status st = session_state_next_part(&v->out);

    for (size_t i = 0; i < state->n_forgotten && st == GG_OK; i++) {
        uint64_t row[2] = { state->forgotten[i].first,
                            state->forgotten[i].last };

        st = session_state_put(&v->out, row, sizeof(row));
    }
    return st;
}

/* n rows of a tensor of the cache, wherever it is, from that of a position on:
 * blocks may lie apart. */
static enum gg_status
put_part(struct saver *v, int32_t layer, int k, int32_t slot, int32_t position,
         int32_t n)
{
    const struct cache *c = &v->session->cache;
    const struct ggml_tensor *t = c->layers[layer].t[k];
    int part = graph_part_of(&c->layers[layer], k);
    enum gg_status st = GG_OK;

    for (; n > 0 && st == GG_OK; n -= CACHE_BLOCK) {
        int32_t some = n < CACHE_BLOCK ? n : CACHE_BLOCK;
        int64_t row = session_cache_row(c, part, slot, position);

        position += CACHE_BLOCK * c->parts[part].ratio;
        st = session_get_rows(v->session, layer, k, row, some, v->rows, v->err);
        if (st == GG_OK)
            st = session_state_put(&v->out, v->rows,
                                   (size_t)some * session_cache_row_size(t));
    }
    return st;
}

/* The rows of all sequences. */
static enum gg_status
put_rows(struct saver *v, int32_t layer, int k)
{
    const struct model *m = v->session->model;
    int part = session_state_part(m, layer, k);
    enum gg_status st;

    if (rows_of_layer(v, layer, k) == 0) /* the file has no such tensor */
        return GG_OK;
    st = session_state_next_part(&v->out);
    for (size_t i = 0; i < v->state->n_sequences && st == GG_OK; i++) {
        int32_t n = v->held[i];

        if (n > 0)
            st = put_part(v, layer, k, v->state->sequences[i].slot,
                          session_state_first(m, part, n),
                          session_state_rows(m, part, n));
    }
    return st;
}

/* The rows of recurrent states, one a sequence. */
static enum gg_status
put_states(struct saver *v, int32_t layer, enum cache_recurrent_tensor which)
{
    enum gg_status st = session_state_next_part(&v->out);

    for (size_t i = 0; i < v->state->n_sequences && st == GG_OK; i++) {
        if (v->held[i] == 0)
            continue;
        st = session_get_state(v->session, layer, which,
                               v->state->sequences[i].slot, v->held[i], v->rows,
                               v->err);
        if (st == GG_OK)
            st = session_state_put(
                &v->out, v->rows,
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
        st = session_compute_status(s->compute.sched, GGML_STATUS_SUCCESS,
                                    v->err);
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
    return st == GG_OK ? session_state_put_sums(&v->out) : st;
}

/* ---- the file ----------------------------------------------------------- */

/* From the file's beginning, whatever an earlier attempt has left. */
static enum gg_status
write_file(struct saver *v, int fd)
{
    if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0)
        return error_set(v->err, GG_ERR_IO, "%s", strerror(errno));
    v->out.fd = fd;
    return put_all(v);
}

static void
clear_saver(struct saver *v)
{
    gguf_free(v->gguf);
    ggml_free(v->ctx);
    session_state_out_clear(&v->out);
    mem_free(v->held);
    mem_free(v->rows);
}

static enum gg_status
save(struct gg_session *s, const struct gg_state *state, int fd,
     bool with_cache, struct gg_error *err)
{
    struct saver v = { .session = s, .state = state, .err = err };
    enum gg_status st = find_held(&v, with_cache);

    if (st == GG_OK) /* the head is a part, too */
        st = session_state_out_init(&v.out, 1 + max_tensors(&v), err);
    if (st == GG_OK)
        st = describe_state(&v);
    if (st == GG_OK)
        st = write_file(&v, fd);
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

static bool
is_whole(const struct gg_session *s, const struct gg_state *state)
{
    return s && state && (state->sequences || !state->n_sequences) &&
           (state->forgotten || !state->n_forgotten);
}

enum gg_status
gg_session_write(struct gg_session *session, const struct gg_state *state,
                 int fd, struct gg_error *err)
{
    struct gg_session *s = session;
    enum gg_status st;
    bool lost;

    if (!is_whole(s, state))
        return error_null(err);
    st = save(s, state, fd, true, err);
    lost = st != GG_OK &&
           session_compute_status(s->compute.sched, GGML_STATUS_SUCCESS,
                                  NULL) != GG_OK;
    return lost ? save(s, state, fd, false, err) : st;
}

enum gg_status
gg_session_save(struct gg_session *session, const struct gg_state *state,
                const char *path, struct gg_error *err)
{
    struct file_out out;
    enum gg_status st;

    if (!path || !is_whole(session, state))
        return error_null(err);
    st = check_path(path, err);
    if (st == GG_OK)
        st = file_create(path, &out, err);
    if (st != GG_OK)
        return st;
    st = gg_session_write(session, state, fileno(out.stream), err);
    if (st == GG_OK)
        return file_commit(&out, err);
    file_discard(&out);
    return error_prefix(err, st, "%s", path);
}
