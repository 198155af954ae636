/* families.c - the families: names of their tensors there and here */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "convert/hf/families.h"

/* ---- names beside the layers --------------------------------------------- */

const struct hf_name convert_hf_usual[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name gemma_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", HF_PLUS_1 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name gemma4_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.embed_tokens_per_layer", "per_layer_token_embd",
      HF_OPTIONAL | HF_VOCAB },
    { "model.per_layer_model_projection", "per_layer_model_proj", HF_OPTIONAL },
    { "model.per_layer_projection_norm", "per_layer_proj_norm", HF_OPTIONAL },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
/* Matrices one after the other, as experts are. */
static const struct hf_name gemma3n_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.embed_tokens_per_layer", "per_layer_token_embd", HF_VOCAB },
    { "model.per_layer_model_projection", "per_layer_model_proj", 0 },
    { "model.per_layer_projection_norm", "per_layer_proj_norm", 0 },
    { "model.altup_projections.%d", "altup_proj", 0 },
    { "model.altup_unembed_projections.%d", "altup_unembd_proj", 0 },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name phi2_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.final_layernorm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name gpt2_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.wpe", "position_embd", HF_F32 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name gptj_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name neox_whole[] = {
    { "gpt_neox.embed_in", "token_embd", 0 },
    { "gpt_neox.final_layer_norm", "output_norm", 0 },
    { "embed_out", "output", HF_OPTIONAL | HF_OR_NEXT },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name falcon_whole[] = {
    { "transformer.word_embeddings", "token_embd", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};

/* ---- attention ----------------------------------------------------------- */

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
/* Layers may read the keys of others, and keys as values. */
static const struct hf_name attention_shared[] = {
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
static const struct hf_name gemma_head_norms[] = {
    { "self_attn.q_norm", "attn_q_norm", HF_PLUS_1 },
    { "self_attn.k_norm", "attn_k_norm", HF_PLUS_1 },
    { 0 },
};

/* ---- norms --------------------------------------------------------------- */

const struct hf_name convert_hf_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { 0 },
};
static const struct hf_name gemma_norms[] = {
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "ffn_norm", HF_PLUS_1 },
    { 0 },
};
static const struct hf_name gemma2_norms[] = {
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "post_attention_norm", HF_PLUS_1 },
    { "pre_feedforward_layernorm", "ffn_norm", HF_PLUS_1 },
    { "post_feedforward_layernorm", "post_ffw_norm", HF_PLUS_1 },
    { 0 },
};
/* And, of Gemma 3n and 4, what a layer's own embedding passes through. */
static const struct hf_name gemma4_norms[] = {
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
static const struct hf_name olmo2_norms[] = {
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "post_feedforward_layernorm", "post_ffw_norm", 0 },
    { 0 },
};

/* ---- feed-forward -------------------------------------------------------- */

