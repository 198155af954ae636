/* gpt2.c - folders of GPT-2, StarCoder */
#include "convert/hf/families.h"

static const struct hf_name gpt2_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.wpe", "position_embd", HF_F32 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name gpt2_layer[] = {
    { "ln_1", "attn_norm", 0 },
    { "attn.c_attn", "attn_qkv", HF_TRANSPOSE },
    { "attn.c_proj", "attn_output", HF_TRANSPOSE },
    { "ln_2", "ffn_norm", 0 },
    { "mlp.c_fc", "ffn_up", HF_TRANSPOSE },
    { "mlp.c_proj", "ffn_down", HF_TRANSPOSE },
    { 0 },
};
static const struct hf_name starcoder_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.wpe", "position_embd", HF_F32 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};

static void
keys_starcoder(struct hf *h)
{
    convert_hf_must_be(h, "multi_query", true, true);
    h->n_head_kv = 1;
}

const struct hf_family convert_hf_family_gpt2[] = {
    { "GPT2LMHeadModel", "gpt2", .layer = { gpt2_layer },
      .layers = "transformer.h.", .whole = gpt2_whole, .layer_norm = true,
      .positions = true, .activations = HF_GELU_TANH, .tied = true },
    { "GPTBigCodeForCausalLM", "starcoder", .layer = { convert_hf_starcoder },
      .layers = "transformer.h.", .whole = starcoder_whole, .layer_norm = true,
      .positions = true, .activations = "gelu_pytorch_tanh|gelu_new|gelu",
      .tied = true, .keys = keys_starcoder },
    { 0 },
};
