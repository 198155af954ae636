/* hy_v4.c - Hunyuan 4: gated latent attention, to keys that an indexer
 * chooses, between independent hyper-connections
 *
 * x = [embed(ids), ...]                n_stream times
 * c = norm(r . x); x_i = x_i + w_i attention(c)       streams.h has r, w
 * c = norm(r . x); x_i = x_i + w_i (mixture(c) + shared(c))
 * logits = output(norm(r . x))         the first layers are dense
 *
 * latent.c and indexer.c have attention; layers without an indexer attend to
 * what the last layer that has one chose. Each head has a sink. Of routed
 * experts gates are at most a limit before their activation, and what they gate
 * within +- it.
 *
 * Neighbouring pairs turn, as llama.cpp has it; transformers turns halves on
 * the same rows. Which of them released models want is not known here. */
#include "graph/streams.h"

/* Values that turn are the last, as attention's are. */
static void
read_indexer(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_indexer(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_indexer_types(keys, hp, "attention.indexer.types");
    hp->indexer.last = true;
    hp->indexer.eps = hp->eps;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_layer_hparams *l = hp->layers;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_latent(keys, hp, hp->rope.n_rot, true);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    graph_keys_layer_floats(keys, "swiglu_clamp_exp", 0, 1e6f, &l->expert_limit,
                            sizeof(*l));
    hp->limit_before = true;
    if (graph_key_exists(keys, "attention.indexer.top_k"))
        read_indexer(keys, hp);
    graph_keys_streams(keys, hp, true);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_latent_attention(l, layer);
    graph_find_attention_gate(l, layer);
    layer->attn_sinks =
        graph_find_vector(l, ".attn_sinks", l->hp->n_head, MODEL_REQUIRED);
    graph_find_indexer(l, layer);
    graph_find_streams(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_hy_v4[] = {
    { .name = "hy_v4",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph_streams_decoder,
      .block = graph_streams_block,
      .attend = graph_latent_attention,
      .head = graph_find_streams_head },
    { 0 },
};
