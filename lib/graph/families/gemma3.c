/* gemma3.c - Gemma 3: five windowed layers for one that sees all
 *
 * x = sqrt(n_embd) embed(ids)
 * x = x + norm(attention(norm(x)))     rope(norm(q)), rope(norm(k))
 * x = x + norm(down(gelu(gate(c)) * up(c))), c = norm(x)     in each layer
 * logits = output(norm(x))             the windowed turn by another base
 *
 * EmbeddingGemma (Vera et al. 2025): an encoder; a window is half to each
 * side. */
#include <math.h>

#include "graph/arch.h"

enum {
    PERIOD = 6, /* the last of N layers sees all keys */
    /* The largest one scales by the length that a head would have if the heads
     * shared the embedding's. The file does not say so. */
    LAYERS_27B = 62,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_windows(keys, hp, 0, PERIOD);
    hp->embd_scale = sqrtf((float)hp->n_embd);
    hp->activation = MODEL_GELU;
    hp->logit_softcap =
        graph_key_float(keys, "final_logit_softcapping", 0, 1e6f, 0);
    graph_keys_rope_local(keys, hp, 10000);
    if (hp->n_layer == LAYERS_27B)
        hp->attn_scale = 1 / sqrtf((float)(hp->n_embd / hp->layers[0].n_head));
}

static void
embedding_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    hparams(keys, hp);
    hp->window_kind = MODEL_WINDOW_SYMMETRIC;
    hp->attn_scale = 0;
    hp->encoder = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    layer->attn_post_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
}

const struct model_arch graph_family_gemma3[] = {
    { .name = "gemma3", .hparams = hparams, .layer = layer_weights },
    { .name = "gemma-embedding",
      .hparams = embedding_hparams,
      .layer = layer_weights,
      .head = graph_find_output_norm },
    { 0 },
};
