/* nanbeige.c - folders of Nanbeige */
#include "convert/hf/families.h"

enum {
    MAX_LOOPS = 64,
};

static void
keys_nanbeige(struct hf *h)
{
    static const char *const none[] = {
        "qk_layernorm",
        "ngram_insert_all_layers",
        "loop_share_kv",
        "enable_double_loop_split",
        "enable_hyper_connection",
        "enable_mhc",
        "enable_depth_attention",
    };
    struct core_json_keys *c = &h->config;

    convert_hf_set_u32(h, "num_loops",
                       core_json_int(c, "num_loops", 1, MAX_LOOPS, 1));
    convert_hf_set_bool(h, "skip_loop_final_norm",
                        core_json_bool(c, "skip_loop_final_norm", false));
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        convert_hf_must_be(h, none[i], false, false);
    convert_hf_must_be_int(h, "emb_neighbor_num", 0);
}

const struct hf_family convert_hf_family_nanbeige[] = {
    { "NanbeigeForCausalLM", "nanbeige",
      .layer = { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .keys = keys_nanbeige },
    { 0 },
};
