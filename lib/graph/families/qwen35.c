/* qwen35.c - Qwen 3.5 and Qwen3-Next: of four layers three have a gated delta
 * rule in attention's place (Yang et al. 2024), the fourth gated attention
 *
 * x = embed(ids)
 * x = x + attention(c) or o(c), c = norm(x)
 * x = x + ffn(norm(x))                 or a mixture, one of it shared
 * logits = output(norm(x))
 *
 * attention: rope(norm(q)), rope(norm(k)); what a head gives times the sigmoid
 * of its gate, which is projected with its query.
 *
 * o: q, k, v = silu(conv(qkv c)), q and k of length 1; S = exp(g) S; S = S +
 * beta (v - S k) k^T; norm(S q) * silu(z c) projected back; with g = a
 * softplus(alpha c + dt), beta = sigmoid(beta c). Files hold a < 0, and 1 + the
 * weights of norms, but that of o. Positions of text are the same in all parts
 * of M-RoPE: what is left is the usual rotation. */
#include "graph/arch.h"

enum {
    PERIOD = 4,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_recurrent_layers(keys, hp, PERIOD);
    graph_keys_delta_net(keys, hp);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_interleaved_sections(hp);
    hp->gated_queries = true;
}

static void
hparams_moe(struct model_keys *keys, struct model_hparams *hp)
{
    hparams(keys, hp);
    graph_keys_experts(keys, hp, true);
    hp->routing.normed = true;
}

static void
hparams_next(struct model_keys *keys, struct model_hparams *hp)
{
    hparams_moe(keys, hp);
    hp->ssm.neighbours = true;
}

/* ---- tensors ------------------------------------------------------------ */

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->recurs) {
        graph_find_gated_delta(l, layer);
    } else {
        graph_find_attention(l, layer, MODEL_OPTIONAL);
        graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    }
    layer->ffn_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    if (layer->router.weight)
        graph_find_shared_expert(l, layer, true);
}

const struct model_arch graph_family_qwen35[] = {
    { .name = "qwen35",
      .hparams = hparams,
      .layer = layer_weights,
      .recur = graph_gated_delta,
      .mtp = &graph_mtp_usual },
    { .name = "qwen35moe",
      .hparams = hparams_moe,
      .layer = layer_weights,
      .recur = graph_gated_delta,
      .mtp = &graph_mtp_usual },
    { .name = "qwen3next",
      .hparams = hparams_next,
      .layer = layer_weights,
      .recur = graph_gated_delta,
      .mtp = &graph_mtp_usual },
    { 0 },
};
