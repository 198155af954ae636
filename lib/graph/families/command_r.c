/* command_r.c - Command R, Command R7B and A: attention and feed-forward side
 * by side, layer norms without biases
 *
 * x = embed(ids)
 * x = x + attention(c) + down(silu(gate(c)) * up(c)), c = norm(x)  in each
 * layer logits = s output(norm(x))
 *
 * Command R+ norms each head of queries and keys by weights of its own. Of the
 * second generation (cohere2) three of four layers have a window, and only
 * they turn. */
#include "graph/arch.h"

enum {
    PERIOD = 4, /* the last of N layers sees all keys */
};

static void
common(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->logit_scale = graph_key_float(keys, "logit_scale", 0, 1e6f, 0);
}

static void
cohere2_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    common(keys, hp);
    graph_keys_windows(keys, hp, 0, PERIOD);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t d = l->hp->d_key, e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_q_norm =
        graph_find_norm_each(l, ".attn_q_norm", d, l->hp->n_head);
    layer->attn_k_norm =
        graph_find_norm_each(l, ".attn_k_norm", d, l->hp->n_head_kv);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

static void
cohere2_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    if (!layer->windowed)
        layer->rope = NULL;
    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch graph_family_command_r[] = {
    { .name = "cohere2",
      .hparams = cohere2_hparams,
      .layer = cohere2_layer,
      .block = graph_parallel_block },
    { .name = "command-r",
      .hparams = common,
      .layer = layer_weights,
      .block = graph_parallel_block },
    { 0 },
};
