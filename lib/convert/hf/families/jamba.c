/* jamba.c - folders of Jamba */
#include "convert/hf/families.h"
#include "convert/hf/states.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 20,
};

static const struct hf_name jamba[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "pre_ff_layernorm", "ffn_norm", 0 },
    HF_MAMBA1("mamba", HF_OPTIONAL),
    { "mamba.dt_layernorm", "ssm_dt_norm", HF_OPTIONAL },
    { "mamba.b_layernorm", "ssm_b_norm", HF_OPTIONAL },
    { "mamba.c_layernorm", "ssm_c_norm", HF_OPTIONAL },
    { "self_attn.q_proj", "attn_q", HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name jamba_ffn[] = {
    { "feed_forward.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "feed_forward.up_proj", "ffn_up", HF_OPTIONAL },
    { "feed_forward.down_proj", "ffn_down", HF_OPTIONAL },
    { "feed_forward.router", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "feed_forward.experts.%d.gate_proj", "ffn_gate_exps", HF_OPTIONAL },
    { "feed_forward.experts.%d.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "feed_forward.experts.%d.down_proj", "ffn_down_exps", HF_OPTIONAL },
    { 0 },
};

static void
keys_jamba(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t expand = core_json_int(c, "mamba_expand", 1, 64, 2);
    int64_t every = convert_hf_number(h, "attn_layer_period", MAX_LENGTH, 8);
    int64_t at = core_json_int(c, "attn_layer_offset", 0, every, 4);
    bool *has = mem_array((size_t)h->n_layer, sizeof(*has));

    for (int32_t i = 0; has && i < h->n_layer; i++)
        has[i] = i % every == at;
    convert_hf_set_attention(h, has);
    convert_hf_set_space(h, expand * h->n_embd,
                         convert_hf_number(h, "mamba_d_state", MAX_LENGTH, 16),
                         convert_hf_rank_of(h, "mamba_dt_rank"));
    convert_hf_set_experts(h, 2);
}

const struct hf_family convert_hf_family_jamba[] = {
    { "JambaForCausalLM", "jamba", .layer = { jamba, jamba_ffn },
      .whole = convert_hf_final_norm, .positions = true /* none */,
      .any_layers = true, .keys = keys_jamba },
    { 0 },
};
