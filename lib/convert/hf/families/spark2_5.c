/* spark2_5.c - folders of Spark X2.5 */
#include <string.h>

#include "convert/hf/families.h"

static const struct hf_name spark[] = {
    { "self_attn.q_k_v_proj", "attn_qkv", 0 },
    { "self_attn.g_proj", "attn_gate", 0 },
    { "self_attn.out_proj", "attn_output", HF_OR_NEXT },
    { "self_attn.o_proj", "attn_output", 0 },
    { 0 },
};

/* How much of a head turns in windowed layers. */
static int64_t
turned_in_windows(struct hf *h)
{
    struct core_json_keys rope = h->config;
    double part;

    rope.object = core_json_object_of(&h->config, "rope_parameters");
    rope.object = json_object_get(rope.object, "sliding_attention");
    part = core_json_number(&rope, "partial_rotary_factor", 0.001, 1, 1);
    if (rope.status != GG_OK)
        h->config.status = rope.status;
    return (int64_t)(part * h->d_head);
}

static void
keys_spark(struct hf *h)
{
    const char *mode =
        core_json_text(&h->config, "gate_attn_act_mode", "sigmoid");

    convert_hf_keys_listed(h);
    convert_hf_must_be(h, "headwise_attn_output_gate", true, true);
    if (strcmp(mode, "sigmoid") != 0)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "gate_attn_act_mode: is sigmoid here");
    convert_hf_set_u32(h, "rope.dimension_count_swa", turned_in_windows(h));
}

const struct hf_family convert_hf_family_spark2_5[] = {
    { "Spark2_5ForCausalLM", "spark2_5",
      .layer = { spark, convert_hf_norms, convert_hf_mlp },
      .activations = "gelu", .keys = keys_spark, .listed = true },
    { 0 },
};
