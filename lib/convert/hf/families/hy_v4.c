/* hy_v4.c - folders of Hunyuan 4 */
#include "convert/hf/families.h"

#define EXACT (HF_EXACT | HF_F32)

static const struct hf_name hy_own[] = {
    { "hc_attn_layer.hc_pre.hc_fn", "hc_attn_fn.weight", EXACT },
    { "hc_attn_layer.hc_pre.hc_base", "hc_attn_base.weight", EXACT },
    { "hc_attn_layer.hc_pre.hc_scale", "hc_attn_scale.weight", EXACT },
    { "hc_mlp_layer.hc_pre.hc_fn", "hc_ffn_fn.weight", EXACT },
    { "hc_mlp_layer.hc_pre.hc_base", "hc_ffn_base.weight", EXACT },
    { "hc_mlp_layer.hc_pre.hc_scale", "hc_ffn_scale.weight", EXACT },
    { "self_attn.learnable_sink_param", "attn_sinks.weight", EXACT },
    { "self_attn.linear_gate", "attn_gate", 0 },
    { "mlp.experts.gate_up_proj", "ffn_gate_exps.weight",
      HF_GATES | HF_EXACT | HF_OPTIONAL },
    { "mlp.experts.gate_up_proj", "ffn_up_exps.weight",
      HF_UPS | HF_EXACT | HF_OPTIONAL },
    { "mlp.experts.down_proj", "ffn_down_exps.weight", HF_EXACT | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name hy_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { "model.hc_head.hc_head_fn", "output_hc_fn.weight", EXACT },
    { "model.hc_head.hc_head_base", "output_hc_base.weight", EXACT },
    { "model.hc_head.hc_head_scale", "output_hc_scale.weight", EXACT },
    { 0 },
};
/* Layers for ids beyond the next. */
static const char *const hy_left[] = { "mtp_layers.", NULL };

/* The first layer, and of those after it the first of every four. */
static bool
has_indexer(struct hf *h, int32_t layer)
{
    (void)h;
    return layer == 0 || (layer - 1) % 4 == 0;
}

static void
keys_hy(struct hf *h)
{
    h->n_rot = convert_hf_set_latent(h, true);
    if (!convert_hf_good(h))
        return;
    convert_hf_keys_deepseek3(h);
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_dense(h, 1));
    convert_hf_set_limit(h, "swiglu_clamp_exp");
    convert_hf_set_indexer(h);
    convert_hf_set_indexer_types(h, has_indexer, true);
    convert_hf_set_streams(h, true);
}

const struct hf_family convert_hf_family_hy_v4[] = {
    { "HYV4ForCausalLM", "hy_v4",
      .layer = { convert_hf_latent, convert_hf_norms, hy_own,
                 convert_hf_expert_names, convert_hf_dense_names,
                 convert_hf_shared_names, convert_hf_indexer },
      .whole = hy_whole, .epsilon = 1e-5, .any_layers = true,
      .left_out = hy_left, .keys = keys_hy },
    { 0 },
};
