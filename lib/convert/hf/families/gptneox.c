/* gptneox.c - folders of GPT-NeoX and Pythia */
#include "convert/hf/families.h"

static const struct hf_name neox_whole[] = {
    { "gpt_neox.embed_in", "token_embd", 0 },
    { "gpt_neox.final_layer_norm", "output_norm", 0 },
    { "embed_out", "output", HF_OPTIONAL | HF_OR_NEXT },
    { "lm_head", "output", HF_OPTIONAL },
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

static void
keys_gpt_neox(struct hf *h)
{
    convert_hf_set_bool(
        h, "use_parallel_residual",
        core_json_bool(&h->config, "use_parallel_residual", true));
}

const struct hf_family convert_hf_family_gptneox[] = {
    { "GPTNeoXForCausalLM", "gptneox", .turns = 0.25, .layer = { neox_layer },
      .layers = "gpt_neox.layers.", .whole = neox_whole, .layer_norm = true,
      .activations = "gelu", .keys = keys_gpt_neox },
    { 0 },
};
