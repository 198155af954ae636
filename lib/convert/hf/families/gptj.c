/* gptj.c - folders of GPT-J */
#include "convert/hf/families.h"

static const struct hf_name gptj_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
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

const struct hf_family convert_hf_family_gptj[] = {
    { "GPTJForCausalLM", "gptj", .no_base = true, .layer = { gptj_layer },
      .layers = "transformer.h.", .whole = gptj_whole, .layer_norm = true,
      .activations = HF_GELU_TANH },
    { 0 },
};
