/* modern_bert.c - ModernBERT (Warner et al. 2024): windows, GEGLU, no biases
 *
 * x = norm(embed(ids))
 * x = x + attention(norm(x))           rope(q), rope(k); the first as it is
 * x = x + down(gelu(gate(c)) * up(c)), c = norm(x)     in each layer
 * x = norm(x)
 *
 * The first of three layers sees all ids, the others half a window to each
 * side, and turn by another base. A few descendants gate by SiLU. */
#include "graph/arch.h"

enum {
    PERIOD = 3, /* the first of N layers sees all ids */
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_windows_after(keys, hp, 0, PERIOD);
    graph_keys_rope_local(keys, hp, 0);
    hp->window_kind = MODEL_WINDOW_SYMMETRIC;
    hp->activation = graph_key_is(keys, "hidden_activation", "silu")
                         ? MODEL_SILU
                         : MODEL_GELU_ERF;
    hp->rank_pooling = GG_POOL_MEAN; /* unless the file says otherwise */
    hp->rank_squash = MODEL_SQUASH_GELU;
    hp->encoder = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, f = l->hp->n_ff;

    layer->attn_norm =
        l->layer == 0
            ? graph_find_norm_or_none(l, ".attn_norm", e, MODEL_OPTIONAL)
            : graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    layer->ffn_up = graph_find_linear(l, ".ffn_up", e, 2 * f, MODEL_OPTIONAL);
    layer->ffn_down = graph_find_linear(l, ".ffn_down", f, e, MODEL_OPTIONAL);
}

static void
embedding(struct model_loader *l)
{
    struct model *m = l->model;

    m->embd_norm =
        graph_find_norm(l, "token_embd_norm", m->hp.n_embd, MODEL_OPTIONAL);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed_normed(g, &m->embd_norm);

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_block(g, i, x);
    x = graph_leave(g, x);
    return graph_norm(g, x, &m->output_norm);
}

const struct model_arch graph_family_modern_bert[] = {
    { .name = "modern-bert",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph,
      .head = graph_find_output_norm,
      .embedding = embedding },
    { 0 },
};
