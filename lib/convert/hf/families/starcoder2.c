/* starcoder2.c - folders of StarCoder 2, CodeShell */
#include "convert/hf/families.h"

static const struct hf_name starcoder2_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "mlp.c_fc", "ffn_up", 0 },
    { "mlp.c_proj", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name codeshell_whole[] = {
    { "transformer.wte", "token_embd", HF_OPTIONAL }, /* or lm_head */
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};

static void
keys_codeshell(struct hf *h)
{
    h->n_head_kv = (int32_t)core_json_int(&h->config, "num_query_groups", 1,
                                          h->n_head, h->n_head);
    convert_hf_must_be(h, "group_query_attention", true, true);
}

const struct hf_family convert_hf_family_starcoder2[] = {
    { "Starcoder2ForCausalLM", "starcoder2",
      .layer = { convert_hf_attention, starcoder2_layer }, .layer_norm = true,
      .activations = HF_GELU_TANH, .tied = true,
      .keys = convert_hf_keys_window },
    { "CodeShellForCausalLM", "codeshell", .layer = { convert_hf_starcoder },
      .layers = "transformer.h.", .whole = codeshell_whole, .layer_norm = true,
      .activations = "gelu_pytorch_tanh", .keys = keys_codeshell },
    { 0 },
};
