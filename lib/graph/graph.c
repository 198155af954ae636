/* graph.c - what the families share: the parts of a transformer */
#include "graph/graph.h"

#include <math.h>
#include <string.h>

#include "graph/adapter.h"
#include "graph/arch.h"

enum {
    NODES_PER_LAYER = 96,
    NODES_ALTUP = 64,      /* of each layer, where vectors are parallel */
    NODES_PER_SEGMENT = 8, /* of each layer */
    NODES_PER_RELATIVE = 20,
    NODES_PER_RECURRENCE = 48,
    NODES_PER_MEDIA = 6, /* of each layer, and before the first */
    NODES_BESIDE = 32 + NODES_PER_MEDIA,
};

/* MTP layers, here or in another process, read what the last layer gives of all
 * ids. */
static bool
gives_all_rows(const struct graph *g)
{
    return g->feeds || (g->leaves && g->model->hp.n_mtp > 0);
}

size_t
graph_max_nodes(const struct model *model, int32_t n_segments)
{
    size_t a_layer = NODES_PER_LAYER + NODES_PER_MEDIA +
                     NODES_PER_SEGMENT * (size_t)n_segments +
                     2 * (size_t)model->hp.n_expert_used;

    if (model->hp.n_altup > 0)
        a_layer += NODES_ALTUP;
    if (model->hp.n_bucket > 0)
        a_layer += NODES_PER_RELATIVE * (size_t)n_segments;
    if (model->arch->recur || model->arch->time_mix)
        a_layer += NODES_PER_RECURRENCE * (size_t)n_segments;
    return a_layer * (size_t)graph_used_layers(&model->hp) +
           (CACHE_KINDS + 1) * (size_t)n_segments + NODES_BESIDE +
           graph_adapters_max_nodes(model);
}

static struct ggml_tensor *
input(struct graph *g, enum ggml_type type, int64_t n, const char *name)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(g->ctx, type, n);

    ggml_set_name(t, name);
    ggml_set_input(t);
    return t;
}

static struct ggml_tensor *
new_mask(struct graph *g, const char *name, int32_t segment, int64_t n_keys)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(g->ctx, GGML_TYPE_F16, n_keys,
                                               g->segments[segment].n);

    ggml_format_name(t, "%s.%d", name, (int)segment);
    ggml_set_input(t);
    return t;
}

static void
new_cache_inputs(struct graph *g, enum cache_kind kind)
{
    static const char *const names[CACHE_KINDS][2] = {
        { "cells", "mask" },
        { "cells_window", "mask_window" },
    };
    bool needed = g->cache->parts[kind].n_layer > 0;

    g->cells[kind] = NULL;
    if (needed)
        g->cells[kind] = input(g, GGML_TYPE_I64, g->n_tokens, names[kind][0]);
    for (int32_t i = 0; i < g->n_segments; i++) {
        struct graph_segment *s = &g->segments[i];

        s->masks[kind] = NULL;
        if (needed)
            s->masks[kind] = new_mask(g, names[kind][1], i, s->keys[kind].n);
    }
}

static void
new_packing_mask(struct graph *g, enum cache_kind kind)
{
    struct graph_packing *p = &g->packing;
    bool needed = false;

    for (int32_t i = 0; i < g->model->hp.n_layer; i++)
        needed =
            needed || g->model->layers[i].windowed == (kind == CACHE_WINDOW);
    p->masks[kind] = NULL;
    if (!needed)
        return;
    p->masks[kind] = ggml_new_tensor_4d(g->ctx, GGML_TYPE_F32, p->length,
                                        p->length, 1, p->n_rows);
    ggml_set_name(p->masks[kind],
                  kind == CACHE_WINDOW ? "mask_window" : "mask");
    ggml_set_input(p->masks[kind]);
}

static void
new_buckets(struct graph *g)
{
    for (int32_t i = 0; i < g->n_segments; i++) {
        struct graph_segment *s = &g->segments[i];

        s->buckets = NULL;
        if (g->model->hp.n_bucket > 0) {
            s->buckets = input(g, GGML_TYPE_I32, (int64_t)s->n * s->n, "");
            ggml_format_name(s->buckets, "buckets.%d", (int)i);
        }
    }
}

