/* state_load.c - reads the files that gg_session_save() writes, and believes
 * nothing of what they say */
#include "model/state_open.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/check.h"
#include "core/crc32.h"
#include "core/escape.h"
#include "core/mem.h"
#include "model/adapter.h"
#include "model/session_remote.h"

enum gg_status
model_state_refuse(const struct opener *o, enum gg_status status,
                   const char *fmt, ...)
{
    char text[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return error_prefix(o->err, error_set(o->err, status, "%s", text), "%s",
                        o->path);
}

/* ---- keys --------------------------------------------------------------- */

static bool
says(const struct gguf_str *s, const char *what)
{
    return s->n == strlen(what) && memcmp(s->s, what, s->n) == 0;
}

static enum gg_status
check_kind(struct opener *o)
{
    struct gguf_str type = { "", 0 };
    uint32_t version = 0;
    enum gg_status st = gguf_opt_str(o->gguf, "general.type", &type, o->err);

    if (st == GG_OK && !says(&type, STATE_TYPE))
        return model_state_refuse(o, GG_ERR_FORMAT, "is no state of a session");
    if (st == GG_OK)
        st = gguf_get_u32(o->gguf, STATE_KEY_VERSION, &version, o->err);
    if (st == GG_OK && (version < STATE_OLDEST || version > STATE_VERSION))
        return model_state_refuse(o, GG_ERR_UNSUPPORTED,
                                  "a state of version %" PRIu32
                                  ", but only %d to %d are known",
                                  version, STATE_OLDEST, STATE_VERSION);
    o->version = version;
    return st;
}

/* Version 1 does not say what layers keep: it is what they do here. */
static enum gg_status
check_kinds(const struct opener *o)
{
    const struct model *m = o->session->model;
    size_t n = (size_t)m->hp.n_layer;
    struct gguf_array kinds = { 0 };
    enum gg_status st;

    if (o->version == 1)
        return GG_OK;
    st = gguf_opt_array(o->gguf, STATE_KEY_LAYERS, GGUF_TYPE_INT32, &kinds,
                        o->err);
    if (st == GG_OK && kinds.n != n)
        return model_state_refuse(o, GG_ERR_FORMAT,
                                  STATE_KEY_LAYERS ": no kind for each layer");
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        int32_t kind = gguf_array_i32(&kinds, i);

        if (kind != (int32_t)model_state_kind(m, (int32_t)i))
            st = model_state_refuse(
                o, GG_ERR_UNSUPPORTED,
                "layer %zu keeps what is of kind %d, not %d", i, (int)kind,
                (int)model_state_kind(m, (int32_t)i));
    }
    return st;
}

static enum gg_status
check_model(const struct opener *o)
{
    const struct gguf_context *model = o->session->model->file->gguf;
    uint64_t fingerprint = 0;
    enum gg_status st =
        gguf_get_u64(o->gguf, STATE_KEY_MODEL, &fingerprint, o->err);

    if (st == GG_OK && fingerprint != gguf_fingerprint(model))
        return model_state_refuse(o, GG_ERR_UNSUPPORTED,
                                  "the state was made with another model");
    return st;
}

/* Adapters of the state. */
struct told {
    struct gguf_array prints, scales, names;
};

static enum gg_status
read_adapters(const struct opener *o, struct told *t)
{
    const struct gguf_context *g = o->gguf;
    enum gg_status st = GG_OK;

    *t = (struct told){ 0 };
    if (o->version < STATE_VERSION)
        return GG_OK;
    st = gguf_get_array(g, STATE_KEY_ADAPTERS, GGUF_TYPE_UINT64, &t->prints,
                        o->err);
    if (st == GG_OK)
        st = gguf_get_array_n(g, STATE_KEY_SCALES, GGUF_TYPE_FLOAT32,
                              t->prints.n, &t->scales, o->err);
    if (st == GG_OK)
        st = gguf_get_array_n(g, STATE_KEY_NAMES, GGUF_TYPE_STRING, t->prints.n,
                              &t->names, o->err);
    return st;
}