const struct hf_name convert_hf_mlp[] = {
    { "mlp.gate_proj", "ffn_gate", 0 },
    { "mlp.up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};

/* One tensor an expert, or all experts in one, gates and ups together. */
#define BOTH "mlp.experts.gate_up_proj"
#define DOWN "mlp.experts.down_proj"
static const struct hf_name experts[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", HF_OR_NEXT },
    { BOTH, "ffn_gate_exps.weight", HF_EXACT | HF_GATES },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", HF_OR_NEXT },
    { BOTH, "ffn_up_exps.weight", HF_EXACT | HF_UPS },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", HF_OR_NEXT },
    { DOWN, "ffn_down_exps.weight", HF_EXACT },
    { 0 },
};
static const struct hf_name mixtral[] = {
    { "block_sparse_moe.gate", "ffn_gate_inp", HF_F32 | HF_OR_NEXT },
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.experts.%d.w1", "ffn_gate_exps", HF_OR_NEXT },
    { BOTH, "ffn_gate_exps.weight", HF_EXACT | HF_GATES },
    { "block_sparse_moe.experts.%d.w3", "ffn_up_exps", HF_OR_NEXT },
    { BOTH, "ffn_up_exps.weight", HF_EXACT | HF_UPS },
    { "block_sparse_moe.experts.%d.w2", "ffn_down_exps", HF_OR_NEXT },
    { DOWN, "ffn_down_exps.weight", HF_EXACT },
    { 0 },
};
/* Beside a feed-forward block: there are all of them or none. */
static const struct hf_name gemma4_experts[] = {
    { "router.proj", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "router.scale", "ffn_gate_inp.scale", HF_EXACT | HF_OPTIONAL },
    { "router.per_expert_scale", "ffn_down_exps.scale",
      HF_EXACT | HF_OPTIONAL },
    { "experts.gate_up_proj", "ffn_gate_up_exps.weight",
      HF_EXACT | HF_OPTIONAL },
    { "experts.down_proj", "ffn_down_exps.weight", HF_EXACT | HF_OPTIONAL },
    { "pre_feedforward_layernorm_2", "pre_ffw_norm_2", HF_OPTIONAL },
    { "post_feedforward_layernorm_1", "post_ffw_norm_1", HF_OPTIONAL },
    { "post_feedforward_layernorm_2", "post_ffw_norm_2", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name altup[] = {
    { "altup.correct_output_scale", "altup_correct_scale.weight", HF_EXACT },
    { "altup.correction_coefs", "altup_correct_coef", HF_F32 },
    { "altup.prediction_coefs", "altup_predict_coef", HF_F32 },
    { "altup.modality_router", "altup_router", 0 },
    { "altup.router_norm", "altup_router_norm", 0 },
    { "laurel.linear_left", "laurel_l", 0 },
    { "laurel.linear_right", "laurel_r", 0 },
    { "laurel.post_laurel_norm", "laurel_post_norm", 0 },
    { 0 },
};
static const struct hf_name shared_expert[] = {
    { "mlp.shared_expert_gate", "ffn_gate_inp_shexp", HF_F32 },
    { "mlp.shared_expert.gate_proj", "ffn_gate_shexp", 0 },
    { "mlp.shared_expert.up_proj", "ffn_up_shexp", 0 },
    { "mlp.shared_expert.down_proj", "ffn_down_shexp", 0 },
    { 0 },
};

/* ---- families with names of their own ------------------------------------ */

static const struct hf_name gpt2_layer[] = {
    { "ln_1", "attn_norm", 0 },
    { "attn.c_attn", "attn_qkv", HF_TRANSPOSE },
    { "attn.c_proj", "attn_output", HF_TRANSPOSE },
    { "ln_2", "ffn_norm", 0 },
    { "mlp.c_fc", "ffn_up", HF_TRANSPOSE },
    { "mlp.c_proj", "ffn_down", HF_TRANSPOSE },
    { 0 },
};
static const struct hf_name gptj_layer[] = {
    { "ln_1", "attn_norm", 0 },
    { "attn.q_proj", "attn_q", 0 },
    { "attn.k_proj", "attn_k", 0 },
    { "attn.v_proj", "attn_v", 0 },
    { "attn.out_proj", "attn_output", 0 },
    { "mlp.fc_in", "ffn_up", 0 },
    { "mlp.fc_out", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name neox_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "attention.query_key_value", "attn_qkv", HF_QKV },
    { "attention.dense", "attn_output", 0 },
    { "mlp.dense_h_to_4h", "ffn_up", 0 },
    { "mlp.dense_4h_to_h", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name falcon_layer[] = {
    { "ln_mlp", "attn_norm", HF_OR_NEXT },
    { "input_layernorm", "attn_norm", 0 },
    { "ln_attn", "attn_norm_2", HF_OPTIONAL },
    { "self_attention.query_key_value", "attn_qkv", HF_QKV },
    { "self_attention.dense", "attn_output", 0 },
    { "mlp.dense_h_to_4h", "ffn_up", 0 },
    { "mlp.dense_4h_to_h", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name phi2_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attn.q_proj", "attn_q", 0 },
    { "self_attn.k_proj", "attn_k", 0 },
    { "self_attn.v_proj", "attn_v", 0 },
    { "self_attn.dense", "attn_output", 0 },
    { "mlp.fc1", "ffn_up", 0 },
    { "mlp.fc2", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name phi3_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attn.qkv_proj", "attn_qkv", 0 },
    { "self_attn.o_proj", "attn_output", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "mlp.gate_up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name starcoder2_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "mlp.c_fc", "ffn_up", 0 },
    { "mlp.c_proj", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name gpt_oss_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attn.sinks", "attn_sinks.weight", HF_EXACT },
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "mlp.router", "ffn_gate_inp", HF_F32 },
    { BOTH "_blocks", "ffn_gate_exps.weight",
      HF_EXACT | HF_MXFP4 | HF_EVEN | HF_OR_NEXT },
    { BOTH, "ffn_gate_exps.weight", HF_EXACT | HF_EVEN },
    { BOTH "_bias", "ffn_gate_exps.bias", HF_EXACT | HF_EVEN },
    { BOTH "_blocks", "ffn_up_exps.weight",
      HF_EXACT | HF_MXFP4 | HF_ODD | HF_OR_NEXT },
    { BOTH, "ffn_up_exps.weight", HF_EXACT | HF_ODD },
    { BOTH "_bias", "ffn_up_exps.bias", HF_EXACT | HF_ODD },
    { DOWN "_blocks", "ffn_down_exps.weight",
      HF_EXACT | HF_MXFP4 | HF_OR_NEXT },
    { DOWN, "ffn_down_exps.weight", HF_EXACT | HF_TRANSPOSE },
    { DOWN "_bias", "ffn_down_exps.bias", HF_EXACT },
    { 0 },
};

/* ---- the table ----------------------------------------------------------- */

#define TANH "gelu_new|gelu_pytorch_tanh|gelu_fast"

/* Gemma3TextModel is an encoder, or Gemma 3 without what stands on top. */
static bool
sees_later_ids(struct core_json_keys *config)
{
    return core_json_bool(config, "use_bidirectional_attention", false);
}

static const struct hf_family families[] = {
    { "GPT2LMHeadModel",
      "gpt2",
      "transformer.h.",
      gpt2_whole,
      { gpt2_layer },
      .layer_norm = true,
      .positions = true,
      .activations = TANH,
      .tied = true },
    { "GPTJForCausalLM",
      "gptj",
      "transformer.h.",
      gptj_whole,
      { gptj_layer },
      .layer_norm = true,
      .activations = TANH },
    { "GPTNeoXForCausalLM",
      "gptneox",
      "gpt_neox.layers.",
      neox_whole,
      { neox_layer },
      .layer_norm = true,
      .activations = "gelu",
      .keys = convert_hf_keys_gpt_neox },
    { "FalconForCausalLM",
      "falcon",
      "transformer.h.",
      falcon_whole,
      { falcon_layer },
      .layer_norm = true,
      .activations = "gelu",
      .tied = true,
      .keys = convert_hf_keys_falcon },
    { "LlamaForCausalLM",
      "llama",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .activations = "silu" },
    { "MistralForCausalLM",
      "llama",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .activations = "silu",
      .keys = convert_hf_keys_window },
    { "MixtralForCausalLM",
      "llama",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, mixtral },
      .activations = "silu",
      .keys = convert_hf_keys_mixtral },
    { "Qwen2ForCausalLM",
      "qwen2",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .activations = "silu",
      .keys = convert_hf_keys_qwen },
    { "Qwen2MoeForCausalLM",
      "qwen2moe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, experts, shared_expert },
      .activations = "silu",
      .keys = convert_hf_keys_qwen2moe },
    { "Qwen3ForCausalLM",
      "qwen3",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        convert_hf_mlp },
      .activations = "silu",
      .keys = convert_hf_keys_qwen3 },
    { "Qwen3MoeForCausalLM",
      "qwen3moe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        experts },
      .activations = "silu",
      .keys = convert_hf_keys_qwen3moe },
    { "GemmaForCausalLM",
      "gemma",
      "model.layers.",
      gemma_whole,
      { convert_hf_attention, gemma_norms, convert_hf_mlp },
      .activations = TANH "|gelu",
      .tied = true },
    { "Gemma2ForCausalLM",
      "gemma2",
      "model.layers.",
      gemma_whole,
      { convert_hf_attention, gemma2_norms, convert_hf_mlp },
      .activations = TANH,
      .tied = true,
      .keys = convert_hf_keys_gemma2,
      .full_every = 2,
      .full_at = 1 },
    { "Gemma3ForCausalLM",
      "gemma3",
      "model.layers.",
      gemma_whole,
      { convert_hf_attention, gemma_head_norms, gemma2_norms, convert_hf_mlp },
      .activations = TANH,
      .tied = true,
      .keys = convert_hf_keys_gemma3,
      .full_every = 6,
      .full_at = 5,
      .windowed_base = 10000 },
    { "Gemma3ForConditionalGeneration",
      "gemma3",
      "model.layers.",
      gemma_whole,
      { convert_hf_attention, gemma_head_norms, gemma2_norms, convert_hf_mlp },
      .activations = TANH,
      .tied = true,
      .keys = convert_hf_keys_gemma3,
      .full_every = 6,
      .full_at = 5,
      .windowed_base = 10000 },
    { "Gemma3TextModel",
      "gemma-embedding",
      "model.layers.",
      gemma_whole,
      { convert_hf_attention, gemma_head_norms, gemma2_norms, convert_hf_mlp },
      .activations = TANH,
      .encoder = true,
      .tied = true,
      .keys = convert_hf_keys_gemma_embedding,
      .counts = sees_later_ids,
      .full_every = 6,
      .full_at = 5,
      .windowed_base = 10000 },
    { "Gemma3nForCausalLM",
      "gemma3n",
      "model.layers.",
      gemma3n_whole,
      { attention_shared, gemma4_norms, convert_hf_mlp, altup },
      .activations = TANH,
      .tied = true,
      .keys = convert_hf_keys_gemma3n,
      .listed = true,
      .windowed_base = 10000 },
    { "Gemma3nForConditionalGeneration",
      "gemma3n",
      "model.layers.",
      gemma3n_whole,
      { attention_shared, gemma4_norms, convert_hf_mlp, altup },
      .activations = TANH,
      .tied = true,
      .keys = convert_hf_keys_gemma3n,
      .listed = true,
      .windowed_base = 10000 },
    { "Gemma4ForCausalLM",
      "gemma4",
      "model.layers.",
      gemma4_whole,
      { attention_shared, gemma4_norms, convert_hf_mlp, gemma4_experts },
      .activations = TANH,
      .tied = true,
      .keys = convert_hf_keys_gemma4,
      .listed = true,
      .windowed_base = 10000 },
    { "Gemma4ForConditionalGeneration",
      "gemma4",
      "model.layers.",
      gemma4_whole,
      { attention_shared, gemma4_norms, convert_hf_mlp, gemma4_experts },
      .activations = TANH,
      .tied = true,
      .keys = convert_hf_keys_gemma4,
      .listed = true,
      .windowed_base = 10000 },
    { "Gemma4UnifiedForConditionalGeneration",
      "gemma4",
      "model.layers.",
      gemma4_whole,
      { attention_shared, gemma4_norms, convert_hf_mlp, gemma4_experts },
      .activations = TANH,
      .tied = true,
      .keys = convert_hf_keys_gemma4,
      .listed = true,
      .windowed_base = 10000 },
    { "PhiForCausalLM",
      "phi2",
      "model.layers.",
      phi2_whole,
      { phi2_layer },
      .layer_norm = true,
      .activations = TANH,
      .keys = convert_hf_keys_phi2 },
    { "Phi3ForCausalLM",
      "phi3",
      "model.layers.",
      convert_hf_usual,
      { phi3_layer },
      .activations = "silu",
      .keys = convert_hf_keys_phi3 },
    { "SmolLM3ForCausalLM",
      "smollm3",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .activations = "silu",
      .tied = true,
      .keys = convert_hf_keys_smollm3 },
    { "GptOssForCausalLM",
      "gpt-oss",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, gpt_oss_layer },
      .activations = "silu",
      .keys = convert_hf_keys_gpt_oss,
      .full_every = 2,
      .full_at = 1 },
    { "Starcoder2ForCausalLM",
      "starcoder2",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, starcoder2_layer },
      .layer_norm = true,
      .activations = TANH,
      .tied = true,
      .keys = convert_hf_keys_window },
    { "Olmo2ForCausalLM",
      "olmo2",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, olmo2_norms,
        convert_hf_mlp },
      .activations = "silu" },
    { "Olmo3ForCausalLM",
      "olmo2",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, olmo2_norms,
        convert_hf_mlp },
      .activations = "silu",
      .keys = convert_hf_keys_listed,
      .listed = true },
    { "GraniteForCausalLM",
      "granite",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .activations = "silu",
      .keys = convert_hf_keys_granite },
    { 0 },
};

static const struct hf_family *const tables[] = {
    families,
    convert_hf_dense,
    convert_hf_mixtures,
    convert_hf_encoders,
    convert_hf_pictures,
    convert_hf_patterns,
    convert_hf_windows,
    convert_hf_llamas,
    convert_hf_latents,
    convert_hf_deltas,
    convert_hf_states,
    convert_hf_hybrids,
};

static bool
is_set(struct core_json_keys *config, const char *setting)
{
    const json_t *v = core_json_find(config, setting);

    return v && !(json_is_integer(v) && json_integer_value(v) == 0);
}

static bool
is_of_name(const char *family, const char *model)
{
    return strcmp(family, model) == 0;
}

/* Whether the model is the family's without what stands on top of its layers:
 * "Qwen3Model" of "Qwen3ForCausalLM". */
static bool
is_bare_of(const char *family, const char *model)
{
    static const char *const tops[] = { "ForCausalLM", "LMHeadModel",
                                        "ForConditionalGeneration",
                                        "EncoderModel" };
    size_t n = strlen(family);

    for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
        size_t top = strlen(tops[i]);

        if (n > top && strcmp(family + n - top, tops[i]) == 0 &&
            strncmp(model, family, n - top) == 0)
            return !strcmp(model + n - top, "Model") ||
                   !strcmp(model + n - top, "TextModel");
    }
    return false;
}

static const struct hf_family *
find_named(const char *model, struct core_json_keys *config,
           bool (*is_named)(const char *family, const char *model))
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct hf_family *f = tables[i]; f->model; f++)
            if (is_named(f->model, model) &&
                (!f->setting || is_set(config, f->setting)) &&
                (!f->counts || f->counts(config)))
                return f;
    return NULL;
}

const struct hf_family *
convert_hf_family_find(const char *model, struct core_json_keys *config)
{
    const struct hf_family *f = find_named(model, config, is_of_name);

    return f ? f : find_named(model, config, is_bare_of);
}

#endif
