/* layer_embd.c - embeddings that each layer has of its own (Gemma 3n, 4;
 * EmbeddingGemma 2 has no table, and e = norm(project(x) / sqrt(n_embd)))
 *
 * e = (sqrt(d) table(ids) + norm(project(x) / sqrt(n_embd))) / sqrt(2)
 * y = norm(proj(gelu(gate(x)) * e[layer]))
 *
 * with d values a layer, x the usual embedding in the first line and a layer's
 * hidden vector in the second. The table is larger than all else of such a
 * model, and of it an id needs one row. */
#include "graph/graph.h"

#include <math.h>

/* From the usual embedding. */
static struct ggml_tensor *
project(struct graph *g, struct ggml_tensor *x)
{
    const struct model *m = g->model;
    const struct model_hparams *hp = &m->hp;

    x = graph_linear(g, x, &m->layer_embd_proj);
    x = ggml_scale(g->ctx, x, 1 / sqrtf((float)hp->n_embd));
    x = ggml_reshape_3d(g->ctx, x, hp->n_embd_layer, hp->n_layer, g->n_tokens);
    return graph_norm(g, x, &m->layer_embd_norm);
}

struct ggml_tensor *
graph_embed_layers(struct graph *g, struct ggml_tensor *x)
{
    const struct model_hparams *hp = &g->model->hp;
    struct ggml_tensor *e;

    if (!g->model->layer_embd_proj.weight)
        return NULL;
    if (!g->model->layer_embd)
        return project(g, x);
    e = ggml_get_rows(g->ctx, g->model->layer_embd, g->ids);
    e = ggml_scale(g->ctx, e, sqrtf((float)hp->n_embd_layer));
    e = ggml_reshape_3d(g->ctx, e, hp->n_embd_layer, hp->n_layer, g->n_tokens);
    return ggml_scale(g->ctx, ggml_add(g->ctx, project(g, x), e), sqrtf(0.5f));
}

struct ggml_tensor *
graph_layer_embd(struct graph *g, int32_t layer, struct ggml_tensor *x,
                 struct ggml_tensor *embedded)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *e;

    e = ggml_view_2d(g->ctx, embedded, embedded->ne[0], g->n_tokens,
                     embedded->nb[2], (size_t)layer * embedded->nb[1]);
    x = ggml_gelu(g->ctx, graph_linear(g, x, &l->embd_gate));
    x = ggml_mul(g->ctx, x, graph_wanted(g, layer, e));
    x = graph_linear(g, x, &l->embd_proj);
    return graph_norm(g, x, &l->embd_post_norm);
}
