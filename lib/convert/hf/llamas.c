/* llamas.c - families that are LLaMA but for a few things: names of their
 * tensors there and here, and their keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "convert/hf/families.h"

/* ---- keys ---------------------------------------------------------------- */

/* A scale that the configuration does not say, the file does not. */
static void
keys_minicpm(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    double base = core_json_number(c, "dim_model_base", 1, 1e6, 1);
    double depth = core_json_number(c, "scale_depth", 0, 1e6, 1);

    if (core_json_find(c, "scale_emb"))
        convert_hf_set_f32(h, "embedding_scale",
                           core_json_number(c, "scale_emb", 0, 1e6, 1));
    if (core_json_find(c, "scale_depth"))
        convert_hf_set_f32(h, "residual_scale", depth / sqrt(h->n_layer));
    if (core_json_find(c, "dim_model_base"))
        convert_hf_set_f32(h, "logit_scale", h->n_embd / base);
}

/* ---- the table ----------------------------------------------------------- */

const struct hf_family convert_hf_llamas[] = {
    { "MiniCPMForCausalLM",
      "minicpm",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .activations = "silu",
      .tied = true,
      .keys = keys_minicpm },
    { 0 },
};

#endif
