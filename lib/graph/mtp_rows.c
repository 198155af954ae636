/* mtp_rows.c - rows that layers of multi-token prediction read later */
#include "graph/mtp.h"

#include "graph/streams.h"

/* x of all ids, h: what each reads. */
struct ggml_tensor *
graph_mtp_joined(struct graph *g, const struct model_layer *l,
                 struct ggml_tensor *h)
{
    struct ggml_tensor *e =
        graph_norm(g, graph_embed_by(g, l->mtp_embd), &l->mtp_enorm);

    if (g->model->arch->mtp->streams) {
        e = graph_streams_spread(g, e);
        h = ggml_reshape_3d(g->ctx, h, e->ne[0], e->ne[1], e->ne[2]);
    }
    h = graph_norm(g, h, &l->mtp_hnorm);
    return graph_linear(g, ggml_concat(g->ctx, e, h, 0), &l->mtp_join);
}

/* Rows are kept once all that read what was there before have been recorded. */
void
graph_keep_hidden(struct graph *g, struct ggml_tensor *h)
{
    ggml_build_forward_expand(
        g->cgraph, ggml_set_rows(g->ctx, g->cache->mtp.rows, h, g->mtp_to));
}

struct ggml_tensor *
graph_hidden_before(struct graph *g, struct ggml_tensor *h)
{
    struct ggml_tensor *kept =
        ggml_get_rows(g->ctx, g->cache->mtp.rows, g->mtp_from);

    return ggml_get_rows(g->ctx, ggml_concat(g->ctx, kept, h, 1), g->mtp_shift);
}

void
graph_keep_last_hidden(struct graph *g, struct ggml_tensor *h)
{
    graph_keep_hidden(g, g->mtp_of ? ggml_get_rows(g->ctx, h, g->mtp_of) : h);
}

struct ggml_tensor *
graph_feed_mtp(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *y)
{
    const struct model *m = g->model;
    struct ggml_tensor *h = m->arch->mtp->raw ? x : y;
    struct ggml_tensor *before =
        g->feeds_keys ? graph_hidden_before(g, h) : NULL;

    for (int32_t i = m->hp.n_layer; before && i < graph_used_layers(&m->hp);
         i++) {
        const struct model_layer *l = &m->layers[i];
        struct ggml_tensor *c = graph_mtp_joined(g, l, before);

        if (m->arch->mtp->streams)
            c = graph_streams_read(g, &l->attn_hyper, c).c;
        graph_keep_attention(g, i, graph_norm(g, c, &l->attn_norm));
    }
    graph_keep_last_hidden(g, h);
    return g->rows ? ggml_get_rows(g->ctx, y, g->rows) : y;
}
