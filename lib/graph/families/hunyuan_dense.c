/* hunyuan_dense.c - Hunyuan, Hunyuan-VL, Maincoder: LLaMA whose heads are
 * normed after they have been rotated
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           norm(rope(q)), norm(rope(k))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * Files of Hunyuan have the base that its scaling of long contexts gives; those
 * of Hunyuan-VL have alpha, from which it follows: base * alpha^(d / (d - 2)).
 * Its pairs turn by four positions (XD-RoPE), which are the same number for
 * text. */
#include <math.h>

#include "graph/arch.h"

static void
hunyuan_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->norm_after_rope = true;
}

static void
hunyuan_vl_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    float alpha;
    double d;

    hunyuan_hparams(keys, hp);
    alpha = graph_key_float_or_zero(keys, "rope.scaling.alpha", 1, 1e6f, 1);
    d = hp->rope.n_rot;
    if (d > 2)
        hp->rope.base *= (float)pow((double)alpha, d / (d - 2));
}

static void
maincoder_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->norm_after_rope = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_hunyuan_dense[] = {
    { .name = "hunyuan-dense",
      .hparams = hunyuan_hparams,
      .layer = layer_weights },
    { .name = "hunyuan_vl",
      .hparams = hunyuan_vl_hparams,
      .layer = layer_weights },
    { .name = "maincoder",
      .hparams = maincoder_hparams,
      .layer = layer_weights },
    { 0 },
};
