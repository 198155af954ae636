/* phi2.c - folders of Phi 1 to 2 */
#include "convert/hf/families.h"

static const struct hf_name phi2_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.final_layernorm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
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

static void
keys_phi2(struct hf *h)
{
    convert_hf_must_be(h, "qk_layernorm", false, false);
}

const struct hf_family convert_hf_family_phi2[] = {
    { "PhiForCausalLM", "phi2", .turns = 0.5, .layer = { phi2_layer },
      .whole = phi2_whole, .layer_norm = true, .activations = HF_GELU_TANH,
      .keys = keys_phi2 },
    { 0 },
};
