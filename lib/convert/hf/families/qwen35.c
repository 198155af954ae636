/* qwen35.c - folders of Qwen 3.5 and Qwen3-Next
 *
 * Values' heads of a key are neighbours there; files of Qwen 3.5 have the first
 * of each key, then the second of each and so on. */
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    PERIOD = 4,
    MAX_LENGTH = 1 << 16,
    SECTIONS = 4,
};

static const struct hf_name attention[] = {
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "post_attention_norm", HF_PLUS_1 },
    { "self_attn.q_proj", "attn_q", HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { "self_attn.q_norm", "attn_q_norm", HF_PLUS_1 | HF_OPTIONAL },
    { "self_attn.k_norm", "attn_k_norm", HF_PLUS_1 | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name delta_next[] = {
    { "linear_attn.in_proj_qkvz.weight", "attn_qkv.weight",
      HF_DELTA_QKV | HF_EXACT | HF_OPTIONAL },
    { "linear_attn.in_proj_qkvz.weight", "attn_gate.weight",
      HF_DELTA_GATES | HF_EXACT | HF_OPTIONAL },
    { "linear_attn.in_proj_ba", "ssm_ba", HF_OPTIONAL },
    { "linear_attn.conv1d", "ssm_conv1d", HF_SQUEEZE | HF_F32 | HF_OPTIONAL },
    { "linear_attn.A_log", "ssm_a",
      HF_EXACT | HF_F32 | HF_DECAYS | HF_OPTIONAL },
    { "linear_attn.dt_bias", "ssm_dt.bias", HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "linear_attn.norm", "ssm_norm", HF_OPTIONAL },
    { "linear_attn.out_proj", "ssm_out", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_qwen_delta[] = {
    { "linear_attn.in_proj_qkv", "attn_qkv", HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.in_proj_z", "attn_gate", HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.in_proj_a", "ssm_alpha", HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.in_proj_b", "ssm_beta", HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.conv1d", "ssm_conv1d",
      HF_SQUEEZE_TILED | HF_F32 | HF_OPTIONAL },
    { "linear_attn.A_log", "ssm_a",
      HF_TILED_ROWS | HF_EXACT | HF_F32 | HF_DECAYS | HF_OPTIONAL },
    { "linear_attn.dt_bias", "ssm_dt.bias",
      HF_TILED_ROWS | HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "linear_attn.norm", "ssm_norm", HF_OPTIONAL },
    { "linear_attn.out_proj", "ssm_out", HF_TILED_COLUMNS | HF_OPTIONAL },
    { 0 },
};
/* An expert each, or all in one. */
const struct hf_name convert_hf_qwen_mixture[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", HF_OPTIONAL },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", HF_OPTIONAL },
    { "mlp.experts.gate_up_proj", "ffn_gate_exps.weight",
      HF_GATES | HF_EXACT | HF_OPTIONAL },
    { "mlp.experts.gate_up_proj", "ffn_up_exps.weight",
      HF_UPS | HF_EXACT | HF_OPTIONAL },
    { "mlp.experts.down_proj", "ffn_down_exps.weight", HF_EXACT | HF_OPTIONAL },
    { "mlp.shared_expert_gate", "ffn_gate_inp_shexp", HF_F32 },
    { "mlp.shared_expert.gate_proj", "ffn_gate_shexp", 0 },
    { "mlp.shared_expert.up_proj", "ffn_up_shexp", 0 },
    { "mlp.shared_expert.down_proj", "ffn_down_shexp", 0 },
    { 0 },
};
static const struct hf_name mtp_names[] = {
    { "fc", "nextn.eh_proj", 0 },
    { "pre_fc_norm_embedding", "nextn.enorm", HF_PLUS_1 },
    { "pre_fc_norm_hidden", "nextn.hnorm", HF_PLUS_1 },
    { "norm", "nextn.shared_head_norm", HF_PLUS_1 },
    { 0 },
};
/* More layers than that, of which no program knows what they read. */
static const char *const left[] = { "mtp.", NULL };
static const struct hf_mtp mtp = { "mtp.layers.", "mtp.", mtp_names };

/* Whether it is in a list of names: "A|B". */
static bool
is_one_of(const char *name, const char *names)
{
    const char *at = strstr(names, name), *end = at ? at + strlen(name) : NULL;

    return at && (at == names || at[-1] == '|') && (*end == '|' || !*end);
}

/* Without a list, all but the last of each four. */
static void
set_layers(struct hf *h, const char *attention_name)
{
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    int32_t period = (int32_t)convert_hf_number(h, "full_attention_interval",
                                                1 << 12, PERIOD);
    bool *recurs = mem_array((size_t)(h->n_layer + h->n_mtp), sizeof(*recurs));
    char key[96];

    for (int32_t i = 0; recurs && i < h->n_layer; i++) {
        const char *t = json_string_value(json_array_get(types, (size_t)i));

        recurs[i] = t ? !strcmp(t, "linear_attention") : (i + 1) % period != 0;
        if (t && !recurs[i] && !is_one_of(t, attention_name))
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_types: '%.40s' is none of linear_attention, "
                          "%s",
                          t, attention_name);
    }
    snprintf(key, sizeof(key), "%s.attention.recurrent_layers",
             h->family->arch);
    convert_hf_set_u32(h, "full_attention_interval", period);
    convert_hf_set_list(h, key, GGUF_TYPE_BOOL, recurs);
}

void
convert_hf_keys_qwen_delta(struct hf *h, const char *attention_name)
{
    h->delta.n_key =
        (int32_t)convert_hf_number(h, "linear_num_key_heads", MAX_LENGTH, 16);
    h->delta.n_value =
        (int32_t)convert_hf_number(h, "linear_num_value_heads", MAX_LENGTH, 32);
    h->delta.d_key =
        (int32_t)convert_hf_number(h, "linear_key_head_dim", MAX_LENGTH, 128);
    h->delta.d_value =
        (int32_t)convert_hf_number(h, "linear_value_head_dim", MAX_LENGTH, 128);
    if (!convert_hf_good(h))
        return;
    if (h->delta.n_value % h->delta.n_key ||
        h->delta.d_key != h->delta.d_value) {
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "linear_num_value_heads, linear_value_head_dim: are no "
                      "multiple of those of keys, or not as long");
        return;
    }
    convert_hf_set_u32(
        h, "ssm.conv_kernel",
        convert_hf_number(h, "linear_conv_kernel_dim", HF_MAX_CONV, 4));
    convert_hf_set_u32(h, "ssm.state_size", h->delta.d_key);
    convert_hf_set_u32(h, "ssm.group_count", h->delta.n_key);
    convert_hf_set_u32(h, "ssm.time_step_rank", h->delta.n_value);
    convert_hf_set_u32(h, "ssm.inner_size",
                       (int64_t)h->delta.n_value * h->delta.d_value);
    set_layers(h, attention_name);
}

void
convert_hf_keys_qwen_shared(struct hf *h, int64_t used)
{
    convert_hf_keys_qwen_moe(h, used);
    convert_hf_set_u32(h, "expert_shared_feed_forward_length",
                       convert_hf_number(h, "shared_expert_intermediate_size",
                                         HF_MAX_FF, 512));
}

static void
keys_next(struct hf *h)
{
    convert_hf_keys_qwen_delta(h, "full_attention");
    convert_hf_keys_qwen_shared(h, 10);
    convert_hf_must_be(h, "norm_topk_prob", true, true);
}

/* Where the configuration does not say them, those of all its models. */
void
convert_hf_set_qwen_sections(struct hf *h)
{
    static const int32_t usual[SECTIONS] = { 11, 11, 10, 0 };
    const json_t *rope = core_json_object_of(&h->config, "rope_parameters");
    char key[96];

    if (json_object_get(rope, "mrope_section")) {
        convert_hf_set_sections(h);
        return;
    }
    snprintf(key, sizeof(key), "%s.rope.dimension_sections", h->family->arch);
    gguf_set_arr_data(h->gguf, key, GGUF_TYPE_INT32, usual, SECTIONS);
}

static void
keys_35(struct hf *h)
{
    convert_hf_keys_qwen_delta(h, "full_attention");
    convert_hf_set_qwen_sections(h);
}

static void
keys_35moe(struct hf *h)
{
    keys_35(h);
    convert_hf_keys_qwen_shared(h, 8);
}

const struct hf_family convert_hf_family_qwen35[] = {
    { "Qwen3NextForCausalLM", "qwen3next",
      .layer = { attention, delta_next, convert_hf_qwen_mixture },
      .whole = convert_hf_usual_plus_1, .any_layers = true, .left_out = left,
      .mtp = &mtp, .keys = keys_next },
    { "Qwen3_5ForCausalLM|Qwen3_5ForConditionalGeneration", "qwen35",
      .layer = { attention, convert_hf_qwen_delta, convert_hf_mlp },
      .whole = convert_hf_usual_plus_1, .any_layers = true, .left_out = left,
      .mtp = &mtp, .keys = keys_35 },
    { "Qwen3_5MoeForCausalLM|Qwen3_5MoeForConditionalGeneration", "qwen35moe",
      .layer = { attention, convert_hf_qwen_delta, convert_hf_qwen_mixture },
      .whole = convert_hf_usual_plus_1, .any_layers = true, .left_out = left,
      .mtp = &mtp, .keys = keys_35moe },
    { 0 },
};