/* The model's next adapter that counts, from `i` on; or how many there are. */
static size_t
next_adapter(const struct model *m, size_t i)
{
    while (i < m->files.n_adapters && m->scales[i] == 0)
        i++;
    return i;
}

/* The state was made with one that the model has not in its place. */
static enum gg_status
refuse_adapter(const struct opener *o, const struct told *t, size_t i)
{
    const struct gguf_str *s = &t->names.strings[i];
    char name[200];

    escape_bytes(name, sizeof(name), s->s, s->n);
    return model_state_refuse(o, GG_ERR_UNSUPPORTED,
                              "the state was made with the adapter %s at the "
                              "scale %g: --lora and --control-vector must be "
                              "as they were",
                              name, (double)gguf_array_f32(&t->scales, i));
}

/* Ids have the keys and values that they would have here. */
static enum gg_status
check_adapters(const struct opener *o)
{
    const struct model *m = o->session->model;
    struct told t;
    enum gg_status st = read_adapters(o, &t);
    size_t k = next_adapter(m, 0);

    for (size_t i = 0; i < t.prints.n && st == GG_OK; i++) {
        uint64_t its;

        memcpy(&its, (const char *)t.prints.data + i * sizeof(its),
               sizeof(its));
        if (k == m->files.n_adapters ||
            its != model_adapter_fingerprint(&m->adapters[k]) ||
            gguf_array_f32(&t.scales, i) != m->scales[k])
            return refuse_adapter(o, &t, i);
        k = next_adapter(m, k + 1);
    }
    if (st == GG_OK && k < m->files.n_adapters)
        return model_state_refuse(
            o, GG_ERR_UNSUPPORTED,
            "the state was made without the adapter %s: --lora and "
            "--control-vector must be as they were",
            m->files.adapters[k].path);
    return st;
}

static enum gg_status
read_rope(const struct opener *o, struct state_rope *rope, struct gguf_str *s)
{
    enum gg_status st = gguf_get_str(o->gguf, STATE_KEY_SCALING, s, o->err);

    if (st == GG_OK)
        st = gguf_get_f32(o->gguf, STATE_KEY_FACTOR, &rope->factor, o->err);
    if (st == GG_OK)
        st = gguf_get_f32(o->gguf, STATE_KEY_BASE, &rope->base, o->err);
    if (st == GG_OK)
        st =
            gguf_get_u32(o->gguf, STATE_KEY_CONTEXT, &rope->n_ctx_orig, o->err);
    if (st == GG_OK)
        st = gguf_get_bool(o->gguf, STATE_KEY_LONG, &rope->longer, o->err);
    return st;
}

static enum gg_status
check_rope(const struct opener *o)
{
    struct state_rope own = model_state_rope_of(o->session), its;
    struct gguf_str scaling = { "", 0 };
    enum gg_status st = read_rope(o, &its, &scaling);

    if (st != GG_OK)
        return st;
    if (!says(&scaling, own.scaling) || memcmp(&its.factor, &own.factor, 4) ||
        memcmp(&its.base, &own.base, 4) || its.n_ctx_orig != own.n_ctx_orig)
        return model_state_refuse(
            o, GG_ERR_UNSUPPORTED,
            "the state was made with other rotary positions: "
            "--rope-scaling, --rope-factor, --rope-base and "
            "--rope-context must be as they were");
    if (its.longer != own.longer)
        return model_state_refuse(
            o, GG_ERR_UNSUPPORTED,
            "the state was made for a context %s %" PRIu32
            " positions, where the model turns keys otherwise",
            its.longer ? "of more than" : "of no more than", own.n_ctx_orig);
    return GG_OK;
}

static enum gg_status
read_mirostat(const struct opener *o, struct gg_state *state)
{
    int64_t id = gguf_find_key(o->gguf, STATE_KEY_MIROSTAT);

    if (id < 0)
        return GG_OK;
    if (gguf_get_kv_type(o->gguf, id) != GGUF_TYPE_FLOAT64 ||
        !isfinite(gguf_get_val_f64(o->gguf, id)) || state->numbered)
        return model_state_refuse(o, GG_ERR_FORMAT,
                                  STATE_KEY_MIROSTAT ": makes no sense");
    state->has_mirostat = true;
    state->mirostat = gguf_get_val_f64(o->gguf, id);
    return GG_OK;
}

