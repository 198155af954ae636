/* minicpm.c - folders of MiniCPM */
#include <math.h>

#include "convert/hf/families.h"

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

const struct hf_family convert_hf_family_minicpm[] = {
    { "MiniCPMForCausalLM", "minicpm",
      .layer = { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .tied = true, .keys = keys_minicpm },
    { 0 },
};
