/* nemotron_h.c - Nemotron-H and Nemotron 3, dense and with experts: layers are
 * a Mamba 2, attention, or a feed-forward block (Blakeman et al. 2025)
 *
 * x = embed(ids)
 * x = x + block(norm(x))               in each layer one of:
 *     mamba2(c); attention(c), nothing turns; down(relu(up(c))^2)
 * logits = output(norm(x))
 *
 * Layers without keys and values and without a feed-forward vector are a Mamba.
 * With experts: a mixture of such blocks, chosen by sigmoids and a bias, and
 * one for all ids; in larger models experts read and give vectors of low rank.
 */
#include "graph/arch.h"

static void
read_layers(struct model_hparams *hp)
{
    for (int32_t i = 0; i < hp->n_layer; i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        if (l->n_ff > 0)
            l->n_head_kv = 0;
        if (l->n_head_kv == 0)
            l->n_head = 0;
        l->recurs = l->n_ff == 0 && l->n_head_kv == 0;
    }
}

/* Files have the norms' epsilon by one of two names. */
static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    bool rms = graph_key_exists(keys, "attention.layer_norm_rms_epsilon");

    graph_keys_common(keys, hp, rms ? MODEL_RMS_NORM : MODEL_LAYER_NORM);
    hp->norms = MODEL_RMS_NORM;
    read_layers(hp);
    graph_keys_mamba2(keys, hp);
    hp->activation = MODEL_RELU_SQUARED;
}

/* In an MTP layer attention comes first, then the mixture. */
static void
read_mtp_layers(struct model_hparams *hp)
{
    for (int32_t i = hp->n_layer; i < graph_all_layers(hp); i++)
        if (hp->layers[i].n_ff == 0)
            hp->layers[i].n_ff = hp->n_ff_expert;
}

static void
hparams_moe(struct model_keys *keys, struct model_hparams *hp)
{
    hparams(keys, hp);
    graph_keys_experts(keys, hp, false);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    hp->n_embd_expert = graph_key_int_or_zero(keys, "moe_latent_size",
                                              MODEL_MAX_FF, hp->n_embd);
    read_mtp_layers(hp);
}

static void
find_mixture(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t e = hp->n_embd, f = hp->n_ff_shared, low = hp->n_embd_expert;
    enum model_need bias = MODEL_OPTIONAL;

    graph_find_plain_mixture(l, layer, bias);
    graph_find_choice(l, layer, MODEL_REQUIRED);
    layer->experts_in =
        graph_find_linear_or_none(l, ".ffn_latent_down", e, low, bias);
    layer->experts_out =
        graph_find_linear_or_none(l, ".ffn_latent_up", low, e, bias);
    layer->shared_up = graph_find_linear(l, ".ffn_up_shexp", e, f, bias);
    layer->shared_down = graph_find_linear(l, ".ffn_down_shexp", f, e, bias);
}

static void
find_mtp_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    find_mixture(l, layer);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    struct model_norm norm =
        graph_find_norm(l, ".attn_norm", l->model->hp.n_embd, MODEL_OPTIONAL);

    if (l->hp->n_ff == 0)
        layer->attn_norm = norm;
    else
        layer->ffn_norm = norm;
    if (l->hp->recurs)
        graph_find_mamba2(l, layer, MODEL_REQUIRED);
    else if (l->hp->n_ff == 0)
        graph_find_attention(l, layer, MODEL_OPTIONAL);
    else if (l->model->hp.n_expert > 0)
        find_mixture(l, layer);
    else
        graph_find_feed_forward(l, layer, false, MODEL_OPTIONAL);
}

static void
layer_weights_moe(struct model_loader *l, struct model_layer *layer)
{
    if (l->layer < l->model->hp.n_layer)
        layer_weights(l, layer);
    else
        find_mtp_layer(l, layer);
}

static const struct model_mtp_kind mtp = { .to_mean = true,
                                           .block = graph_block };

const struct model_arch graph_family_nemotron_h[] = {
    { .name = "nemotron_h",
      .hparams = hparams,
      .layer = layer_weights,
      .recur = graph_mamba2,
      .partial_layers = true },
    { .name = "nemotron_h_moe",
      .hparams = hparams_moe,
      .layer = layer_weights_moe,
      .recur = graph_mamba2,
      .mtp = &mtp,
      .partial_layers = true },
    { 0 },
};
