/* features.c - hidden vectors of a model that its drafter reads */
#include "graph/arch.h"

void
graph_note_feature(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_drafting *d;

    if (!g->informs || g->model->arch->drafter)
        return;
    d = &g->model->drafter->hp.drafting;
    for (int32_t i = 0; i < d->n_features; i++)
        if (d->features[i] == layer)
            g->features[i] = x;
}

/* Features of each id, one after the other; NULL: there are none. */
static struct ggml_tensor *
join_features(struct graph *g, struct ggml_tensor *last)
{
    const struct model *m = g->model;
    const struct model_drafting *d = &m->drafter->hp.drafting;
    struct ggml_tensor *all = NULL;

    for (int32_t i = 0; i < d->n_features; i++) {
        struct ggml_tensor *x =
            d->features[i] == m->hp.n_layer ? last : g->features[i];

        all = all ? ggml_concat(g->ctx, all, x, 0) : x;
    }
    return all;
}

struct ggml_tensor *
graph_inform_drafter(struct graph *g, struct ggml_tensor *x)
{
    const struct model *m = g->model;
    struct ggml_tensor *last = x, *features;

    if (m->drafter->hp.drafting.features_normed)
        last = graph_norm(g, x, &m->output_norm);
    features = join_features(g, last);
    g->model = m->drafter;
    m->drafter->arch->drafter->feed(g, features);
    g->model = m;
    return g->rows ? ggml_get_rows(g->ctx, x, g->rows) : x;
}

struct ggml_tensor *
graph_draft(struct graph *g)
{
    const struct model *m = g->model;
    struct ggml_tensor *logits;

    g->model = m->drafter;
    logits = m->drafter->arch->drafter->draft(g);
    g->model = m;
    return logits;
}
