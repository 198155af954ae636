/* llama.c - LLaMA, Mistral, Mixtral, InternLM 2, XVERSE, ERNIE 4.5: rotary
 * positions, RMS norms, SwiGLU
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           queries and keys rotated by position
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * Mixtral: the feed-forward block is a mixture of such. Mistral: attention sees
 * a window of keys. llama-embed: hidden vectors are embeddings, and where
 * attention.causal is false, ids see later ones, too (Llama-Embed-Nemotron,
 * Babakhin et al. 2025). */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_window(keys, hp);
    graph_keys_experts(keys, hp, false);
    hp->routing.normed = true;
}

static void
embed_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    hparams(keys, hp);
    hp->encoder = !graph_key_bool(keys, "attention.causal", true);
}

/* As hparams(), without mixtures and windows. */
static void
plain_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
}

/* All matrices have biases, or none has: one for attention's output alone is
 * not the model's. */
static void
ernie_layer(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    if (!layer->ffn_up.bias)
        layer->attn_output.bias = NULL;
}

const struct model_arch graph_family_llama[] = {
    { .name = "llama", .hparams = hparams },
    { .name = "ernie4_5", .hparams = plain_hparams, .layer = ernie_layer },
    { .name = "internlm2", .hparams = plain_hparams },
    { .name = "llama-embed", .hparams = embed_hparams },
    { .name = "xverse", .hparams = plain_hparams },
    { 0 },
};
