/* ngrams.c - embeddings of n-grams of ids, which one layer adds (Qwen) */
#include "graph/ngrams.h"

#include <math.h>

#include "graph/streams.h"

/* ---- rows of the table -------------------------------------------------- */

void
graph_ngram_rows(const struct model_ngrams *n, const int32_t *ids,
                 int32_t *rows)
{
    int32_t each = n->n_heads / (n->n - 1);
    uint64_t mixed = (uint64_t)ids[0] * n->factors[0];
    bool ended = false;

    for (int32_t k = 1; k < n->n; k++) {
        ended = ended || ids[k] == n->end;
        mixed ^= (uint64_t)(ended ? n->end : ids[k]) * n->factors[k];
        for (int32_t i = 0; i < each; i++) {
            const struct model_ngram_head *h = &n->heads[(k - 1) * each + i];

            rows[(k - 1) * each + i] = h->first + (int32_t)(mixed % h->size);
        }
    }
}

/* ---- tensors ------------------------------------------------------------ */

/* At least as many rows as heads choose from: files may have some more. */
static struct ggml_tensor *
find_ngram_table(struct model_loader *l)
{
    static const char name[] = "per_layer_token_embd";
    const struct model_ngrams *n = &l->model->hp.ngrams;
    const struct gguf_tensor *t = graph_peek(l, name);
    int64_t rows = n->n_rows;

    if (t && t->ne[1] > rows && t->ne[1] <= INT32_MAX)
        rows = t->ne[1];
    return graph_find_sparse_table(l, name, n->d_row, rows);
}

void
graph_find_ngrams(struct model_loader *l, struct model_layer *layer)
{
    const struct model_ngrams *n = &l->model->hp.ngrams;
    int64_t e = l->model->hp.n_embd, all = e * l->model->hp.n_stream;
    int64_t in = (int64_t)n->n_heads * n->d_row;
    int64_t kernel[GGML_MAX_DIMS] = { n->d_conv, all, 1, 1 };
    struct model_ngram_layer *x = &layer->ngrams;

    x->table = find_ngram_table(l);
    x->key = graph_find_linear(l, ".ple_key", in, all, MODEL_OPTIONAL);
    x->value = graph_find_linear(l, ".ple_value", in, e, MODEL_OPTIONAL);
    x->key_norm = graph_find_stream_norm(l, ".ple_norm_key");
    x->query_norm = graph_find_stream_norm(l, ".ple_norm_query");
    x->conv_norm = graph_find_stream_norm(l, ".ple_norm_conv");
    x->conv = graph_find_filters(l, ".ple_conv1d.weight", kernel);
}

/* ---- graph -------------------------------------------------------------- */

/* n_embd x n_stream x n_tokens: the values, each stream's times its gate. */
static struct ggml_tensor *
gated_values(struct graph *g, const struct model_ngram_layer *l,
             struct ggml_tensor *x)
{
    int64_t n = x->ne[2];
    struct ggml_tensor *e, *k, *s, *v;

    e = ggml_get_rows(g->ctx, l->table, g->ngrams);
    e = ggml_reshape_2d(g->ctx, e, ggml_nelements(e) / n, n);
    k = graph_linear(g, e, &l->key);
    k = ggml_reshape_3d(g->ctx, k, x->ne[0], x->ne[1], n);
    k = graph_norm_streams(g, k, &l->key_norm);
    x = graph_norm_streams(g, x, &l->query_norm);
    s = ggml_sum_rows(g->ctx, ggml_mul(g->ctx, k, x));
    s = ggml_scale(g->ctx, s, 1 / sqrtf((float)x->ne[0]));
    k = ggml_clamp(g->ctx, ggml_abs(g->ctx, s), 1e-6f, INFINITY);
    k = ggml_mul(g->ctx, ggml_sqrt(g->ctx, k), ggml_sgn(g->ctx, s));
    v = graph_streams_spread(g, graph_linear(g, e, &l->value));
    return ggml_mul(g->ctx, v, ggml_sigmoid(g->ctx, k));
}

/* d_conv rows of n_stream * n_embd, of any type that files may have. */
static struct ggml_tensor *
kernel_rows(struct graph *g, struct ggml_tensor *conv)
{
    struct ggml_tensor *w = ggml_cont(g->ctx, ggml_transpose(g->ctx, conv));

    return w->type == GGML_TYPE_F32 ? w : ggml_cast(g->ctx, w, GGML_TYPE_F32);
}

struct ggml_tensor *
graph_add_ngrams(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_ngram_layer *l = &g->model->layers[layer].ngrams;
    struct ggml_tensor *u = gated_values(g, l, x), *y;

    y = graph_streams_flat(g, graph_norm_streams(g, u, &l->conv_norm));
    y = graph_apart_conv(g, layer, y, kernel_rows(g, l->conv),
                         g->model->hp.ngrams.n);
    y = ggml_silu(g->ctx, y);
    y = ggml_reshape_3d(g->ctx, y, x->ne[0], x->ne[1], x->ne[2]);
    return ggml_add(g->ctx, x, ggml_add(g->ctx, u, y));
}
