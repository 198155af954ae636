/* gemma.c - Gemma: LLaMA with GELU, a scaled embedding, and one matrix for both
 * ends
 *
 * x = sqrt(n_embd) embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(gelu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = embed^T norm(x)             the norms' 1 + w is in the file */
#include <math.h>

#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->embd_scale = sqrtf((float)hp->n_embd);
    hp->activation = MODEL_GELU;
}

const struct model_arch graph_family_gemma[] = {
    { .name = "gemma", .hparams = hparams },
    { 0 },
};
