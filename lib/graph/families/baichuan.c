/* baichuan.c - Baichuan: LLaMA; its larger one has ALiBi
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * How positions are told follows from the number of layers: 7B turns queries
 * and keys, 13B has a bias that falls with the distance (Press et al. 2022). */
#include "graph/arch.h"

enum {
    LAYERS_7B = 32,
    LAYERS_13B = 40,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    if (hp->n_layer == LAYERS_7B)
        graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    if (hp->n_layer == LAYERS_13B)
        hp->attn_max_bias = 8;
}

const struct model_arch graph_family_baichuan[] = {
    { .name = "baichuan", .hparams = hparams },
    { 0 },
};
