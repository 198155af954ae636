/* apertus.c - Apertus: LLaMA without gates, activated by xIELU
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + down(xielu(up(norm(x))))     in each layer
 * logits = output(norm(x))
 *
 * xielu(x) = softplus(p) x^2 + b x where x > 0, else
 * (beta + softplus(n)) (expm1(min(x, eps)) - x) + b x, with numbers of each
 * layer (Huang 2024, Apertus's report 2025). */
#include "graph/arch.h"

/* The keys begin with xielu, whatever the architecture. */
static void
xielu(struct model_keys *keys, struct model_hparams *hp, const char *name,
      int i)
{
    struct model_keys own = *keys;

    own.arch = "xielu";
    if (graph_key_exists(&own, name))
        graph_keys_layer_floats(&own, name, -1e3f, 1e3f,
                                &hp->layers[0].xielu[i], sizeof(hp->layers[0]));
    else
        graph_key_float(&own, name, -1e3f, 1e3f, -1e4f);
    keys->status = own.status;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    static const char *const names[] = { "alpha_n", "alpha_p", "beta", "eps" };

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    for (int i = 0; i < 4; i++)
        xielu(keys, hp, names[i], i);
    hp->activation = MODEL_XIELU;
}

/* RMS norms of heads have no biases; llama.cpp reads those of a file and does
 * not add them. */
static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, false, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    layer->attn_q_norm.bias = layer->attn_k_norm.bias = NULL;
}

const struct model_arch graph_family_apertus[] = {
    { .name = "apertus", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
