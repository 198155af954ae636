/* falcon_h1.c - Falcon-H1: attention and a Mamba 2 side by side in each
 * layer (Zuo et al. 2025)
 *
 * x = embed(ids)
 * x = x + attention(c) + mamba2(c), c = norm(x)
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * The multipliers of the paper are in the weights of files. What a Mamba gives
 * is normed in some of the models. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    for (int32_t i = 0; i < hp->n_layer; i++)
        hp->layers[i].recurs = true;
    graph_keys_mamba2(keys, hp);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
}

/* Nothing divides the angles, even where a file has such numbers. */
static void
drop_divisors(struct model_loader *l)
{
    l->model->rope.divisors = NULL;
}

/* The name of the second norm's tensor has no ending. No model of the makers
 * has biases in attention; one of its output is not used where files have one.
 */
static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_output.bias = NULL;
    graph_find_mamba2(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm.weight = graph_find_numbers(l, ".ffn_norm", e, 1, true);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch graph_family_falcon_h1[] = {
    { .name = "falcon-h1",
      .hparams = hparams,
      .layer = layer_weights,
      .recur = graph_mamba2,
      .embedding = drop_divisors },
    { 0 },
};
