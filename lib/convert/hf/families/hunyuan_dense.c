/* hunyuan_dense.c - folders of Hunyuan, Hunyuan-VL, Maincoder */
#include "convert/hf/families.h"

static const struct hf_name hunyuan_norms[] = {
    { "self_attn.query_layernorm", "attn_q_norm", 0 },
    { "self_attn.key_layernorm", "attn_k_norm", 0 },
    { 0 },
};
static const struct hf_name maincoder_mlp[] = {
    { "feed_forward.gate_proj", "ffn_gate", 0 },
    { "feed_forward.up_proj", "ffn_up", 0 },
    { "feed_forward.down_proj", "ffn_down", 0 },
    { 0 },
};

/* The encoder of images. */
static const char *const hunyuan_left[] = { "vit.", NULL };

static void
keys_maincoder(struct hf *h)
{
    h->n_ff = (int32_t)core_json_int(&h->config, "intermediate_size_mlp", 1,
                                     HF_MAX_FF, h->n_ff);
    convert_hf_must_be(h, "use_qk_norm", true, true);
}

/* One expert is none. */
static void
keys_hunyuan_vl(struct hf *h)
{
    convert_hf_must_be_int(h, "num_experts", 1);
    convert_hf_set_sections(h);
}

const struct hf_family convert_hf_family_hunyuan_dense[] = {
    { "HunYuanDenseV1ForCausalLM", "hunyuan-dense",
      .layer = { convert_hf_attention, hunyuan_norms, convert_hf_norms,
                 convert_hf_mlp },
      .alpha = "" },
    { "HunYuanVLForConditionalGeneration", "hunyuan_vl",
      .layer = { convert_hf_attention, hunyuan_norms, convert_hf_norms,
                 convert_hf_mlp },
      .epsilon = 1e-5, .keys = keys_hunyuan_vl, .alpha = "rope.scaling.alpha",
      .left_out = hunyuan_left },
    { "MaincoderForCausalLM", "maincoder",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 maincoder_mlp },
      .epsilon = 1e-5, .tied = true, .keys = keys_maincoder },
    { 0 },
};
