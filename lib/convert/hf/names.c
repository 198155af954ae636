/* names.c - names of tensors that several families have */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/projector.h"

const struct hf_name convert_hf_usual[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_usual_plus_1[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", HF_PLUS_1 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_attention[] = {
    { "self_attn.q_proj", "attn_q", 0 },
    { "self_attn.k_proj", "attn_k", 0 },
    { "self_attn.v_proj", "attn_v", 0 },
    { "self_attn.o_proj", "attn_output", 0 },
    { 0 },
};
const struct hf_name convert_hf_attention_pairs[] = {
    { "self_attn.q_proj", "attn_q", HF_HEADS_Q },
    { "self_attn.k_proj", "attn_k", HF_HEADS_K },
    { "self_attn.v_proj", "attn_v", 0 },
    { "self_attn.o_proj", "attn_output", 0 },
    { 0 },
};
const struct hf_name convert_hf_siglip[] = {
    { "layer_norm1", "ln1", 0 },
    { "layer_norm2", "ln2", 0 },
    { "self_attn.q_proj", "attn_q", 0 },
    { "self_attn.k_proj", "attn_k", 0 },
    { "self_attn.v_proj", "attn_v", 0 },
    { "self_attn.out_proj", "attn_out", 0 },
    { "mlp.fc1", "ffn_up", 0 },
    { "mlp.fc2", "ffn_down", 0 },
    { 0 },
};
/* Layers may read the keys of others, and keys as values. */
const struct hf_name convert_hf_gemma_attention[] = {
    { "self_attn.q_proj", "attn_q", 0 },
    { "self_attn.k_proj", "attn_k", HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", 0 },
    { "self_attn.q_norm", "attn_q_norm", 0 },
    { "self_attn.k_norm", "attn_k_norm", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_head_norms[] = {
    { "self_attn.q_norm", "attn_q_norm", 0 },
    { "self_attn.k_norm", "attn_k_norm", 0 },
    { 0 },
};
const struct hf_name convert_hf_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { 0 },
};
const struct hf_name convert_hf_norms_plus_1[] = {
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "ffn_norm", HF_PLUS_1 },
    { 0 },
};
const struct hf_name convert_hf_gemma2_norms[] = {
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "post_attention_norm", HF_PLUS_1 },
    { "pre_feedforward_layernorm", "ffn_norm", HF_PLUS_1 },
    { "post_feedforward_layernorm", "post_ffw_norm", HF_PLUS_1 },
    { 0 },
};
/* And, of Gemma 3n and 4, what a layer's own embedding passes through. */
const struct hf_name convert_hf_gemma4_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "pre_feedforward_layernorm", "ffn_norm", 0 },
    { "post_feedforward_layernorm", "post_ffw_norm", 0 },
    { "per_layer_input_gate", "inp_gate", HF_OPTIONAL },
    { "per_layer_projection", "proj", HF_OPTIONAL },
    { "post_per_layer_input_norm", "post_norm", HF_OPTIONAL },
    { "layer_scalar", "layer_output_scale.weight", HF_EXACT | HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_post_norms[] = {
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "post_feedforward_layernorm", "post_ffw_norm", 0 },
    { 0 },
};
const struct hf_name convert_hf_mlp[] = {
    { "mlp.gate_proj", "ffn_gate", 0 },
    { "mlp.up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
/* One tensor an expert, or all experts in one, gates and ups together. */
#define BOTH "mlp.experts.gate_up_proj"
#define DOWN "mlp.experts.down_proj"
const struct hf_name convert_hf_qwen_experts[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", HF_OR_NEXT },
    { BOTH, "ffn_gate_exps.weight", HF_GATES | HF_EXACT },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", HF_OR_NEXT },
    { BOTH, "ffn_up_exps.weight", HF_UPS | HF_EXACT },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", HF_OR_NEXT },
    { DOWN, "ffn_down_exps.weight", HF_EXACT },
    { 0 },
};
const struct hf_name convert_hf_up_down[] = {
    { "mlp.up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
const struct hf_name convert_hf_one_norm[] = {
    { "input_layernorm", "attn_norm", 0 },
    { 0 },
};
const struct hf_name convert_hf_starcoder[] = {
    { "ln_1", "attn_norm", 0 },
    { "attn.c_attn", "attn_qkv", 0 },
    { "attn.c_proj", "attn_output", 0 },
    { "ln_2", "ffn_norm", 0 },
    { "mlp.c_fc", "ffn_up", 0 },
    { "mlp.c_proj", "ffn_down", 0 },
    { 0 },
};
/* Layers that have experts, one tensor each; the others are dense. */
const struct hf_name convert_hf_expert_names[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "mlp.gate.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", HF_OPTIONAL },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_dense_names[] = {
    { "mlp.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "mlp.up_proj", "ffn_up", HF_OPTIONAL },
    { "mlp.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_shared_names[] = {
    { "mlp.shared_experts.gate_proj", "ffn_gate_shexp", HF_OPTIONAL },
    { "mlp.shared_experts.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "mlp.shared_experts.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_any_experts[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "mlp.gate.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "mlp.experts.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", HF_OPTIONAL },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", HF_OPTIONAL },
    { "mlp.shared_expert.gate_proj", "ffn_gate_shexp", HF_OPTIONAL },
    { "mlp.shared_expert.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "mlp.shared_expert.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { "mlp.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "mlp.up_proj", "ffn_up", HF_OPTIONAL },
    { "mlp.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};

#endif
