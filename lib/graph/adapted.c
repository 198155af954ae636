/* adapted.c - what adapters change of a graph: the one place where a weight
 * meets them */
#include <stdlib.h>

#include "graph/adapter.h"
#include "graph/drafter.h"
#include "graph/graph.h"

/* ---- which of them count ------------------------------------------------- */

static bool
counts(const struct graph *g, size_t i)
{
    return g->scales && g->scales[i] != 0;
}

static int
by_address(const void *key, const void *element)
{
    const struct ggml_tensor *w = key;
    const struct model_change *c = element;

    return w < c->of ? -1 : w > c->of;
}

static void
mark_met(struct graph *g, size_t adapter, size_t i)
{
    if (g->met)
        g->met(g->met_data, adapter, i);
}

/* The change that adapter i makes to a weight; NULL: none, or it does not
 * count. */
static const struct model_change *
change_of(struct graph *g, size_t i, const struct ggml_tensor *w)
{
    const struct model_adapter *a = &g->model->adapters[i];
    const struct model_change *c;

    if (!w || !counts(g, i) || a->n_changes == 0)
        return NULL;
    c = bsearch(w, a->changes, a->n_changes, sizeof(*c), by_address);
    if (c)
        mark_met(g, i, (size_t)(c - a->changes));
    return c;
}

static const struct model_change *
change_of_embedding(struct graph *g, size_t i)
{
    const struct model_adapter *a = &g->model->adapters[i];

    if (!counts(g, i) || !a->embedding.of)
        return NULL;
    mark_met(g, i, a->n_changes);
    return &a->embedding;
}

/* ---- in a weight's place ------------------------------------------------- */

/* The weight, or what the last of several adapters puts in its place. */
struct ggml_tensor *
graph_weight(struct graph *g, struct ggml_tensor *w)
{
    struct ggml_tensor *r = w;

    for (size_t i = 0; i < g->model->files.n_adapters; i++) {
        const struct model_change *c = change_of(g, i, w);

        if (c && !c->b)
            r = c->a;
    }
    return r;
}

static struct ggml_tensor *
embedding_weight(struct graph *g)
{
    struct ggml_tensor *r = g->model->token_embd;

    for (size_t i = 0; i < g->model->files.n_adapters; i++) {
        const struct model_change *c = change_of_embedding(g, i);

        if (c && !c->b)
            r = c->a;
    }
    return r;
}

/* ---- added to it --------------------------------------------------------- */

static struct ggml_tensor *
multiply(struct graph *g, struct ggml_tensor *w, struct ggml_tensor *x,
         struct ggml_tensor *ids)
{
    return graph_product(g, ids ? ggml_mul_mat_id(g->ctx, w, x, ids)
                                : ggml_mul_mat(g->ctx, w, x));
}

/* y + scale * the product of the pair's second matrix with x. */
static struct ggml_tensor *
add_pair(struct graph *g, struct ggml_tensor *y, size_t i,
         const struct model_change *c, struct ggml_tensor *x,
         struct ggml_tensor *ids)
{
    x = multiply(g, c->b, x, ids);
    x = ggml_scale(g->ctx, x, c->scale * g->scales[i]);
    return ggml_add(g->ctx, y, x);
}

struct ggml_tensor *
graph_add_adapters(struct graph *g, struct ggml_tensor *y,
                   const struct ggml_tensor *w, struct ggml_tensor *x,
                   struct ggml_tensor *ids)
{
    for (size_t i = 0; i < g->model->files.n_adapters; i++) {
        const struct model_change *c = change_of(g, i, w);

        if (c && c->b)
            y = add_pair(g, y, i, c, multiply(g, c->a, x, ids), ids);
    }
    return y;
}

struct ggml_tensor *
graph_embed_rows(struct graph *g)
{
    struct ggml_tensor *y = ggml_get_rows(g->ctx, embedding_weight(g), g->ids);

    for (size_t i = 0; i < g->model->files.n_adapters; i++) {
        const struct model_change *c = change_of_embedding(g, i);

        if (c && c->b)
            y = add_pair(g, y, i, c, ggml_get_rows(g->ctx, c->a, g->ids), NULL);
    }
    return y;
}

/* ---- control vectors ----------------------------------------------------- */

struct ggml_tensor *
graph_steer(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    if (layer >= g->model->hp.n_layer) /* MTP layers have none */
        return x;
    x = graph_deepen(g, layer, x);
    for (size_t i = 0; i < g->model->files.n_adapters; i++) {
        const struct model_adapter *a = &g->model->adapters[i];

        if (!a->directions || !a->directions[layer] || !counts(g, i))
            continue;
        mark_met(g, i, (size_t)layer);
        if (layer >= a->file->first && layer <= a->file->last)
            x = ggml_add(
                g->ctx, x,
                ggml_scale(g->ctx, a->directions[layer], g->scales[i]));
    }
    graph_note_feature(g, layer + 1, x);
    return x;
}
