/* media_test.h - media of copies of tokens' embeddings, for tests */
#ifndef SESSION_MEDIA_TEST_H
#define SESSION_MEDIA_TEST_H

#include <ggml-cpu.h>

#include "api/model.h"
#include "graph/arch.h"
#include "graph/graph.h"
#include "harness/session_test.h"

/* ---- what stands after the scale and the norm --------------------------- */

static inline bool
is_normed(const char *arch)
{
    static const char *const normed[] = { "bloom", "rwkv6", "rwkv7", "arwkv7",
                                          "muse-glimmer" };

    for (size_t i = 0; i < sizeof(normed) / sizeof(*normed); i++)
        if (!strcmp(normed[i], arch))
            return true;
    return false;
}

/* Rows of tokens, as the model's first layer reads them. */
static inline float *
copies_of(const struct gg_model *model, const int32_t *tokens, int32_t n)
{
    const struct model *m = model->model;
    struct ggml_init_params p = { .mem_size = 64 << 20 };
    struct ggml_context *ctx = ggml_init(p);
    struct graph g = { .ctx = ctx, .model = m, .n_tokens = n };
    size_t size = (size_t)n * (size_t)m->hp.n_embd * sizeof(float);
    float *rows = malloc(size);
    struct ggml_tensor *x;
    struct ggml_cgraph *graph;

    g.ids = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, n);
    memcpy(g.ids->data, tokens, (size_t)n * sizeof(*tokens));
    x = !is_normed(m->arch->name)
            ? graph_embed(&g)
            : graph_embed_normed(&g, strcmp(m->arch->name, "muse-glimmer")
                                         ? &m->embd_norm
                                         : NULL);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, x);
    if (!rows || ggml_graph_compute_with_ctx(ctx, graph, 1))
        exit(99);
    memcpy(rows, x->data, size);
    ggml_free(ctx);
    return rows;
}

static inline struct gg_medium
medium_of(const struct gg_model *m, const float *rows, int32_t n, int name)
{
    struct gg_medium x = { .n = (size_t)n,
                           .width = (size_t)gg_model_n_embd(m),
                           .rows = rows };

    memset(x.hash, name, sizeof(x.hash));
    return x;
}

#endif
