/* deepseek32.c - folders of DeepSeek V3.2 and GLM 5 */
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

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

/* ---- GLM 5.2: layers without an indexer ---------------------------------- */

enum {
    GLM_OFFSET = 2,
};

/* A pattern of letters, or every so many from the first few on. */
static bool
is_full_by_number(struct hf *h, int32_t layer)
{
    struct core_json_keys *c = &h->config;
    const char *pattern = core_json_text(c, "index_topk_pattern", "");
    int64_t every = core_json_int(c, "index_topk_freq", 1, HF_MAX_CTX, 1);
    int64_t first =
        core_json_int(c, "index_skip_topk_offset", 0, HF_MAX_CTX, GLM_OFFSET);

    if (*pattern)
        return (size_t)layer < strlen(pattern) && pattern[layer] == 'F';
    return layer < first || (layer - first + 1) % every == 0;
}

static bool
has_own_indexer(struct hf *h, const json_t *types, int32_t layer)
{
    const char *type = json_string_value(json_array_get(types, (size_t)layer));

    if (!types)
        return is_full_by_number(h, layer);
    if (!type || (strcmp(type, "full") != 0 && strcmp(type, "shared") != 0))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "indexer_types: %.40s is none of full, shared",
                      type ? type : "null");
    return type && !strcmp(type, "full");
}

/* Of the layers without MTP layers, as other programs want it. */
static void
set_indexer_types(struct hf *h)
{
    const json_t *types = convert_hf_layers_list(h, "indexer_types");
    bool *own = mem_array((size_t)h->n_layer, sizeof(*own)), all = true;
    char key[96];

    for (int32_t i = 0; own && i < h->n_layer; i++) {
        own[i] = has_own_indexer(h, types, i);
        all = all && own[i];
    }
    snprintf(key, sizeof(key), "%s.attention.indexer.types", h->family->arch);
    if (!own)
        h->config.status = error_nomem(h->config.err);
    else if (convert_hf_good(h) && !(all && h->n_ctx < 1 << 20))
        gguf_set_arr_data(h->gguf, key, GGUF_TYPE_BOOL, own,
                          (size_t)h->n_layer);
    mem_free(own);
}

static void
keys_glm_dsa(struct hf *h)
{
    keys_deepseek32(h);
    set_indexer_types(h);
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
