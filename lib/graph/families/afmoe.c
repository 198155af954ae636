/* afmoe.c - Trinity (Arcee): gated attention, norms on both sides of a block
 *
 * x = sqrt(n_embd) embed(ids)
 * x = x + norm(attention(norm(x)))     rope(norm(q)), rope(norm(k)); what it
 *                                      gives times sigmoid(gate(norm(x)))
 * x = x + norm(mixture(c) + shared(c)), c = norm(x)     the first are dense
 * logits = output(norm(x))             of four layers three see a window, and
 *                                      the last does not turn */
#include <math.h>

#include "graph/arch.h"

enum {
    PERIOD = 4,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_rope_same(keys, hp);
    graph_keys_windows(keys, hp, 0, PERIOD);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    hp->embd_scale = sqrtf((float)hp->n_embd);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    if (l->layer % PERIOD == PERIOD - 1)
        layer->rope = NULL;
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    graph_find_attention_gate(l, layer);
    layer->attn_post_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_REQUIRED);
}

const struct model_arch graph_family_afmoe[] = {
    { .name = "afmoe", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
