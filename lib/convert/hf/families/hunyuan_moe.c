/* hunyuan_moe.c - folders of Hunyuan A13B */
#include "convert/hf/families.h"

static const struct hf_name hunyuan[] = {
    { "self_attn.query_layernorm", "attn_q_norm", 0 },
    { "self_attn.key_layernorm", "attn_k_norm", 0 },
    { "mlp.gate.wg", "ffn_gate_inp", HF_F32 },
    { "mlp.shared_mlp.gate_proj", "ffn_gate_shexp", 0 },
    { "mlp.shared_mlp.up_proj", "ffn_up_shexp", 0 },
    { "mlp.shared_mlp.down_proj", "ffn_down_shexp", 0 },
    { 0 },
};

static void
keys_hunyuan(struct hf *h)
{
    convert_hf_set_experts(h, 1);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    convert_hf_set_u32(h, "expert_shared_feed_forward_length", h->n_ff);
}

const struct hf_family convert_hf_family_hunyuan_moe[] = {
    { "HunYuanMoEV1ForCausalLM", "hunyuan-moe",
      .layer = { convert_hf_attention, convert_hf_norms, hunyuan,
                 convert_hf_expert_names },
      .keys = keys_hunyuan, .alpha = "" },
    { 0 },
};
