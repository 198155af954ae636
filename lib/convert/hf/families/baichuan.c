/* baichuan.c - folders of Baichuan */
#include "convert/hf/families.h"

enum {
    LAYERS_7B = 32, /* of Baichuan */
    LAYERS_13B = 40,
};

#define PACK "self_attn.W_pack"
static const struct hf_name packed[] = {
    { PACK, "attn_q", HF_ONLY_Q },
    { PACK, "attn_k", HF_ONLY_K },
    { PACK, "attn_v", HF_ONLY_V },
    { "self_attn.o_proj", "attn_output", 0 },
    { 0 },
};

/* How positions are told follows from the number of layers. The output of the
 * second ones, which say z_loss_weight, is another. */
static void
keys_baichuan(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    if (h->n_layer != LAYERS_7B && h->n_layer != LAYERS_13B)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "num_hidden_layers: baichuan has 32 or 40 here");
    if (core_json_find(c, "z_loss_weight"))
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "z_loss_weight: Baichuan 2 norms the rows of its output, "
                      "baichuan does not here");
    h->n_ctx = (int32_t)core_json_int(
        c, "max_position_embeddings|model_max_length", 1, HF_MAX_CTX, 4096);
}

const struct hf_family convert_hf_family_baichuan[] = {
    { "BaichuanForCausalLM|BaiChuanForCausalLM", "baichuan",
      .layer = { packed, convert_hf_norms, convert_hf_mlp },
      .keys = keys_baichuan },
    { 0 },
};
