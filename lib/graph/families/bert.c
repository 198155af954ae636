/* bert.c - BERT and its kin: encoders, whose ids attend to later ones, too
 *
 * x = norm(embed(ids) + type(0) + position(pos))
 * x = norm(x + attention(x))
 * x = norm(x + feed_forward(x))        in each layer
 *
 * BERT (Devlin et al. 2019), RoBERTa (Liu et al. 2019): learned positions,
 * GELU, biases; of RoBERTa's table files have no rows for what pads. nomic-bert
 * (Nussbaum et al. 2024): rotary positions, SwiGLU; its mixture of experts
 * (Nussbaum and Duderstadt 2025): GELU without gates, every second layer one of
 * experts. jina-bert-v2 (Guenther et al. 2023): ALiBi, GEGLU, normed queries
 * and keys and a second norm after attention in models for code. jina-bert-v3
 * (Sturua et al. 2024): RoBERTa with rotary positions. A text is of one kind,
 * the first. What comes out is no logits but a vector for each id. */
#include "graph/arch.h"

static void
encoder_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_pairs(keys, hp);
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
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
}

static void
nomic_moe_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    nomic_hparams(keys, hp);
    hp->activation = MODEL_GELU_ERF;
    graph_keys_experts(keys, hp, false);
    hp->moe_period =
        graph_key_int(keys, "moe_every_n_layers", 0, MODEL_MAX_LAYERS, 0);
}

static void
jina_v2_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    encoder_hparams(keys, hp);
    hp->activation = MODEL_GELU_ERF;
    hp->attn_max_bias = 8;
}

static void
jina_v3_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    nomic_hparams(keys, hp);
    hp->activation = MODEL_GELU_ERF;
}

/* ---- tensors ------------------------------------------------------------- */

static void
find_norms(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_post_norm =
        graph_find_norm(l, ".attn_output_norm", e, MODEL_REQUIRED);
    layer->ffn_post_norm =
        graph_find_norm(l, ".layer_output_norm", e, MODEL_REQUIRED);
}

static void
bert_layer(struct model_loader *l, struct model_layer *layer)
{
    graph_find_attention(l, layer, MODEL_REQUIRED);
    graph_find_feed_forward(l, layer, false, MODEL_REQUIRED);
    find_norms(l, layer);
}

static void
nomic_layer(struct model_loader *l, struct model_layer *layer)
{
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
    find_norms(l, layer);
}

static void
nomic_moe_layer(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;

    graph_find_attention(l, layer, MODEL_OPTIONAL);
    if (hp->n_expert > 0 && hp->moe_period > 0 &&
        l->layer % hp->moe_period == 1)
        graph_find_plain_mixture(l, layer, MODEL_OPTIONAL);
    else
        graph_find_feed_forward(l, layer, false, MODEL_OPTIONAL);
    find_norms(l, layer);
}

/* Files have gates by themselves, or in front of ffn_up. */
static void
find_gated(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, f = l->hp->n_ff;

    layer->ffn_gate =
        graph_find_linear_or_none(l, ".ffn_gate", e, f, MODEL_OPTIONAL);
    if (!layer->ffn_gate.weight && graph_has_rows(l, ".ffn_up", 2 * f))
        layer->ffn_up =
            graph_find_linear(l, ".ffn_up", e, 2 * f, MODEL_OPTIONAL);
    else
        layer->ffn_up = graph_find_linear(l, ".ffn_up", e, f, MODEL_OPTIONAL);
    layer->ffn_down = graph_find_linear(l, ".ffn_down", f, e, MODEL_REQUIRED);
}

static void
jina_v2_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    graph_find_attention(l, layer, MODEL_REQUIRED);
    layer->attn_q_norm =
        graph_find_norm_or_none(l, ".attn_q_norm", e, MODEL_OPTIONAL);
    layer->attn_k_norm =
        graph_find_norm_or_none(l, ".attn_k_norm", e, MODEL_OPTIONAL);
    layer->attn_norm_2 =
        graph_find_norm_or_none(l, ".attn_norm_2", e, MODEL_OPTIONAL);
    find_gated(l, layer);
    find_norms(l, layer);
}

/* ---- graphs -------------------------------------------------------------- */

static struct ggml_tensor *
attend(struct graph *g, int32_t i, struct ggml_tensor *x)
{
    const struct model_layer *layer = &g->model->layers[i];
    struct ggml_tensor *cur = graph_self_attention(g, i, x);

    x = graph_wanted(g, i, x);
    cur = graph_norm(g, ggml_add(g->ctx, cur, x), &layer->attn_post_norm);
    if (!layer->attn_norm_2.weight)
        return cur;
    return graph_norm(g, ggml_add(g->ctx, cur, x), &layer->attn_norm_2);
}

static struct ggml_tensor *
encoder_layers(struct graph *g, const struct model *m, struct ggml_tensor *x)
{
    struct ggml_tensor *cur;

    x = graph_norm(g, graph_add_token_type(g, x), &m->embd_norm);
    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++) {
        const struct model_layer *layer = &m->layers[i];

        x = attend(g, i, x);
        cur = graph_mixture_or_dense(g, layer, x);
        cur = ggml_add(g->ctx, cur, x);
        x = graph_norm(g, cur, &layer->ffn_post_norm);
        x = graph_steer(g, i, x);
    }
    x = graph_leave(g, x);
    return x;
}

static struct ggml_tensor *
bert_graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g);

    x = ggml_add(g->ctx, x, graph_embed_positions(g));
    return encoder_layers(g, m, x);
}

static struct ggml_tensor *
nomic_graph(struct graph *g, const struct model *m)
{
    return encoder_layers(g, m, graph_embed(g));
}

/* Nothing follows the layers. */
static void
no_head(struct model_loader *l)
{
    (void)l;
}

const struct model_arch graph_family_bert[] = {
    { .name = "bert",
      .hparams = bert_hparams,
      .layer = bert_layer,
      .graph = bert_graph,
      .embedding = graph_find_encoder,
      .head = no_head },
    { .name = "nomic-bert",
      .hparams = nomic_hparams,
      .layer = nomic_layer,
      .graph = nomic_graph,
      .embedding = graph_find_encoder,
      .head = no_head },
    { .name = "nomic-bert-moe",
      .hparams = nomic_moe_hparams,
      .layer = nomic_moe_layer,
      .graph = nomic_graph,
      .embedding = graph_find_encoder,
      .head = no_head },
    { .name = "jina-bert-v2",
      .hparams = jina_v2_hparams,
      .layer = jina_v2_layer,
      .graph = nomic_graph,
      .embedding = graph_find_encoder,
      .head = no_head },
    { .name = "jina-bert-v3",
      .hparams = jina_v3_hparams,
      .layer = bert_layer,
      .graph = nomic_graph,
      .embedding = graph_find_encoder,
      .head = no_head },
    { 0 },
};
