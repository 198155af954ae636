/* state_head.c - the keys of a state: what made it, and what goes on with it */
#include "session/state_head.h"

#include <stddef.h>
#include <string.h>

#include "core/mem.h"
#include "graph/adapter.h"
#include "graph/arch.h"

/* ---- the keys ----------------------------------------------------------- */

#define AT(member) offsetof(struct state_head, member)

/* In the order of a file. Those of arrays came with later versions. */
static const struct key {
    const char *name;
    enum gguf_type type; /* or that of an array's elements */
    size_t at;           /* in the head */
    unsigned has;        /* 0: it must be there */
    uint32_t array;      /* of this version and later ones; 0: it is none */
} keys[] = {
    { STATE_KEY_LAYERS, GGUF_TYPE_INT32, AT(layers), STATE_HAS_LAYERS, 2 },
    { "state.model.fingerprint", GGUF_TYPE_UINT64, AT(model), 0, 0 },
    { "state.model.architecture", GGUF_TYPE_STRING, AT(family),
      STATE_HAS_FAMILY, 0 },
    { STATE_KEY_ADAPTERS, GGUF_TYPE_UINT64, AT(adapters), 0, 3 },
    { "state.adapters.scales", GGUF_TYPE_FLOAT32, AT(scales), 0, 3 },
    { "state.adapters.names", GGUF_TYPE_STRING, AT(names), 0, 3 },
    { STATE_KEY_ROWS, GGUF_TYPE_STRING, AT(hashes), 0, 4 },
    { "state.rows.first", GGUF_TYPE_INT32, AT(first), 0, 4 },
    { "state.rows.count", GGUF_TYPE_INT32, AT(count), 0, 4 },
    { "state.rows.layout", GGUF_TYPE_INT32, AT(layout), 0, 4 },
    { "state.rows.positions", GGUF_TYPE_INT32, AT(positions), 0, 4 },
    { "state.rows.blocks", GGUF_TYPE_INT32, AT(blocks), 0, 4 },
    { "state.numbered", GGUF_TYPE_BOOL, AT(numbered), 0, 0 },
    { STATE_KEY_CHAT, GGUF_TYPE_STRING, AT(chat), STATE_HAS_CHAT, 0 },
    { STATE_KEY_DATE, GGUF_TYPE_UINT64, AT(date), STATE_HAS_DATE, 0 },
    { STATE_KEY_MIROSTAT, GGUF_TYPE_FLOAT64, AT(mirostat), STATE_HAS_MIROSTAT,
      0 },
    { STATE_KEY_SAMPLING, GGUF_TYPE_STRING, AT(sampling), STATE_HAS_SAMPLING,
      0 },
    { "state.rope.scaling", GGUF_TYPE_STRING, AT(scaling), 0, 0 },
    { "state.rope.factor", GGUF_TYPE_FLOAT32, AT(factor), 0, 0 },
    { "state.rope.base", GGUF_TYPE_FLOAT32, AT(base), 0, 0 },
    { "state.rope.original_context_length", GGUF_TYPE_UINT32, AT(n_ctx_orig), 0,
      0 },
    { "state.rope.long", GGUF_TYPE_BOOL, AT(longer), 0, 0 },
    { STATE_KEY_ROTATION, GGUF_TYPE_STRING, AT(rotation), STATE_HAS_ROTATION,
      0 },
};

enum {
    N_KEYS = sizeof(keys) / sizeof(*keys),
};

static void
set_array(struct gguf_context *g, const struct key *k,
          const struct gguf_array *a)
{
    if (k->type == GGUF_TYPE_STRING)
        gguf_set_strings(g, k->name, a->strings, a->n);
    else
        gguf_set_arr_data(g, k->name, k->type, a->data, a->n);
}

static void
set_value(struct gguf_context *g, const struct key *k, const void *value)
{
    const struct gguf_str *s = value;

    switch (k->type) {
    case GGUF_TYPE_UINT32:
        gguf_set_val_u32(g, k->name, *(const uint32_t *)value);
        break;
    case GGUF_TYPE_UINT64:
        gguf_set_val_u64(g, k->name, *(const uint64_t *)value);
        break;
    case GGUF_TYPE_FLOAT32:
        gguf_set_val_f32(g, k->name, *(const float *)value);
        break;
    case GGUF_TYPE_FLOAT64:
        gguf_set_val_f64(g, k->name, *(const double *)value);
        break;
    case GGUF_TYPE_BOOL:
        gguf_set_val_bool(g, k->name, *(const bool *)value);
        break;
    default:
        gguf_set_bytes(g, k->name, s->s, s->n);
    }
}

void
session_state_head_set(const struct state_head *h, struct gguf_context *g)
{
    gguf_set_val_str(g, "general.type", STATE_TYPE);
    gguf_set_val_u32(g, STATE_KEY_VERSION, h->version);
    for (const struct key *k = keys; k < keys + N_KEYS; k++) {
        const void *at = (const char *)h + k->at;

        if (k->array > h->version || (k->has && !(h->has & k->has)))
            continue;
        if (k->array)
            set_array(g, k, at);
        else
            set_value(g, k, at);
    }
}

