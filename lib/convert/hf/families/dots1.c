/* dots1.c - folders of dots.llm1, Ling 2 and Ring 2, Sarvam 30B */
#include "convert/hf/families.h"

static const struct hf_name ling_whole[] = {
    { "model.word_embeddings", "token_embd", HF_OR_NEXT },
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name ling_attention[] = {
    { "attention.query_key_value", "attn_qkv", 0 },
    { "attention.query_layernorm", "attn_q_norm", 0 },
    { "attention.key_layernorm", "attn_k_norm", 0 },
    { "attention.dense", "attn_output", 0 },
    { "mlp.gate.expert_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { 0 },
};

static void
keys_ling(struct hf *h)
{
    convert_hf_keys_deepseek3(h);
    convert_hf_must_be(h, "use_qk_norm", true, true);
    convert_hf_must_be(h, "norm_head", false, false);
}

const struct hf_family convert_hf_family_dots1[] = {
    { "Dots1ForCausalLM", "dots1",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_expert_names, convert_hf_dense_names,
                 convert_hf_shared_names },
      .keys = convert_hf_keys_deepseek3 },
    { "BailingMoeV2ForCausalLM", "bailingmoe2",
      .layer = { ling_attention, convert_hf_norms, convert_hf_expert_names,
                 convert_hf_dense_names, convert_hf_shared_names },
      .whole = ling_whole, .keys = keys_ling, .turns = 0.5 },
    { "SarvamMoEForCausalLM", "bailingmoe2",
      .layer = { ling_attention, convert_hf_norms, convert_hf_expert_names,
                 convert_hf_dense_names, convert_hf_shared_names },
      .whole = ling_whole, .keys = keys_ling, .characters = true },
    { 0 },
};
