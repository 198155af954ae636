/* state_open.c - opens the files that gg_session_save() writes, and believes
 * nothing of what they say */
#include "session/state_open.h"

#include <stdarg.h>
#include <string.h>

#include "core/check.h"
#include "core/mem.h"

/* ---- keys and values ---------------------------------------------------- */

/* Rows of a part, or states, for a sequence that holds n ids. */
static int64_t
count_of(const struct model *m, int part, int32_t n)
{
    if (part == STATE_OF_STATES)
        return n > 0;
    if (part >= CACHE_KINDS + m->hp.n_compression)
        return 0;
    return session_state_rows(m, part, n);
}

static enum gg_status
count_rows(const struct opener *o)
{
    struct gg_state_file *f = o->f;
    size_t n = f->state.n_sequences;

    for (int k = 0; k < STATE_COUNTS; k++) {
        int64_t *before = f->before[k] = mem_array(n + 1, sizeof(*before));

        if (!before)
            return error_nomem(o->err);
        for (size_t i = 0; i < n; i++)
            before[i + 1] =
                before[i] +
                count_of(o->session->model, k, (int32_t)f->sequences[i].n_held);
    }
    return GG_OK;
}

/* Keys, values, or an indexer's keys, of any layer; NULL: the file has none. */
static const struct gguf_tensor *
any_rows(const struct gguf_context *gguf, enum cache_tensor of)
{
    static const char *const names[] = { "cache_k.", "cache_v.",
                                         "cache_index." };
    const struct gguf_tensor *t;

    for (int64_t i = 0; i < gguf_get_n_tensors(gguf); i++) {
        t = gguf_tensor(gguf, i);
        if (!strncmp(t->name, names[of], strlen(names[of])))
            return t;
    }
    return NULL;
}

static enum gg_status
check_type(const struct opener *o)
{
    static const char *const names[] = { "keys", "values",
                                         "an indexer's keys" };
    const struct cache_form *form = &o->session->cache.form;
    bool alike = form->types[CACHE_K] == form->types[CACHE_V];

    for (int of = 0; of <= CACHE_INDEX; of++) {
        const struct gguf_tensor *t = any_rows(o->gguf, of);

        if (t && t->type != form->types[of])
            return session_state_refuse(
                o, GG_ERR_UNSUPPORTED,
                "%s of the state are of type %s, not %s: "
                "the cache type must be as it was",
                alike && of == CACHE_K ? "keys and values" : names[of],
                ggml_type_name(t->type), ggml_type_name(form->types[of]));
    }
    return GG_OK;
}

static enum gg_status
check_rotation(const struct opener *o)
{
    const struct state_head *its = &o->its, *own = &o->own;

    if (its->rotation.n == own->rotation.n &&
        (own->rotation.n == 0 ||
         memcmp(its->rotation.s, own->rotation.s, own->rotation.n) == 0))
        return GG_OK;
    return session_state_refuse(
        o, GG_ERR_UNSUPPORTED,
        "keys and values of the state are rotated otherwise: the cache type "
        "and the cache rotation must be as they were");
}

static enum gg_status
check_cache(struct opener *o)
{
    const struct cache *c = &o->session->cache;
    size_t n = o->f->state.n_sequences;
    enum gg_status st = count_rows(o);

    for (int32_t i = 0; i < c->n_layer && st == GG_OK; i++) {
        for (int k = 0; k < CACHE_TENSORS && st == GG_OK; k++) {
            const struct ggml_tensor *t = c->layers[i].t[k];

            if (!t)
                continue;
            st = session_state_find(
                o, t->name, t->type, session_state_width(t),
                o->f->before[session_state_part(o->session->model, i, k)][n],
                NULL);
        }
        for (int k = 0; k < CACHE_RECURRENT && st == GG_OK; k++) {
            const struct ggml_tensor *t = c->layers[i].states[k];

            if (t)
                st = session_state_find(o, t->name, GGML_TYPE_F32, t->ne[0],
                                        o->f->before[STATE_OF_STATES][n], NULL);
        }
    }
    if (st == GG_OK && o->n_tensors != gguf_get_n_tensors(o->gguf))
        return session_state_refuse(o, GG_ERR_FORMAT,
                                    "has a tensor that is none of a state");
    return st;
}

/* ---- the file ----------------------------------------------------------- */

static enum gg_status
read_state(struct opener *o)
{
    enum gg_status st = session_state_check_kind(o);

    if (st == GG_OK)
        st = session_state_find_sums(o);
    if (st == GG_OK)
        st = session_state_check_head(o);
    if (st == GG_OK)
        st = check_type(o);
    if (st == GG_OK)
        st = check_rotation(o);
    if (st == GG_OK)
        st = session_state_check_sums(o);
    if (st == GG_OK)
        st = session_state_read_media(o);
    if (st == GG_OK)
        st = session_state_read_table(o);
    return st == GG_OK ? check_cache(o) : st;
}

enum gg_status
gg_state_open(const char *path, struct gg_session *session,
              struct gg_state_file **out, struct gg_error *err)
{
    struct opener o = { .path = path, .session = session, .err = err };
    struct gg_state_file *f;
    size_t n_media;
    enum gg_status st;

    if (!path || !session || !out)
        return error_null(err);
    n_media = session->media.n;
    o.f = f = mem_zalloc(sizeof(*f));
    st = f ? gguf_file_open(path, 0, &f->file, err) : error_nomem(err);
    if (st == GG_OK) {
        o.gguf = f->file.gguf;
        st = read_state(&o);
    }
    session_state_head_clear(&o.own);
    mem_free(o.media);
    if (st == GG_OK) {
        *out = f;
    } else {
        gg_state_close(f);
        session_media_cut(&session->media, n_media);
    }
    return st;
}

void
gg_state_close(struct gg_state_file *file)
{
    if (!file)
        return;
    gguf_file_close(&file->file);
    mem_free(file->sequences);
    mem_free(file->forgotten);
    mem_free(file->chat);
    mem_free(file->sampling);
    mem_free(file->ids);
    for (int k = 0; k < STATE_COUNTS; k++)
        mem_free(file->before[k]);
    mem_free(file);
}

const struct gg_state *
gg_state_get(const struct gg_state_file *file)
{
    return file ? &file->state : NULL;
}