static enum gg_status
read_date(const struct opener *o, struct gg_state *state)
{
    uint64_t date = 0;
    enum gg_status st = gguf_opt_u64(o->gguf, STATE_KEY_DATE, &date, o->err);

    if (st == GG_OK && date > INT64_MAX)
        return model_state_refuse(o, GG_ERR_FORMAT,
                                  STATE_KEY_DATE ": makes no sense");
    state->date = (int64_t)date;
    return st;
}

static enum gg_status
read_keys(const struct opener *o)
{
    struct gguf_str chat = { NULL, 0 };
    enum gg_status st = gguf_get_bool(o->gguf, STATE_KEY_NUMBERED,
                                      &o->f->state.numbered, o->err);

    if (st == GG_OK)
        st = read_mirostat(o, &o->f->state);
    if (st == GG_OK)
        st = read_date(o, &o->f->state);
    if (st == GG_OK)
        st = gguf_opt_str(o->gguf, STATE_KEY_CHAT, &chat, o->err);
    if (st != GG_OK || !chat.s)
        return st;
    if (chat.n == 0 || chat.n > 64 || memchr(chat.s, '\0', chat.n))
        return model_state_refuse(o, GG_ERR_FORMAT,
                                  STATE_KEY_CHAT ": is no name");
    o->f->state.chat = o->f->chat = mem_strndup(chat.s, chat.n);
    return o->f->chat ? GG_OK : error_nomem(o->err);
}

/* ---- tensors ------------------------------------------------------------ */

enum gg_status
model_state_find(struct opener *o, const char *name, enum ggml_type type,
                 int64_t n0, int64_t n1, const struct gguf_tensor **out)
{
    const struct gguf_tensor *t = gguf_tensor_named(o->gguf, name);
    bool wanted = n0 && n1;

    if (!t && wanted)
        return model_state_refuse(o, GG_ERR_FORMAT, "%s: is missing", name);
    if (t && (!wanted || t->type != type || t->ne[0] != n0 || t->ne[1] != n1 ||
              t->ne[2] != 1 || t->ne[3] != 1))
        return model_state_refuse(
            o, GG_ERR_FORMAT,
            "%s: has not the type and shape that it should have", name);
    o->n_tensors += t != NULL;
    if (out)
        *out = t;
    return GG_OK;
}

/* ---- sums --------------------------------------------------------------- */

static enum gg_status
check_head(const struct opener *o, const struct gguf_tensor *sums)
{
    uint32_t crc =
        crc32_bytes(0, o->f->file.maps[0].data, gguf_get_data_offset(o->gguf));

    if (memcmp(sums->data, &crc, sizeof(crc)) != 0)
        return model_state_refuse(
            o, GG_ERR_FORMAT, "the file is damaged: the head's CRC is wrong");
    return GG_OK;
}

static bool
is_finite_half(const uint8_t *p)
{
    return (p[1] & 0x7c) != 0x7c;
}

static bool
is_finite_float(const uint8_t *p)
{
    return (p[3] & 0x7f) != 0x7f || !(p[2] & 0x80);
}

/* Blocks begin with their scale. */
static bool
all_finite(enum ggml_type type, const uint8_t *p, size_t size)
{
    size_t step = ggml_type_size(type);
    bool good = true;

    if (type == GGML_TYPE_F32)
        for (size_t i = 0; i < size; i += step)
            good &= is_finite_float(p + i);
    else if (type == GGML_TYPE_F16 || type == GGML_TYPE_Q8_0)
        for (size_t i = 0; i < size; i += step)
            good &= is_finite_half(p + i);
    return good;
}

