/* gemma2.c - Gemma 2: norms before and after, soft caps, every other layer
 * windowed
 *
 * x = sqrt(n_embd) embed(ids)
 * x = x + norm(attention(norm(x)))     q k capped; even layers see a window
 * x = x + norm(down(gelu(gate(c)) * up(c))), c = norm(x)     in each layer
 * logits = cap(embed^T norm(x))        cap(x) = c tanh(x / c) */
#include <math.h>

#include "model/arch.h"

/* The largest one scales by the length that a head would have if the heads
 * shared the embedding's. The file does not say so. */
enum {
    LAYERS_27B = 46,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    model_keys_rope_same(keys, hp);
    model_keys_windows(keys, hp, 4096, 2);
    hp->embd_scale = sqrtf((float)hp->n_embd);
    hp->attn_softcap =
        model_key_float(keys, "attn_logit_softcapping", 0, 1e6f, 50);
    hp->logit_softcap =
        model_key_float(keys, "final_logit_softcapping", 0, 1e6f, 30);
    if (hp->n_layer == LAYERS_27B)
        hp->attn_scale = 1 / sqrtf((float)(hp->n_embd / hp->n_head));
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    layer->attn_post_norm =
        model_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        model_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
    model_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = model_graph_embed(g);

    for (int32_t i = 0; i < m->hp.n_layer; i++)
        x = model_graph_sandwich_block(g, i, x, GRAPH_GELU);
    return model_graph_logits(g, model_graph_rms_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_gemma2 = {
    "gemma2", MODEL_OPTIONAL, hparams, layer_weights, graph,
};
