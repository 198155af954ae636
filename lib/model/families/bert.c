/* bert.c - BERT and nomic-bert: encoders, whose ids attend to later ones, too
 *
 * x = norm(embed(ids) + type(0) + position(pos))
 * x = norm(x + attention(x))
 * x = norm(x + feed_forward(x))        in each layer
 *
 * BERT (Devlin et al. 2019): learned positions, GELU, biases. nomic-bert
 * (Nussbaum et al. 2024): rotary positions, SwiGLU. A text is of one kind, the
 * first. What comes out is no logits but a vector for each id. */
#include "model/arch.h"

static void
encoder_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_LAYER_NORM);
    hp->encoder = true;
}

static void
bert_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    encoder_hparams(keys, hp);
    hp->learned_positions = true;
    hp->activation = MODEL_GELU_ERF;
}

static void
nomic_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    encoder_hparams(keys, hp);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
}

static void
find_norms(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_post_norm =
        model_find_norm(l, ".attn_output_norm", e, MODEL_REQUIRED);
    layer->ffn_post_norm =
        model_find_norm(l, ".layer_output_norm", e, MODEL_REQUIRED);
}

static void
bert_layer(struct model_loader *l, struct model_layer *layer)
{
    model_find_attention(l, layer, MODEL_REQUIRED);
    model_find_feed_forward(l, layer, false, MODEL_REQUIRED);
    find_norms(l, layer);
}

static void
nomic_layer(struct model_loader *l, struct model_layer *layer)
{
    model_find_attention(l, layer, MODEL_OPTIONAL);
    model_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
    find_norms(l, layer);
}

static struct ggml_tensor *
encoder_layers(struct graph *g, const struct model *m, struct ggml_tensor *x)
{
    struct ggml_tensor *cur;

    x = model_graph_norm(g, model_graph_add_token_type(g, x), &m->embd_norm);
    for (int32_t i = 0; i < m->hp.n_layer; i++) {
        const struct model_layer *layer = &m->layers[i];

        cur = model_graph_self_attention(g, i, x);
        cur = ggml_add(g->ctx, cur, model_graph_wanted(g, i, x));
        x = model_graph_norm(g, cur, &layer->attn_post_norm);
        cur = model_graph_feed_forward(g, layer, x);
        cur = ggml_add(g->ctx, cur, x);
        x = model_graph_norm(g, cur, &layer->ffn_post_norm);
    }
    return x;
}

static struct ggml_tensor *
bert_graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = model_graph_embed(g);

    x = ggml_add(g->ctx, x, model_graph_embed_positions(g));
    return encoder_layers(g, m, x);
}

static struct ggml_tensor *
nomic_graph(struct graph *g, const struct model *m)
{
    return encoder_layers(g, m, model_graph_embed(g));
}

const struct model_arch model_arch_bert = {
    .name = "bert",
    .hparams = bert_hparams,
    .layer = bert_layer,
    .graph = bert_graph,
    .embedding = model_find_encoder,
};

const struct model_arch model_arch_nomic_bert = {
    .name = "nomic-bert",
    .hparams = nomic_hparams,
    .layer = nomic_layer,
    .graph = nomic_graph,
    .embedding = model_find_encoder,
};
