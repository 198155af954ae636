/* minicpm3.c - folders of MiniCPM 3 and PLM */
#include "convert/hf/families.h"

/* The scales are not in files. */
static void
keys_minicpm3(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    h->n_rot = convert_hf_set_latent(h, false);
    if (core_json_number(c, "scale_emb", 0, 1e6, 12) != 12 ||
        core_json_number(c, "scale_depth", 0, 1e6, 1.4) != 1.4 ||
        core_json_number(c, "dim_model_base", 0, 1e6, 256) != 256)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "scale_emb, scale_depth, dim_model_base: are 12, 1.4 and "
                      "256 in minicpm3");
}

static void
keys_plm(struct hf *h)
{
    h->n_rot = convert_hf_set_latent(h, false);
}

const struct hf_family convert_hf_family_minicpm3[] = {
    { "MiniCPM3ForCausalLM", "minicpm3",
      .layer = { convert_hf_latent_whole, convert_hf_norms,
                 convert_hf_dense_names },
      .epsilon = 1e-5, .tied = true, .keys = keys_minicpm3 },
    { "PLMForCausalLM", "plm",
      .layer = { convert_hf_latent_whole, convert_hf_norms,
                 convert_hf_up_down },
      .activations = "relu2", .keys = keys_plm },
    { 0 },
};
