/* phimoe.c - Phi 3.5 MoE: biased norms, two sets of frequencies, experts
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           other frequencies for long contexts
 * x = x + mixture(norm(x))             the best of softmax, to sum 1
 * logits = output(norm(x))
 *
 * Its makers take layer norms, and weigh the second expert among those near it;
 * programs that read these files do neither. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_window(keys, hp);
    graph_keys_experts(keys, hp, false);
    hp->routing.normed = true;
}

const struct model_arch graph_family_phimoe[] = {
    { .name = "phimoe", .norm_bias = true, .hparams = hparams },
    { 0 },
};
