/* exaone4.c - EXAONE 4: norms after the blocks, none before
 *
 * x = embed(ids)
 * x = x + norm(attention(x))           rope(norm(q)), rope(norm(k))
 * x = x + norm(down(silu(gate(x)) * up(x)))     in each layer
 * logits = output(norm(x))
 *
 * 32B: three of four layers have a window, and only they turn. */
#include "graph/arch.h"

enum {
    PERIOD = 4, /* the last of N layers sees all keys */
    LAYERS_32B = 64,
    WINDOW_32B = 4096,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_windows(keys, hp, hp->n_layer == LAYERS_32B ? WINDOW_32B : 0,
                       PERIOD);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    if (l->model->hp.window > 0 && !layer->windowed)
        layer->rope = NULL;
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    layer->attn_post_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch graph_family_exaone4[] = {
    { .name = "exaone4", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
