/* mamba.c - Mamba 1 and 2, Falcon Mamba: state spaces in all layers, and
 * nothing else (Gu and Dao 2023, Dao and Gu 2024)
 *
 * x = embed(ids)
 * x = x + mamba(norm(x))               in each layer
 * logits = output(norm(x))
 *
 * Falcon Mamba (Zuo et al. 2024): a Mamba 1 whose dt, B and C are normed. */
#include "graph/arch.h"

/* Epsilon of Falcon Mamba's norms; its files don't say it. */
#define PARTS_EPS 1e-6f

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_recurrent_alone(keys, hp);
    graph_keys_mamba(keys, hp);
    if (graph_key_bool(keys, "ssm.dt_b_c_rms", false))
        hp->ssm.parts_eps = PARTS_EPS;
}

static void
hparams_2(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_recurrent_alone(keys, hp);
    graph_keys_mamba2(keys, hp);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    layer->attn_norm =
        graph_find_norm(l, ".attn_norm", l->model->hp.n_embd, MODEL_OPTIONAL);
    graph_find_mamba(l, layer, MODEL_OPTIONAL);
}

static void
layer_weights_2(struct model_loader *l, struct model_layer *layer)
{
    layer->attn_norm =
        graph_find_norm(l, ".attn_norm", l->model->hp.n_embd, MODEL_OPTIONAL);
    graph_find_mamba2(l, layer, MODEL_REQUIRED);
}

const struct model_arch graph_family_mamba[] = {
    { .name = "mamba",
      .hparams = hparams,
      .layer = layer_weights,
      .recur = graph_mamba,
      .partial_layers = true },
    { .name = "mamba2",
      .hparams = hparams_2,
      .layer = layer_weights_2,
      .recur = graph_mamba2,
      .partial_layers = true },
    { 0 },
};
