/* mtp.c - layers for ids beyond the next: multi-token prediction */
#include "graph/mtp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/arch.h"
#include "graph/streams.h"

const struct model_mtp_kind graph_mtp_usual = { .block = graph_block };
const struct model_mtp_kind graph_mtp_raw = { .raw = true,
                                              .block = graph_block };

/* ---- hyper-parameters --------------------------------------------------- */

static enum gg_status
refuse(const struct gguf_context *gguf, const struct model *m, const char *why,
       struct gg_error *err)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.nextn_predict_layers", m->arch->name);
    gguf_bad_value(gguf, key, err, "%s", why);
    return GG_ERR_UNSUPPORTED;
}

/* It is attention, and a feed-forward block or a mixture. */
static bool
is_usual(const struct model_layer_hparams *l)
{
    return !l->recurs && l->n_head > 0 && l->n_head_kv > 0 && l->n_ff > 0;
}

enum gg_status
graph_mtp_use(const struct gguf_context *gguf, struct model *m,
              struct gg_error *err)
{
    m->hp.n_mtp = m->hp.n_drafter;
    if (m->hp.n_drafter > 0)
        return GG_OK;
    if (m->hp.n_after == 0)
        return refuse(gguf, m, "the file has no MTP layers", err);
    if (!m->arch->mtp)
        return refuse(gguf, m,
                      "MTP layers of this family are not known here: drafts "
                      "come from the text (prompt) or from another model",
                      err);
    for (int32_t i = m->hp.n_layer; i < graph_all_layers(&m->hp); i++)
        if (!is_usual(&m->hp.layers[i]))
            return refuse(gguf, m,
                          "a layer without attention or without a "
                          "feed-forward block: no MTP layer that is known",
                          err);
    m->hp.n_mtp = m->hp.n_after;
    return GG_OK;
}

/* ---- tensors ------------------------------------------------------------ */

/* Its own, of one of two names, or the model's. */
static struct model_norm
find_norm(struct model_loader *l)
{
    int64_t e = l->model->hp.n_embd;
    struct model_norm norm = graph_find_norm_or_none(
        l, ".nextn.shared_head_norm", e, MODEL_OPTIONAL);

    if (!norm.weight)
        norm =
            graph_find_norm_or_none(l, ".layer_output_norm", e, MODEL_OPTIONAL);
    return norm.weight ? norm : l->model->output_norm;
}

void
graph_mtp_find(struct model_loader *l, struct model_layer *layer)
{
    struct model *m = l->model;
    int64_t e = m->hp.n_embd, v = m->hp.n_vocab;

    layer->mtp_join =
        graph_find_linear(l, ".nextn.eh_proj", 2 * e, e, MODEL_OPTIONAL);
    layer->mtp_enorm = graph_find_norm(l, ".nextn.enorm", e, MODEL_OPTIONAL);
    layer->mtp_hnorm = graph_find_norm(l, ".nextn.hnorm", e, MODEL_OPTIONAL);
    layer->mtp_norm = find_norm(l);
    if (m->arch->mtp->streams)
        graph_find_mtp_stream(l, layer);
    layer->mtp_embd = graph_find_table_or_none(l, ".nextn.embed_tokens", e, v);
    if (!layer->mtp_embd)
        layer->mtp_embd = m->token_embd;
    layer->mtp_output = graph_find_linear_or_none(l, ".nextn.shared_head_head",
                                                  e, v, MODEL_OPTIONAL);
    if (!layer->mtp_output.weight)
        layer->mtp_output = m->output;
}

int64_t
graph_mtp_width(const struct model *m)
{
    int64_t n = m->hp.n_embd;

    if (m->drafter)
        return m->drafter->hp.drafting.d_kept;
    return m->arch->mtp && m->arch->mtp->streams ? n * m->hp.n_stream : n;
}

/* ---- sizes -------------------------------------------------------------- */

static bool
is_of_layer(const struct model *m, const char *name)
{
    if (m->drafter)
        return graph_is_drafters(name);
    return strncmp(name, "blk.", 4) == 0 &&
           strtol(name + 4, NULL, 10) >= m->hp.n_layer;
}

void
graph_mtp_sizes(const struct model *m, const struct cache *cache,
                uint64_t *weights, uint64_t *in_cache)
{
    *weights = 0;
    *in_cache = cache->mtp.n ? ggml_nbytes(cache->mtp.rows) : 0;
    for (int i = 0; i < m->n_homes; i++) {
        struct ggml_tensor *t = ggml_get_first_tensor(m->homes[i].ctx);

        for (; t; t = ggml_get_next_tensor(m->homes[i].ctx, t))
            *weights += is_of_layer(m, t->name) ? ggml_nbytes(t) : 0;
    }
    for (int32_t i = cache->n_layer; i < cache->n_all; i++)
        for (int k = 0; k < CACHE_TENSORS; k++)
            if (cache->layers[i].t[k])
                *in_cache += ggml_nbytes(cache->layers[i].t[k]);
}

/* ---- graphs ------------------------------------------------------------- */

static struct ggml_tensor *
norm_last(struct graph *g, const struct model_layer *l, struct ggml_tensor *x)
{
    if (!g->model->arch->mtp->to_mean)
        return graph_norm(g, x, &l->mtp_norm);
    x = ggml_norm(g->ctx, x, g->model->hp.eps);
    x = ggml_mul(g->ctx, x, l->mtp_norm.weight);
    return l->mtp_norm.bias ? ggml_add(g->ctx, x, l->mtp_norm.bias) : x;
}

struct ggml_tensor *
graph_mtp(struct graph *g)
{
    int32_t layer = g->model->hp.n_layer + g->mtp - 1;
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_mtp_kind *kind = g->model->arch->mtp;
    struct ggml_tensor *x, *y;

    if (g->model->drafter)
        return graph_draft(g);
    x = ggml_get_rows(g->ctx, g->cache->mtp.rows, g->mtp_from);
    x = kind->block(g, layer, graph_mtp_joined(g, l, x));
    y = norm_last(g, l, kind->streams ? graph_streams_merge_mtp(g, l, x) : x);
    if (kind->streams)
        x = ggml_reshape_2d(g->ctx, x, x->ne[0] * x->ne[1], x->ne[2]);
    graph_keep_hidden(g, kind->raw ? x : y);
    return graph_logits_by(g, &l->mtp_output, y);
}
