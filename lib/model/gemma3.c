/* gemma3.c - Gemma 3: five windowed layers for one that sees all
 *
 * x = sqrt(n_embd) embed(ids)
 * x = x + norm(attention(norm(x)))     rope(norm(q)), rope(norm(k))
 * x = x + norm(down(gelu(gate(c)) * up(c))), c = norm(x)     in each layer
 * logits = output(norm(x))             the windowed turn by another base */
#include <math.h>

#include "model/arch.h"

enum {
    PATTERN = 6, /* the last of so many layers sees all keys */
    /* The largest one scales by the length that a head would have if the heads
     * shared the embedding's. The file does not say so. */
    LAYERS_27B = 62,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    model_keys_window(keys, hp);
    hp->embd_scale = sqrtf((float)hp->n_embd);
    hp->attn_softcap =
        model_key_float(keys, "attn_logit_softcapping", 0, 1e6f, 0);
    hp->logit_softcap =
        model_key_float(keys, "final_logit_softcapping", 0, 1e6f, 0);
    hp->rope_base_local =
        model_key_float(keys, "rope.freq_base_swa", 1, 1e12f, 10000);
    if (hp->n_layer == LAYERS_27B)
        hp->attn_scale = 1 / sqrtf((float)(hp->n_embd / hp->n_head));
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    struct model *m = l->model;
    int64_t e = m->hp.n_embd, d = m->hp.d_key;
    bool sees_all = l->layer % PATTERN == PATTERN - 1;

    layer->windowed = m->hp.window > 0 && !sees_all;
    layer->rope = sees_all ? &m->rope : &m->rope_local;
    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_q_norm = model_find_norm(l, ".attn_q_norm", d, MODEL_OPTIONAL);
    layer->attn_k_norm = model_find_norm(l, ".attn_k_norm", d, MODEL_OPTIONAL);
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
    struct ggml_tensor *x = graph_embed(g);

    for (int32_t i = 0; i < m->hp.n_layer; i++)
        x = graph_sandwich_block(g, i, x, GRAPH_GELU);
    return graph_logits(g, graph_rms_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_gemma3 = {
    "gemma3", MODEL_OPTIONAL, hparams, layer_weights, graph,
};
