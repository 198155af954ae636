/* granite.c - Granite: LLaMA with a scale at every seam
 *
 * x = s_e embed(ids)
 * x = x + s_r attention(norm(x))       softmax(s_a q k), not 1 / sqrt(d)
 * x = x + s_r down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x)) / s_l
 *
 * Granite 4's with one kind of layers say so with `rope.scaling.finetuned` if
 * queries and keys do not turn. */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    if (model_key_bool(keys, "rope.scaling.finetuned", true))
        model_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->embd_scale = model_key_float(keys, "embedding_scale", 0, 1e6f, 0);
    hp->residual_scale = model_key_float(keys, "residual_scale", 0, 1e6f, 0);
    hp->attn_scale = model_key_float(keys, "attention.scale", 0, 1e6f, 0);
    hp->logit_scale = 1 / model_key_float(keys, "logit_scale", 1e-6f, 1e6f, -1);
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
        x = model_graph_rms_block(g, i, x, GRAPH_SILU);
    return model_graph_logits(g, model_graph_rms_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_granite = {
    "granite", MODEL_OPTIONAL, hparams, layer_weights, graph,
};