static enum gg_status
get_value(const struct gguf_context *g, const struct key *k, void *out,
          struct gg_error *err)
{
    if (k->array)
        return gguf_get_array(g, k->name, k->type, out, err);
    switch (k->type) {
    case GGUF_TYPE_UINT32:
        return gguf_get_u32(g, k->name, out, err);
    case GGUF_TYPE_UINT64:
        return gguf_get_u64(g, k->name, out, err);
    case GGUF_TYPE_FLOAT32:
        return gguf_get_f32(g, k->name, out, err);
    case GGUF_TYPE_FLOAT64:
        return gguf_get_f64(g, k->name, out, err);
    case GGUF_TYPE_BOOL:
        return gguf_get_bool(g, k->name, out, err);
    default:
        return gguf_get_str(g, k->name, out, err);
    }
}

enum gg_status
session_state_head_get(struct state_head *h, const struct gguf_context *g,
                       struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (const struct key *k = keys; k < keys + N_KEYS && st == GG_OK; k++) {
        if (k->array > h->version || (k->has && gguf_find_key(g, k->name) < 0))
            continue;
        h->has |= k->has;
        st = get_value(g, k, (char *)h + k->at, err);
    }
    return st;
}

/* ---- a session's -------------------------------------------------------- */

static struct gguf_str
text(const char *s)
{
    return (struct gguf_str){ s, strlen(s) };
}

static void
set_rope(struct state_head *h, const struct gg_session *s)
{
    static const char *const names[] = {
        [ROPE_NONE] = "none",
        [ROPE_LINEAR] = "linear",
        [ROPE_YARN] = "yarn",
        [ROPE_LONG] = "longrope",
    };
    const struct model_rope *r = &s->model->rope;
    const struct rope_params *p = &r->params;

    h->scaling = text(names[ROPE_NONE]);
    if (p->n_rot == 0)
        return;
    h->scaling = text(names[p->scaling]);
    h->factor = p->factor;
    h->base = p->base;
    h->n_ctx_orig = (uint32_t)p->n_ctx_orig;
    h->longer = r->divisors_long && s->n_ctx > p->n_ctx_orig;
}

/* A file of a cache that is not rotated has no such key. */
static void
set_rotation(struct state_head *h, const struct cache_form *form)
{
    const bool *rotated = form->rotated;

    if (!rotated[CACHE_K] && !rotated[CACHE_V])
        return;
    h->has |= STATE_HAS_ROTATION;
    h->rotation = text(!rotated[CACHE_V]  ? "keys"
                       : rotated[CACHE_K] ? "both"
                                          : "values");
}

static bool
set_layers(struct state_head *h, const struct model *m)
{
    size_t n = (size_t)m->hp.n_layer;
    int32_t *kinds = h->own.layers = mem_array(n, sizeof(*kinds));

    for (size_t i = 0; i < n && kinds; i++)
        kinds[i] = (int32_t)session_state_kind(m, (int32_t)i);
    h->layers = (struct gguf_array){ GGUF_TYPE_INT32, n, kinds, NULL };
    return kinds;
}

/* Adapters whose scales are not 0. */
static bool
set_adapters(struct state_head *h, const struct model *m)
{
    size_t most = m->files.n_adapters, n = 0;
    uint64_t *prints = h->own.adapters = mem_array(most, sizeof(*prints));
    float *scales = h->own.scales = mem_array(most, sizeof(*scales));
    struct gguf_str *names = h->own.names = mem_array(most, sizeof(*names));

    if (!prints || !scales || !names)
        return false;
    for (size_t i = 0; i < most; i++) {
        if (m->scales[i] == 0)
            continue;
        prints[n] = graph_adapter_fingerprint(&m->adapters[i]);
        scales[n] = m->scales[i];
        names[n++] = text(m->files.adapters[i].path);
    }
    h->version = n ? STATE_ADAPTED : STATE_PLAIN;
    h->adapters = (struct gguf_array){ GGUF_TYPE_UINT64, n, prints, NULL };
    h->scales = (struct gguf_array){ GGUF_TYPE_FLOAT32, n, scales, NULL };
    h->names = (struct gguf_array){ GGUF_TYPE_STRING, n, NULL, names };
    return true;
}

enum gg_status
session_state_head_of(const struct gg_session *s, struct state_head *out,
                      struct gg_error *err)
{
    const struct model *m = s->model;

    *out = (struct state_head){
        .version = STATE_PLAIN,
        .has = STATE_HAS_LAYERS | STATE_HAS_FAMILY,
        .model = gguf_fingerprint(m->file->gguf),
        .family = text(m->arch->name),
    };
    set_rope(out, s);
    set_rotation(out, &s->cache.form);
    return set_layers(out, m) && set_adapters(out, m) ? GG_OK
                                                      : error_nomem(err);
}

void
session_state_head_clear(struct state_head *h)
{
    mem_free(h->own.layers);
    mem_free(h->own.adapters);
    mem_free(h->own.scales);
    mem_free(h->own.names);
    mem_free(h->own.digits);
    mem_free(h->own.hashes);
    mem_free(h->own.first);
    mem_free(h->own.count);
    mem_free(h->own.layout);
    mem_free(h->own.positions);
    mem_free(h->own.blocks);
}
