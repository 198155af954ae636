/* deepseek2.c - DeepSeek V2, V3 and R1, Kimi K2, GLM 4.7 Flash, Mistral 4:
 * latent attention, many small experts in groups
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           latent.c; the shared part of keys, and
 *                                      of each query as much, is rotated
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense
 * logits = output(norm(x))
 *
 * The best groups are chosen by their two best biased scores, or, in V2, whose
 * scores are a softmax, by their best one; then experts of these. Files without
 * attention.key_length_mla are from before keys and values were absorbed. */
#include "graph/arch.h"

/* GLM 4.7 Flash, whose first files do not say how experts are chosen. */
enum {
    GLM_LAYERS = 47,
    GLM_VOCAB = 154880,
};

static int
usual_gating(const struct model_hparams *hp)
{
    return hp->n_layer == GLM_LAYERS && hp->n_vocab == GLM_VOCAB
               ? MODEL_GATING_SIGMOID
               : MODEL_GATING_SOFTMAX;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_log_multiplier(keys, hp);
    graph_keys_latent(keys, hp, hp->rope.n_rot,
                      graph_key_exists(keys, "attention.key_length_mla"));
    graph_keys_experts(keys, hp, false);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, usual_gating(hp));
    hp->temperature_scale =
        graph_key_float(keys, "attention.temperature_scale", 0, 1e3f, 0);
    hp->temperature_n =
        graph_key_int_or_zero(keys, "attention.temperature_length",
                              MODEL_MAX_CTX, hp->rope.n_ctx_orig);
}

static void
deepseek2_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    hparams(keys, hp);
    hp->routing.group_by_best = hp->routing.gating == MODEL_GATING_SOFTMAX;
}

const struct model_arch graph_family_deepseek2[] = {
    { .name = "deepseek2",
      .hparams = deepseek2_hparams,
      .layer = graph_find_latent_block,
      .mtp = &graph_mtp_usual },
    { .name = "mistral4",
      .hparams = hparams,
      .layer = graph_find_latent_block },
    { 0 },
};
