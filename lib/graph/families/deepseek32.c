/* deepseek32.c - DeepSeek V3.2 and GLM 5: as deepseek2.c, with attention to the
 * keys alone that an indexer chooses (DeepSeek-AI 2025)
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           latent.c, indexer.c
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense
 * logits = output(norm(x))
 *
 * Indexers of DeepSeek rotate halves, those of GLM neighbours, as attention
 * does. Layers of GLM 5.2 without an indexer attend to what the last layer that
 * has one chose. */
#include "graph/arch.h"

/* GLM 5.2, whose first files do not say which layers have an indexer: those
 * from 1024 x 1024 positions on, the first two and every fourth from then on.
 */
enum {
    GLM_LONG = 1 << 20,
    GLM_FIRST = 2,
    GLM_PERIOD = 4,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp, int mode)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_log_multiplier(keys, hp);
    graph_keys_latent(keys, hp, hp->rope.n_rot, true);
    graph_keys_indexer(keys, hp, mode);
    graph_keys_experts(keys, hp, false);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
}

static void
deepseek32_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    hparams(keys, hp, GGML_ROPE_TYPE_NEOX);
}

static void
glm_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    static const char types[] = "attention.indexer.types";

    hparams(keys, hp, GGML_ROPE_TYPE_NORMAL);
    if (graph_key_exists(keys, types)) {
        graph_keys_indexer_types(keys, hp, types);
        return;
    }
    for (int32_t i = GLM_FIRST; i < hp->n_layer && hp->n_ctx_train >= GLM_LONG;
         i++)
        if ((i - GLM_FIRST) % GLM_PERIOD != 0)
            hp->layers[i].d_index = 0;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_latent_block(l, layer);
    graph_find_indexer(l, layer);
}

const struct model_arch graph_family_deepseek32[] = {
    { .name = "deepseek32",
      .hparams = deepseek32_hparams,
      .layer = layer_weights,
      .mtp = &graph_mtp_usual },
    { .name = "glm-dsa",
      .hparams = glm_hparams,
      .layer = layer_weights,
      .mtp = &graph_mtp_usual },
    { 0 },
};