static void
new_inputs(struct graph *g)
{
    g->ids = input(g, GGML_TYPE_I32, g->n_tokens, "ids");
    g->positions = input(g, GGML_TYPE_I32,
                         g->turned ? (int64_t)GGML_MROPE_SECTIONS * g->n_tokens
                                   : g->n_tokens,
                         "positions");
    g->rows = NULL;
    if (g->n_outputs < g->n_tokens)
        g->rows = input(g, GGML_TYPE_I32, g->n_outputs, "rows");
    g->types = NULL;
    if (g->model->hp.typed_pairs)
        g->types = input(g, GGML_TYPE_I32, g->n_tokens, "types");
    g->temperature = NULL;
    if (g->model->hp.temperature_scale != 0)
        g->temperature = input(g, GGML_TYPE_F32, g->n_tokens, "temperature");
    g->slots = NULL;
    if (g->model->arch->recur)
        g->slots = input(g, GGML_TYPE_I32, g->n_segments, "slots");
    new_buckets(g);
    for (int kind = 0; kind < CACHE_KINDS; kind++)
        if (g->packing.n_rows > 0)
            new_packing_mask(g, kind);
        else
            new_cache_inputs(g, kind);
}

/* Rows of media, and their places. */
static void
new_given(struct graph *g)
{
    int64_t n_embd = g->model->hp.n_embd, n = g->n_given;

    g->given = g->deeper = g->given_at = g->picks = NULL;
    if (n == 0)
        return;
    g->picks = input(g, GGML_TYPE_I32, g->n_tokens, "picks");
    g->given = ggml_new_tensor_2d(g->ctx, GGML_TYPE_F32, n_embd, n);
    ggml_set_name(g->given, "given");
    ggml_set_input(g->given);
    if (g->n_deeper == 0)
        return;
    g->given_at = input(g, GGML_TYPE_I32, n, "given_at");
    g->deeper =
        ggml_new_tensor_3d(g->ctx, GGML_TYPE_F32, n_embd, n, g->n_deeper);
    ggml_set_name(g->deeper, "deeper");
    ggml_set_input(g->deeper);
}

/* Of hidden vectors that MTP layers read, and leave. */
static void
new_mtp_inputs(struct graph *g)
{
    int32_t n = 0;

    g->mtp_from = g->mtp_shift = g->mtp_of = g->mtp_to = NULL;
    if (g->mtp > 0) {
        g->mtp_from = input(g, GGML_TYPE_I32, g->n_tokens, "mtp_from");
        g->mtp_to = input(g, GGML_TYPE_I64, g->n_outputs, "mtp_to");
    }
    if (!g->feeds)
        return;
    for (int32_t i = 0; i < g->n_segments; i++)
        n += graph_mtp_kept(g->segments[i].n);
    g->mtp_from = input(g, GGML_TYPE_I32, g->n_segments, "mtp_from");
    g->mtp_shift = input(g, GGML_TYPE_I32, g->n_tokens, "mtp_shift");
    g->mtp_to = input(g, GGML_TYPE_I64, n, "mtp_to");
    if (n < g->n_tokens)
        g->mtp_of = input(g, GGML_TYPE_I32, n, "mtp_of");
}

static struct ggml_tensor *
build_layers(struct graph *g)
{
    const struct model *m = g->model;

    return m->arch->graph ? m->arch->graph(g, m) : graph_decoder(g, m);
}

void
graph_build(struct graph *g, size_t max_nodes)
{
    g->cgraph = ggml_new_graph_custom(g->ctx, max_nodes, false);
    g->last = gives_all_rows(g) ? -1 : g->model->hp.n_layer - 1 + g->mtp;
    new_inputs(g);
    new_given(g);
    new_mtp_inputs(g);
    g->entered = g->left = NULL;
    g->result = g->mtp ? graph_mtp(g) : build_layers(g);
    if (g->leaves)
        g->result = g->left;
    ggml_set_name(g->result, g->leaves   ? "activations"
                             : g->hidden ? "hidden"
                                         : "logits");
    ggml_set_output(g->result);
    ggml_build_forward_expand(g->cgraph, g->result);
    if (g->named)
        graph_name(g);
}

