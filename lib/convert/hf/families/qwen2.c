/* qwen2.c - folders of Qwen 2, 2.5, 2-VL, PaddleOCR-VL, EXAONE 3, openPangu
 * Embedded */
#include "convert/hf/families.h"

static const struct hf_name exaone_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name exaone_layer[] = {
    { "ln_1", "attn_norm", 0 },
    { "attn.attention.q_proj", "attn_q", 0 },
    { "attn.attention.k_proj", "attn_k", 0 },
    { "attn.attention.v_proj", "attn_v", 0 },
    { "attn.attention.out_proj", "attn_output", 0 },
    { "ln_2", "ffn_norm", 0 },
    { "mlp.c_fc_0", "ffn_gate", 0 },
    { "mlp.c_fc_1", "ffn_up", 0 },
    { "mlp.c_proj", "ffn_down", 0 },
    { 0 },
};

static void
keys_qwen2vl(struct hf *h)
{
    convert_hf_keys_qwen(h);
    convert_hf_set_sections(h);
}

static void
keys_paddleocr(struct hf *h)
{
    convert_hf_must_be(h, "use_bias", false, false);
    convert_hf_set_sections(h);
}

const struct hf_family convert_hf_family_qwen2[] = {
    { "Qwen2ForCausalLM", "qwen2",
      .layer = { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .keys = convert_hf_keys_qwen },
    { "Qwen2VLForConditionalGeneration|Qwen2_5_VLForConditionalGeneration",
      "qwen2vl",
      .layer = { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .keys = keys_qwen2vl },
    { "PaddleOCRVLForConditionalGeneration", "paddleocr",
      .layer = { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .epsilon = 1e-5, .tied = true, .keys = keys_paddleocr },
    { "PanguEmbeddedForCausalLM", "pangu-embedded",
      .layer = { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .epsilon = 1e-5 },
    { "ExaoneForCausalLM", "exaone", .layer = { exaone_layer },
      .layers = "transformer.h.", .whole = exaone_whole, .epsilon = 1e-5 },
    { 0 },
};
