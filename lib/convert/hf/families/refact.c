/* refact.c - folders of Refact */
#include "convert/hf/families.h"

enum {
    MULTIPLE = 256, /* of the length of a feed-forward vector */
};

static const struct hf_name refact_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.ln_f", "output_norm", HF_OR_NEXT },
    { "ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
/* Keys and values are the two halves of one matrix. */
static const struct hf_name refact_layer[] = {
    { "ln_1", "attn_norm", 0 },
    { "attn.q", "attn_q", 0 },
    { "attn.kv", "attn_k", HF_GATES },
    { "attn.kv", "attn_v", HF_UPS },
    { "attn.c_proj", "attn_output", 0 },
    { "ln_2", "ffn_norm", 0 },
    { "mlp.gate_up_proj", "ffn_gate", HF_GATES },
    { "mlp.gate_up_proj", "ffn_up", HF_UPS },
    { "mlp.c_proj", "ffn_down", 0 },
    { 0 },
};

/* Norms have means, as its makers compute them: the other key, which is there
 * for llama.cpp, says root mean squares. */
static void
keys_refact(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t inner =
        convert_hf_number(h, "n_inner", HF_MAX_FF, 4 * (int64_t)h->n_embd);

    h->n_ff = (int32_t)((2 * inner / 3 + MULTIPLE - 1) / MULTIPLE * MULTIPLE);
    h->n_head_kv = 1;
    convert_hf_must_be(h, "multi_query", true, true);
    convert_hf_set_f32(h, "attention.layer_norm_epsilon",
                       core_json_number(c, "layer_norm_epsilon", 0, 0.1, 1e-5));
}

const struct hf_family convert_hf_family_refact[] = {
    { "GPTRefactForCausalLM", "refact", .layer = { refact_layer },
      .layers = "transformer.h.", .whole = refact_whole, .positions = true,
      .activations = "silu|swish|gelu_pytorch_tanh", .epsilon = 1e-5,
      .keys = keys_refact },
    { 0 },
};