struct ggml_tensor *
graph_product(struct graph *g, struct ggml_tensor *product)
{
    if (g->bf16)
        ggml_mul_mat_set_prec(product, GGML_PREC_BF16);
    return product;
}

static struct ggml_tensor *
scaled(struct graph *g, struct ggml_tensor *x)
{
    float scale = g->model->hp.embd_scale;

    return scale != 0 ? ggml_scale(g->ctx, x, scale) : x;
}

/* x with the rows in the places of media. */
static struct ggml_tensor *
put_rows(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *rows)
{
    return ggml_get_rows(g->ctx, ggml_concat(g->ctx, x, rows, 1), g->picks);
}

static struct ggml_tensor *
with_given(struct graph *g, struct ggml_tensor *x)
{
    return g->given ? put_rows(g, x, g->given) : x;
}

struct ggml_tensor *
graph_embed(struct graph *g)
{
    return with_given(g, scaled(g, graph_embed_rows(g)));
}

struct ggml_tensor *
graph_embed_normed(struct graph *g, const struct model_norm *norm)
{
    struct ggml_tensor *x = scaled(g, graph_embed_rows(g));

    return with_given(g,
                      norm ? graph_norm(g, x, norm) : graph_norm_plain(g, x));
}

struct ggml_tensor *
graph_embed_by(struct graph *g, struct ggml_tensor *table)
{
    return with_given(g, scaled(g, ggml_get_rows(g->ctx, table, g->ids)));
}

struct ggml_tensor *
graph_deepen(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    struct ggml_tensor *d = g->deeper;

    if (!d || layer >= g->n_deeper)
        return x;
    d = ggml_view_2d(g->ctx, d, d->ne[0], d->ne[1], d->nb[1],
                     (size_t)layer * d->nb[2]);
    return put_rows(g, x,
                    ggml_add(g->ctx, ggml_get_rows(g->ctx, x, g->given_at), d));
}

struct ggml_tensor *
graph_enter(struct graph *g, struct ggml_tensor *x)
{
    int64_t ne[GGML_MAX_DIMS];

    if (g->first == 0)
        return x;
    memcpy(ne, x->ne, sizeof(ne));
    /* the last gave what is wanted */
    if (g->first == g->model->hp.n_layer && !gives_all_rows(g))
        ne[g->model->hp.n_altup > 0 ? 2 : 1] = g->n_outputs;
    g->entered = ggml_new_tensor(g->ctx, GGML_TYPE_F32, GGML_MAX_DIMS, ne);
    ggml_set_name(g->entered, "entered");
    ggml_set_input(g->entered);
    return g->entered;
}

struct ggml_tensor *
graph_leave(struct graph *g, struct ggml_tensor *x)
{
    return g->left = x;
}

struct ggml_tensor *
graph_embed_positions(struct graph *g)
{
    return ggml_get_rows(g->ctx, g->model->position_embd, g->positions);
}

struct ggml_tensor *
graph_add_token_type(struct graph *g, struct ggml_tensor *x)
{
    struct ggml_tensor *types = g->model->token_types, *first;

    if (!types)
        return x;
    if (g->types)
        return ggml_add(g->ctx, x, ggml_get_rows(g->ctx, types, g->types));
    first = ggml_view_1d(g->ctx, types, types->ne[0], 0);
    if (types->type != GGML_TYPE_F32)
        first = ggml_cast(g->ctx, first, GGML_TYPE_F32);
    return ggml_add(g->ctx, x, first);
}

struct ggml_tensor *
graph_norm_plain(struct graph *g, struct ggml_tensor *x)
{
    const struct model_hparams *hp = &g->model->hp;

    return hp->norms == MODEL_LAYER_NORM ? ggml_norm(g->ctx, x, hp->eps)
                                         : ggml_rms_norm(g->ctx, x, hp->eps);
}

struct ggml_tensor *
graph_norm(struct graph *g, struct ggml_tensor *x,
           const struct model_norm *norm)
{
    if (!norm->weight)
        return x;
    return graph_scale_norm(g, graph_norm_plain(g, x), norm);
}

