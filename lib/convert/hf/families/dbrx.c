/* dbrx.c - folders of DBRX */
#include <string.h>

#include "convert/hf/families.h"

static const struct hf_name dbrx_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.norm_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name dbrx[] = {
    { "norm_attn_norm.norm_1", "attn_norm", 0 },
    { "norm_attn_norm.attn.Wqkv", "attn_qkv", 0 },
    { "norm_attn_norm.attn.out_proj", "attn_output", 0 },
    { "norm_attn_norm.norm_2", "attn_output_norm", 0 },
    { "ffn.router.layer", "ffn_gate_inp", HF_F32 },
    { "ffn.experts.mlp.w1", "ffn_gate_exps.weight", HF_STACKED | HF_EXACT },
    { "ffn.experts.mlp.v1", "ffn_up_exps.weight", HF_STACKED | HF_EXACT },
    { "ffn.experts.mlp.w2", "ffn_down_exps.weight",
      HF_STACKED_COLUMNS | HF_EXACT },
    { 0 },
};

/* Settings are in three objects. */
static void
keys_dbrx(struct hf *h)
{
    const json_t *whole = h->config.object;
    struct core_json_keys *c = &h->config;
    const json_t *act;

    c->object = core_json_object_of(c, "ffn_config");
    h->n_ff = (int32_t)core_json_int(c, "ffn_hidden_size", 1, HF_MAX_FF, 0);
    act = json_object_get(core_json_object_of(c, "ffn_act_fn"), "name");
    if (act && strcmp(json_string_value(act), "silu") != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "ffn_act_fn: is silu here");
    if (core_json_number(c, "moe_normalize_expert_weights", 0, 1e3, 1) != 1)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "moe_normalize_expert_weights: is 1 here");
    convert_hf_set_experts(h, 1);
    c->object = whole;
    c->object = core_json_object_of(c, "attn_config");
    h->n_head_kv =
        (int32_t)core_json_int(c, "kv_n_heads", 1, HF_MAX_HEADS, h->n_head_kv);
    convert_hf_set_f32(h, "attention.clamp_kqv",
                       core_json_number(c, "clip_qkv", 1e-6, 1e6, -1));
    c->object = whole;
}

const struct hf_family convert_hf_family_dbrx[] = {
    { "DbrxForCausalLM", "dbrx", .layer = { dbrx },
      .layers = "transformer.blocks.", .whole = dbrx_whole, .layer_norm = true,
      .keys = keys_dbrx },
    { 0 },
};
