/* mpt.c - folders of MPT, as the library and as the maker call them */
#include "convert/hf/families.h"

static const struct hf_name mpt_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.wpe", "position_embd", HF_OPTIONAL },
    { "transformer.norm_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name mpt_layer[] = {
    { "norm_1", "attn_norm", 0 },
    { "attn.Wqkv", "attn_qkv", 0 },
    { "attn.q_ln", "attn_q_norm", HF_OPTIONAL },
    { "attn.k_ln", "attn_k_norm", HF_OPTIONAL },
    { "attn.out_proj", "attn_output", 0 },
    { "norm_2", "ffn_norm", 0 },
    { "ffn.up_proj", "ffn_up", 0 },
    { "ffn.down_proj", "ffn_down", 0 },
    { 0 },
};

enum {
    MOST_ALIBI = 1000,
    MOST_RATIO = 64,
};

static void
keys_attention(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    double clip = core_json_number(c, "clip_qkv", 0, 1e6, 0);

    h->n_head_kv =
        (int32_t)core_json_int(c, "kv_n_heads", 1, HF_MAX_HEADS, h->n_head);
    convert_hf_must_be(h, "prefix_lm", false, false);
    if (core_json_number(c, "softmax_scale", 0, 1e6, 0) > 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "softmax_scale: is null here");
    if (core_json_bool(c, "alibi", true))
        convert_hf_set_f32(
            h, "attention.max_alibi_bias",
            (double)core_json_int(c, "alibi_bias_max", 1, MOST_ALIBI, 8));
    if (clip > 0)
        convert_hf_set_f32(h, "attention.clamp_kqv", clip);
}

static void
keys_mpt(struct hf *h)
{
    const json_t *whole = h->config.object;
    struct core_json_keys *c = &h->config;

    h->n_ff = h->n_embd *
              (int32_t)core_json_int(c, "expansion_ratio", 1, MOST_RATIO, 4);
    if (core_json_number(c, "logit_scale", 0, 1e6, 0) > 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "logit_scale: is null here");
    c->object = core_json_object_of(c, "attn_config");
    keys_attention(h);
    c->object = whole;
}

const struct hf_family convert_hf_family_mpt[] = {
    { "MptForCausalLM|MPTForCausalLM", "mpt", .layer = { mpt_layer },
      .layers = "transformer.blocks.", .whole = mpt_whole, .layer_norm = true,
      .positions = true, .tied = true, .keys = keys_mpt },
    { 0 },
};
