/* media_rows.c - rows of media in the places of embeddings */
#include "graph/arch.h"

struct ggml_tensor *
graph_put_rows(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *rows)
{
    return ggml_get_rows(g->ctx, ggml_concat(g->ctx, x, rows, 1), g->picks);
}

struct ggml_tensor *
graph_deepen(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    struct ggml_tensor *d = g->deeper;

    if (!d || layer >= g->n_deeper)
        return x;
    d = ggml_view_2d(g->ctx, d, d->ne[0], d->ne[1], d->nb[1],
                     (size_t)layer * d->nb[2]);
    return graph_put_rows(
        g, x, ggml_add(g->ctx, ggml_get_rows(g->ctx, x, g->given_at), d));
}
