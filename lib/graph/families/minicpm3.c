/* minicpm3.c - MiniCPM 3 and PLM: latent attention in small dense models
 *
 * x = s_e embed(ids)
 * x = x + s_r attention(norm(x))       latent.c, keys and values unabsorbed
 * x = x + s_r down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = s_l output(norm(x))
 *
 * MiniCPM 3: the scales are the same in all models and no keys of files. PLM
 * (Deng et al. 2025) has no scales; down(relu(up(c))^2). */
#include <math.h>

#include "graph/arch.h"

enum {
    EMBD_OF_BASE = 256, /* of the small model that it is scaled from */
};

static void
minicpm3_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_latent(keys, hp, hp->rope.n_rot, false);
    if (keys->status != GG_OK)
        return;
    hp->embd_scale = 12;
    hp->residual_scale = 1.4f / sqrtf((float)hp->n_layer);
    hp->logit_scale = (float)EMBD_OF_BASE / (float)hp->n_embd;
}

static void
plm_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_latent(keys, hp, hp->rope.n_rot, false);
    hp->activation = MODEL_RELU_SQUARED;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;
    bool gated = l->model->hp.activation == MODEL_SILU;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_latent_attention(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, gated, MODEL_OPTIONAL);
}

const struct model_arch graph_family_minicpm3[] = {
    { .name = "minicpm3", .hparams = minicpm3_hparams, .layer = layer_weights },
    { .name = "plm", .hparams = plm_hparams, .layer = layer_weights },
    { 0 },
};
