/* gemma2.c - Gemma 2: norms before and after, soft caps, every other layer
 * windowed
 *
 * x = sqrt(n_embd) embed(ids)
 * x = x + norm(attention(norm(x)))     q k capped; even layers see a window
 * x = x + norm(down(gelu(gate(c)) * up(c))), c = norm(x)     in each layer
 * logits = cap(embed^T norm(x))        cap(x) = c tanh(x / c) */
#include <math.h>

#include "graph/arch.h"

/* The largest one scales by the length that a head would have if the heads
 * shared the embedding's. The file does not say so. */
enum {
    LAYERS_27B = 46,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_rope_same(keys, hp);
    graph_keys_windows(keys, hp, 4096, 2);
    hp->embd_scale = sqrtf((float)hp->n_embd);
    hp->activation = MODEL_GELU;
    hp->attn_softcap =
        graph_key_float(keys, "attn_logit_softcapping", 0, 1e6f, 50);
    hp->logit_softcap =
        graph_key_float(keys, "final_logit_softcapping", 0, 1e6f, 30);
    if (hp->n_layer == LAYERS_27B)
        hp->attn_scale = 1 / sqrtf((float)(hp->n_embd / hp->layers[0].n_head));
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    layer->attn_post_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
}

const struct model_arch graph_family_gemma2[] = {
    { .name = "gemma2", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
