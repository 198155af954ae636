/* glm4moe.c - GLM 4.5 to 4.7: experts chosen by biased sigmoids, one for all
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense
 * logits = output(norm(x))             of a head the first half turns */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
}

/* The smaller ones have no norms of queries and keys. */
static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, d = l->hp->d_key;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_q_norm =
        graph_find_norm_or_none(l, ".attn_q_norm", d, MODEL_OPTIONAL);
    layer->attn_k_norm =
        graph_find_norm_or_none(l, ".attn_k_norm", d, MODEL_OPTIONAL);
    layer->ffn_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_REQUIRED);
}

const struct model_arch graph_family_glm4moe[] = {
    { .name = "glm4moe",
      .hparams = hparams,
      .layer = layer_weights,
      .mtp = &graph_mtp_usual },
    { 0 },
};
