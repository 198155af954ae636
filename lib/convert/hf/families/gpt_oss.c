/* gpt_oss.c - folders of gpt-oss */
#include "convert/hf/families.h"

/* One tensor an expert, or all experts in one, gates and ups together. */
#define BOTH "mlp.experts.gate_up_proj"
#define DOWN "mlp.experts.down_proj"
static const struct hf_name gpt_oss_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attn.sinks", "attn_sinks.weight", HF_EXACT },
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "mlp.router", "ffn_gate_inp", HF_F32 },
    { BOTH "_blocks", "ffn_gate_exps.weight",
      HF_MXFP4_EVEN | HF_EXACT | HF_OR_NEXT },
    { BOTH, "ffn_gate_exps.weight", HF_EVEN | HF_EXACT },
    { BOTH "_bias", "ffn_gate_exps.bias", HF_EVEN | HF_EXACT },
    { BOTH "_blocks", "ffn_up_exps.weight",
      HF_MXFP4_ODD | HF_EXACT | HF_OR_NEXT },
    { BOTH, "ffn_up_exps.weight", HF_ODD | HF_EXACT },
    { BOTH "_bias", "ffn_up_exps.bias", HF_ODD | HF_EXACT },
    { DOWN "_blocks", "ffn_down_exps.weight",
      HF_MXFP4 | HF_EXACT | HF_OR_NEXT },
    { DOWN, "ffn_down_exps.weight", HF_TRANSPOSE | HF_EXACT },
    { DOWN "_bias", "ffn_down_exps.bias", HF_EXACT },
    { 0 },
};

static void
keys_gpt_oss(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    double limit = core_json_number(c, "swiglu_limit", 0, 1e6, 7);

    convert_hf_keys_window(h);
    convert_hf_set_experts(h, 4);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    if (limit != 7)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "swiglu_limit: %g, not 7", limit);
}

const struct hf_family convert_hf_family_gpt_oss[] = {
    { "GptOssForCausalLM", "gpt-oss", .exact_yarn = true,
      .layer = { convert_hf_attention, gpt_oss_layer }, .keys = keys_gpt_oss,
      .full_every = 2, .full_at = 1 },
    { 0 },
};