/* In pieces that stay in a processor's cache. */
static enum gg_status
check_data(const struct opener *o, const struct gguf_tensor *t,
           const uint8_t *sum)
{
    size_t piece = ggml_type_size(t->type) * 1024, n;
    const uint8_t *p = t->data;
    char name[4 * GGML_MAX_NAME];
    bool finite = true;
    uint32_t crc = 0;

    for (size_t left = t->size; left; left -= n) {
        n = left < piece ? left : piece;
        crc = crc32_bytes(crc, p, n);
        finite = all_finite(t->type, p, n) && finite;
        p += n;
    }
    escape_bytes(name, sizeof(name), t->name, strlen(t->name));
    if (memcmp(sum, &crc, sizeof(crc)) != 0)
        return model_state_refuse(o, GG_ERR_FORMAT,
                                  "the file is damaged: the CRC of %s is wrong",
                                  name);
    if (!finite)
        return model_state_refuse(o, GG_ERR_FORMAT, "%s: a value is not finite",
                                  name);
    return GG_OK;
}

/* Of each tensor in the order of the table, but the last, that of the sums. */
static enum gg_status
check_sums(const struct opener *o)
{
    const struct gguf_tensor *sums = gguf_tensor_named(o->gguf, STATE_CRC);
    int64_t n = gguf_get_n_tensors(o->gguf);
    enum gg_status st = GG_OK;

    for (int64_t i = 0; i < n - 1 && st == GG_OK; i++)
        st = check_data(o, gguf_tensor(o->gguf, i),
                        (const uint8_t *)sums->data + 4 * (i + 1));
    return st;
}

/* It is the last, and as long as it must be. */
static enum gg_status
find_sums(struct opener *o)
{
    int64_t n = gguf_get_n_tensors(o->gguf);
    const struct gguf_tensor *sums;
    enum gg_status st;

    if (n == 0)
        return model_state_refuse(o, GG_ERR_FORMAT, "%s: is missing",
                                  STATE_CRC);
    st = model_state_find(o, STATE_CRC, GGML_TYPE_I32, n, 1, &sums);
    if (st == GG_OK && gguf_tensor(o->gguf, n - 1) != sums)
        return model_state_refuse(o, GG_ERR_FORMAT, "%s: is not the last",
                                  STATE_CRC);
    return st == GG_OK ? check_head(o, sums) : st;
}

/* ---- keys and values ---------------------------------------------------- */

static enum gg_status
count_rows(const struct opener *o)
{
    struct gg_state_file *f = o->f;
    size_t n = f->state.n_sequences;

    for (int k = 0; k < STATE_KINDS; k++) {
        int32_t window =
            k == STATE_KV_WINDOW ? o->session->model->hp.window : 0;
        int64_t *before = f->before[k] = mem_array(n + 1, sizeof(*before));

        if (!before)
            return error_nomem(o->err);
        for (size_t i = 0; i < n; i++) {
            int32_t held = (int32_t)f->sequences[i].n_held;

            before[i + 1] =
                before[i] + (k == STATE_RECURRENT
                                 ? held > 0
                                 : held - model_cache_first(window, held));
        }
    }
    return GG_OK;
}

static const int64_t *
rows_before(const struct gg_state_file *f, const struct gg_session *s,
            int32_t layer)
{
    return f->before[model_state_kind(s->model, layer)];
}

static enum gg_status
check_type(const struct opener *o)
{
    const struct gguf_tensor *t = model_state_any_keys(o->gguf);
    enum ggml_type own = o->session->cache.type;

    if (!t || t->type == own)
        return GG_OK;
    return model_state_refuse(
        o, GG_ERR_UNSUPPORTED,
        "keys and values of the state are of type %s, not %s: "
        "--cache-type must be as it was",
        ggml_type_name(t->type), ggml_type_name(own));
}

static enum gg_status
check_cache(struct opener *o)
{
    const struct cache *c = &o->session->cache;
    enum gg_status st = count_rows(o);

    for (int32_t i = 0; i < c->n_layer && st == GG_OK; i++) {
        int64_t rows =
            rows_before(o->f, o->session, i)[o->f->state.n_sequences];

        for (int k = 0; k < CACHE_TENSORS && st == GG_OK; k++) {
            const struct ggml_tensor *t = c->layers[i].t[k];

            if (!t)
                continue;
            st = model_state_find(o, t->name, c->type, model_state_width(t),
                                  rows, NULL);
        }
        for (int k = 0; k < CACHE_RECURRENT && st == GG_OK; k++) {
            const struct ggml_tensor *t = c->layers[i].states[k];

            if (t)
                st = model_state_find(
                    o, t->name, GGML_TYPE_F32, t->ne[0],
                    o->f->before[STATE_RECURRENT][o->f->state.n_sequences],
                    NULL);
        }
    }
    if (st == GG_OK && o->n_tensors != gguf_get_n_tensors(o->gguf))
        return model_state_refuse(o, GG_ERR_FORMAT,
                                  "has a tensor that is none of a state");
    return st;
}

