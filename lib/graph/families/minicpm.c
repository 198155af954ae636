/* minicpm.c - MiniCPM: LLaMA with a scale at every seam (Hu et al. 2024)
 *
 * x = s_e embed(ids)
 * x = x + s_r attention(norm(x))
 * x = x + s_r down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x)) / s_l
 *
 * Older files do not say the scales: they are 12, 1.4 / sqrt(layers) and
 * n_embd / 256. Or the feed-forward block is a mixture of such. */
#include <math.h>

#include "graph/arch.h"

enum {
    EMBD_OF_BASE = 256, /* of the small model that the others are scaled from */
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    float logits;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_experts(keys, hp, false);
    hp->routing.normed = true;
    hp->embd_scale = graph_key_float(keys, "embedding_scale", 0, 1e6f, 12);
    hp->residual_scale = graph_key_float(keys, "residual_scale", 0, 1e6f,
                                         1.4f / sqrtf((float)hp->n_layer));
    logits = (float)hp->n_embd / EMBD_OF_BASE;
    hp->logit_scale =
        1 / graph_key_float(keys, "logit_scale", 1e-6f, 1e6f, logits);
}

const struct model_arch graph_family_minicpm[] = {
    { .name = "minicpm", .hparams = hparams },
    { 0 },
};
