/* glm5_next.c - GLM 5.3 Flash: Kimi's delta attention in most layers, in the
 * others latent attention without positions, to pools of keys that an indexer
 * chooses, between hyper-connections
 *
 * x = [embed(ids), ...]                n_stream times
 * c = norm(r . x); x = w attention(c) + M x, or w o(c) + M x
 * c = norm(r . x); x = w (mixture(c) + shared(c)) + M x
 * logits = output(norm(mean(x)))       streams.h has r, w, M
 *
 * latent.c, indexer.c and delta_attention.c have attention and o. The first
 * layers are dense. Gates of all feed-forward vectors are at most a
 * limit before their activation, and what they gate within +- it. Files hold
 * negative rates of decays. */
#include "graph/streams.h"

static void
read_limits(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_layer_hparams *l = hp->layers;
    const char *shared = graph_key_exists(keys, "swiglu_clamp_shexp")
                             ? "swiglu_clamp_shexp"
                             : "swiglu_clamp_exp";

    graph_keys_layer_floats(keys, "swiglu_clamp_exp", 0, 1e6f, &l->expert_limit,
                            sizeof(*l));
    graph_keys_layer_floats(keys, shared, 0, 1e6f, &l->ff_limit, sizeof(*l));
    hp->limit_before = true;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_delta_attention(keys, hp);
    graph_keys_decay_floor(keys, hp, false);
    if (graph_key_int(keys, "rope.dimension_count", 0, 1 << 16, 0) != 0)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "rope.dimension_count",
                         "keys turn: in glm5-next none does here");
    graph_keys_latent(keys, hp, 0, true);
    hp->latent.eps = hp->eps;
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    read_limits(keys, hp);
    graph_keys_streams(keys, hp, false);
    graph_keys_indexer(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_indexer_types(keys, hp, "attention.indexer.types");
    graph_keys_indexer_pools(keys, hp);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->recurs)
        graph_find_delta_attention(l, layer);
    else
        graph_find_latent_attention(l, layer);
    graph_find_indexer(l, layer);
    graph_find_streams(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_REQUIRED);
}

const struct model_arch graph_family_glm5_next[] = {
    { .name = "glm5-next",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph_streams_decoder,
      .block = graph_streams_block,
      .attend = graph_latent_attention,
      .recur = graph_delta_attention },
    { 0 },
};