struct ggml_tensor *
graph_scale_norm(struct graph *g, struct ggml_tensor *x,
                 const struct model_norm *norm)
{
    x = ggml_mul(g->ctx, x, graph_weight(g, norm->weight));
    return norm->bias ? ggml_add(g->ctx, x, graph_weight(g, norm->bias)) : x;
}

struct ggml_tensor *
graph_linear(struct graph *g, struct ggml_tensor *x,
             const struct model_linear *linear)
{
    struct ggml_tensor *w = graph_weight(g, linear->weight), *y;

    y = graph_product(g, ggml_mul_mat(g->ctx, w, x));
    if (linear->scale != 1 && w == linear->weight)
        y = ggml_scale(g->ctx, y, linear->scale);
    y = graph_add_adapters(g, y, linear->weight, x, NULL);
    return linear->bias ? ggml_add(g->ctx, y, graph_weight(g, linear->bias))
                        : y;
}

struct ggml_tensor *
graph_heads(struct graph *g, struct ggml_tensor *x, int32_t d, int32_t n_head)
{
    return ggml_reshape_3d(g->ctx, x, d, n_head, g->n_tokens);
}

bool
graph_rope_has_sections(const struct model_hparams *hp)
{
    return hp->rope.section_mode != 0;
}

/* Each pair by the position of its section. */
static struct ggml_tensor *
turn_by_sections(struct graph *g, const struct model_rope *r,
                 struct ggml_tensor *x, struct ggml_tensor *divisors)
{
    int sections[GGML_MROPE_SECTIONS];

    for (int i = 0; i < GGML_MROPE_SECTIONS; i++)
        sections[i] = r->params.sections[i];
    return ggml_rope_multi(g->ctx, x, g->positions, divisors, r->params.n_rot,
                           sections, r->params.section_mode,
                           r->params.n_ctx_orig, r->params.base, r->scale, 0,
                           r->magnitude, 32, 1);
}

struct ggml_tensor *
graph_rope(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_rope *r = g->model->layers[layer].rope;
    struct ggml_tensor *divisors;
    int32_t n_ctx;

    if (!r)
        return x;
    /* Packed rows are as a session of the model's own context. */
    n_ctx = g->packing.n_rows > 0 ? g->model->hp.n_ctx_train : g->cache->n_ctx;
    divisors = r->divisors;
    if (r->divisors_long && n_ctx > r->params.n_ctx_orig)
        divisors = r->divisors_long;
    if (g->turned)
        return turn_by_sections(g, r, x, divisors);
    return ggml_rope_ext(g->ctx, x, g->positions, divisors, r->params.n_rot,
                         r->params.mode, r->params.n_ctx_orig, r->params.base,
                         r->scale, 0, r->magnitude, 32, 1);
}

/* The graph runs in the order of recording: what attention reads after this,
 * it reads from the cache. x: d x heads x n_tokens, the heads side by side. */
static void
store(struct graph *g, struct ggml_tensor *cache, enum cache_kind kind,
      struct ggml_tensor *x)
{
    struct ggml_tensor *rows = ggml_permute(g->ctx, x, 0, 2, 1, 3);

    ggml_build_forward_expand(
        g->cgraph, ggml_set_rows(g->ctx, cache, rows, g->cells[kind]));
}

/* What the segment sees of a layer's cache: d x keys x n_head_kv. */
static struct ggml_tensor *
cached(struct graph *g, const struct graph_segment *s, enum cache_kind kind,
       struct ggml_tensor *t)
{
    const struct cache_range *keys = &s->keys[kind];
    size_t first = (size_t)s->slot * (size_t)g->cache->parts[kind].n_rows +
                   (size_t)keys->row;

    return ggml_view_3d(g->ctx, t, t->ne[0], keys->n, t->ne[2], t->nb[1],
                        t->nb[2], first * t->nb[1]);
}