/* ---- the file ----------------------------------------------------------- */

/* What is said soonest is what a user can get wrong. */
static enum gg_status
read_state(struct opener *o)
{
    enum gg_status st = check_kind(o);

    if (st == GG_OK)
        st = find_sums(o);
    if (st == GG_OK)
        st = check_model(o);
    if (st == GG_OK)
        st = check_kinds(o);
    if (st == GG_OK)
        st = check_adapters(o);
    if (st == GG_OK)
        st = check_rope(o);
    if (st == GG_OK)
        st = read_keys(o);
    if (st == GG_OK)
        st = check_type(o);
    if (st == GG_OK)
        st = check_sums(o);
    if (st == GG_OK)
        st = model_state_read_table(o);
    return st == GG_OK ? check_cache(o) : st;
}

enum gg_status
gg_state_open(const char *path, const struct gg_session *session,
              struct gg_state_file **out, struct gg_error *err)
{
    struct opener o = { .path = path, .session = session, .err = err };
    struct gg_state_file *f;
    enum gg_status st;

    if (!path || !session || !out)
        return error_null(err);
    o.f = f = mem_zalloc(sizeof(*f));
    st = f ? gguf_file_open(path, 0, &f->file, err) : error_nomem(err);
    if (st == GG_OK) {
        o.gguf = f->file.gguf;
        st = read_state(&o);
    }
    if (st == GG_OK)
        *out = f;
    else
        gg_state_close(f);
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
    for (int k = 0; k < STATE_KINDS; k++)
        mem_free(file->before[k]);
    mem_free(file);
}

const struct gg_state *
gg_state_get(const struct gg_state_file *file)
{
    return file ? &file->state : NULL;
}

/* ---- into a slot -------------------------------------------------------- */

/* The rows of sequence i. */
static void
set_rows(struct gg_session *s, const struct gg_state_file *f, int32_t slot,
         int32_t layer, size_t i, int k)
{
    const struct ggml_tensor *t = s->cache.layers[layer].t[k];
    const struct gguf_tensor *from = gguf_tensor_named(f->file.gguf, t->name);
    const int64_t *before = rows_before(f, s, layer);
    const struct cache *c = &s->cache;
    int32_t n = (int32_t)f->sequences[i].n_held;
    int32_t first = model_state_first(s->model, layer, n);
    int64_t to = model_cache_row(c, c->layers[layer].kind, slot, first);
    size_t size = model_cache_row_size(t);
    const char *rows = (const char *)from->data + (size_t)before[i] * size;

    for (n -= first; n > 0; n -= CACHE_BLOCK, to += CACHE_BLOCK) {
        model_session_set_rows(s, layer, k, to,
                               n < CACHE_BLOCK ? n : CACHE_BLOCK, rows);
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
        model_session_set_state(s, layer, k, slot,
                                from + (size_t)f->before[STATE_RECURRENT][i] *
                                           t->nb[1]);
    }
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
    model_slots_cut(&s->slots, slot, 0);
    model_slots_set_scales(&s->slots, slot, s->model->scales);
    if (q->n_held > (size_t)s->n_ctx || !model_slots_keep(&s->slots, &chunk))
        chunk.n = 0;
    model_session_assume(s, &chunk);
    if (chunk.n == 0)
        return 0;
    for (int32_t l = 0; l < s->cache.n_layer; l++) {
        for (int k = 0; k < CACHE_TENSORS && s->cache.layers[l].t[k]; k++)
            set_rows(s, file, slot, l, i, k);
        set_states(s, file, slot, l, i);
    }
    return (int32_t)q->n_held;
}
