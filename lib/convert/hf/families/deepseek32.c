/* deepseek32.c - folders of DeepSeek V3.2 and GLM 5 */
#include <string.h>

#include "convert/hf/families.h"

/* From this many positions on files must say which layers have an indexer. */
enum {
    GLM_LONG = 1 << 20,
};

/* All layers choose their keys. */
static void
check_layer_types(struct hf *h)
{
    const json_t *list = convert_hf_layers_list(h, "layer_types");
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n; i++) {
        const char *type = json_string_value(json_array_get(list, i));

        if (!type || strcmp(type, "indexed_attention") != 0)
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_types: %.40s is not indexed_attention",
                          type ? type : "null");
    }
}

static void
keys_deepseek32(struct hf *h)
{
    h->n_rot = convert_hf_set_latent(h, true);
    convert_hf_keys_deepseek3(h);
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_dense(h, 3));
    convert_hf_set_indexer(h);
    check_layer_types(h);
}

static void
keys_glm_dsa(struct hf *h)
{
    keys_deepseek32(h);
    convert_hf_set_indexer_types(h, convert_hf_indexer_by_number,
                                 h->n_ctx >= GLM_LONG);
}

const struct hf_family convert_hf_family_deepseek32[] = {
    { "DeepseekV32ForCausalLM", "deepseek32",
      .layer = { convert_hf_latent, convert_hf_indexer, convert_hf_norms,
                 convert_hf_expert_names, convert_hf_shared_names,
                 convert_hf_dense_names },
      .keys = keys_deepseek32, .any_layers = true, .mtp = &convert_hf_mtp },
    { "GlmMoeDsaForCausalLM", "glm-dsa",
      .layer = { convert_hf_latent, convert_hf_indexer, convert_hf_norms,
                 convert_hf_expert_names, convert_hf_shared_names,
                 convert_hf_dense_names },
      .keys = keys_glm_dsa, .epsilon = 1e-5, .any_layers = true,
      .mtp = &convert_hf_mtp },
    { 0 },
};
