/* gemma.c - Gemma: LLaMA with GELU, a scaled embedding, and one matrix for both
 * ends
 *
 * x = sqrt(n_embd) embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(gelu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = embed^T norm(x)             the norms' 1 + w is in the file */
#include <math.h>

#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->embd_scale = sqrtf((float)hp->n_embd);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    model_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = model_graph_embed(g);

    for (int32_t i = 0; i < m->hp.n_layer; i++)
        x = model_graph_rms_block(g, i, x, GRAPH_GELU);
    return model_graph_logits(g, model_graph_rms_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_gemma = {
    "gemma", MODEL_OPTIONAL, hparams, layer_weights, graph,
};
