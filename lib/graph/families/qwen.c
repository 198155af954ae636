/* qwen.c - Qwen 1: LLaMA with biases on queries, keys and values
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * Files say twice the length of a feed-forward vector. What the maker does past
 * the trained length, to queries and to the base, is in no file. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    for (int32_t i = 0; i < hp->n_layer && keys->status == GG_OK; i++) {
        if (hp->layers[i].n_ff % 2)
            graph_key_mismatch(keys, "feed_forward_length",
                               "is not a multiple of", hp->layers[i].n_ff, 2);
        hp->layers[i].n_ff /= 2;
    }
}

const struct model_arch graph_family_qwen[] = {
    { .name = "qwen", .hparams = hparams },
    { 0 },
};