static struct ggml_tensor *
segment_queries(struct graph *g, const struct graph_segment *s,
                struct ggml_tensor *q)
{
    if (g->n_segments > 1)
        q = ggml_view_3d(g->ctx, q, q->ne[0], q->ne[1], s->n, q->nb[1],
                         q->nb[2], (size_t)s->first * q->nb[2]);
    return ggml_permute(g->ctx, q, 0, 2, 1, 3);
}

/* What the layer reads: its own, or another's. */
static const struct cache_layer *
cache_of(const struct graph *g, int32_t layer)
{
    return &g->cache->layers[g->model->hp.layers[layer].kv_layer];
}

/* The first d_value of keys. */
static struct ggml_tensor *
values_in(struct graph *g, struct ggml_tensor *k, int32_t d_value)
{
    return ggml_view_3d(g->ctx, k, d_value, k->ne[1], k->ne[2], k->nb[1],
                        k->nb[2], 0);
}

float
graph_attention_scale(const struct model *m, int32_t layer)
{
    const struct model_rope *rope = m->layers[layer].rope;
    float scale = m->hp.attn_scale != 0
                      ? m->hp.attn_scale
                      : 1 / sqrtf((float)m->hp.layers[layer].d_key);

    return rope ? scale * rope->attention : scale;
}

/* Result: d_value x n_head x s->n. */
static struct ggml_tensor *
attend(struct graph *g, const struct graph_segment *s, int32_t layer,
       struct ggml_tensor *q)
{
    const struct model_hparams *hp = &g->model->hp;
    const struct cache_layer *l = cache_of(g, layer);
    struct ggml_tensor *k = cached(g, s, l->kind, l->t[CACHE_K]);
    struct ggml_tensor *v = l->t[CACHE_V]
                                ? cached(g, s, l->kind, l->t[CACHE_V])
                                : values_in(g, k, hp->layers[layer].d_value);
    struct ggml_tensor *r = ggml_flash_attn_ext(
        g->ctx, segment_queries(g, s, q), k, v, s->masks[l->kind],
        graph_attention_scale(g->model, layer), hp->attn_max_bias,
        hp->attn_softcap);

    if (g->model->layers[layer].attn_sinks)
        ggml_flash_attn_ext_add_sinks(r, g->model->layers[layer].attn_sinks);
    ggml_flash_attn_ext_set_prec(r, GGML_PREC_F32);
    return r;
}

/* Results of the segments from `first` to before `end`, one after the other.
 * They are put together in halves: a chain of segments would copy the first of
 * them as often as there are others. */
static struct ggml_tensor *
attend_each(struct graph *g, int32_t first, int32_t end, int32_t layer,
            struct ggml_tensor *q)
{
    int32_t middle = first + (end - first) / 2;
    struct ggml_tensor *a, *b;

    if (end - first == 1)
        return attend(g, &g->segments[first], layer, q);
    a = attend_each(g, first, middle, layer, q);
    b = attend_each(g, middle, end, layer, q);
    return ggml_concat(g->ctx, a, b, 2);
}

void
graph_keep(struct graph *g, int32_t layer, struct ggml_tensor *k,
           struct ggml_tensor *v)
{
    const struct cache_layer *l = &g->cache->layers[layer];

    if (k)
        store(g, l->t[CACHE_K], l->kind, k);
    if (v)
        store(g, l->t[CACHE_V], l->kind, v);
}

struct ggml_tensor *
graph_attention(struct graph *g, int32_t layer, struct ggml_tensor *q,
                struct ggml_tensor *k, struct ggml_tensor *v)
{
    const struct model_layer_hparams *hp = &g->model->hp.layers[layer];
    struct ggml_tensor *all;

    if (g->packing.n_rows > 0)
        return graph_packed_attention(g, layer,
                                      &(struct graph_heads){ q, k, v, NULL });
    graph_keep(g, layer, k, v);
    all = attend_each(g, 0, g->n_segments, layer, q);
    return ggml_reshape_2d(g->ctx, all, (int64_t)hp->d_value * hp->n_head,
                           g->n_tokens);
}

struct ggml_tensor *
graph_wanted(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    if (layer == g->last && g->rows)
        return ggml_get_rows(g->ctx, x, g->rows);
    return x;
}
