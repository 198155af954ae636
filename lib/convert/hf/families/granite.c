/* granite.c - folders of Granite, with and without experts, and with state
 * spaces */
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "convert/hf/states.h"
#include "core/mem.h"

static const struct hf_name granite_experts[] = {
    { "block_sparse_moe.router.layer", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.input_linear.weight", "ffn_gate_exps.weight",
      HF_GATES | HF_EXACT },
    { "block_sparse_moe.input_linear.weight", "ffn_up_exps.weight",
      HF_UPS | HF_EXACT },
    { "block_sparse_moe.output_linear.weight", "ffn_down_exps.weight",
      HF_EXACT },
    { 0 },
};
static const struct hf_name granite_shared[] = {
    { "shared_mlp.input_linear.weight", "ffn_gate_shexp.weight",
      HF_GATES | HF_EXACT | HF_OPTIONAL },
    { "shared_mlp.input_linear.weight", "ffn_up_shexp.weight",
      HF_UPS | HF_EXACT | HF_OPTIONAL },
    { "shared_mlp.output_linear", "ffn_down_shexp", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name sinks[] = {
    { "self_attn.sinks", "attn_sinks.weight", HF_EXACT },
    { 0 },
};
/* Gates in front of ups stay in one tensor. */
static const struct hf_name swa_experts[] = {
    { "block_sparse_moe.router", "ffn_gate_inp", HF_F32 | HF_OR_NEXT },
    { "block_sparse_moe.router.layer", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.experts.gate_up_proj", "ffn_gate_up_exps.weight",
      HF_EXACT | HF_OR_NEXT },
    { "block_sparse_moe.input_linear.weight", "ffn_gate_up_exps.weight",
      HF_EXACT },
    { "block_sparse_moe.experts.down_proj", "ffn_down_exps.weight",
      HF_EXACT | HF_OR_NEXT },
    { "block_sparse_moe.output_linear.weight", "ffn_down_exps.weight",
      HF_EXACT },
    { "shared_mlp.input_linear", "ffn_up_shexp", HF_OPTIONAL },
    { "shared_mlp.output_linear", "ffn_down_shexp", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name hybrid_layer[] = {
    HF_MAMBA2("mamba", HF_OPTIONAL),
    { "self_attn.q_proj", "attn_q", HF_HEADS_Q | HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_HEADS_K | HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { 0 },
};
/* Where there are experts, all ids have one more; else it is the block. */
static const struct hf_name hybrid_dense[] = {
    { "shared_mlp.input_linear.weight", "ffn_gate.weight",
      HF_GATES | HF_EXACT },
    { "shared_mlp.input_linear.weight", "ffn_up.weight", HF_UPS | HF_EXACT },
    { "shared_mlp.output_linear", "ffn_down", 0 },
    { 0 },
};

static void
set_multipliers(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_f32(h, "attention.scale",
                       core_json_number(c, "attention_multiplier", 0, 1e6, 1));
    convert_hf_set_f32(h, "embedding_scale",
                       core_json_number(c, "embedding_multiplier", 0, 1e6, 1));
    convert_hf_set_f32(h, "residual_scale",
                       core_json_number(c, "residual_multiplier", 0, 1e6, 1));
    convert_hf_set_f32(h, "logit_scale",
                       core_json_number(c, "logits_scaling", 1e-6, 1e6, 1));
}

static void
keys_granitemoe(struct hf *h)
{
    convert_hf_set_experts(h, 2);
    set_multipliers(h);
}

static void
keys_granitemoe_shared(struct hf *h)
{
    int64_t n =
        core_json_int(&h->config, "shared_intermediate_size", 0, HF_MAX_FF, 0);

    keys_granitemoe(h);
    if (n)
        convert_hf_set_u32(h, "expert_shared_feed_forward_length", n);
}

/* Layers without a base do not turn; the others' is that of all. */
static bool
turns(struct hf *h, const json_t *bases, const json_t *flags, size_t layer)
{
    struct core_json_keys rope = h->config;
    double base = json_number_value(json_array_get(bases, layer)), all;

    if (!bases)
        return !flags || json_integer_value(json_array_get(flags, layer));
    rope.object = core_json_object_of(&h->config, "rope_parameters");
    all = core_json_number(&rope, "rope_theta", 1, 1e12, 10000);
    if (base != 0 && base != all)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "layer_rope_theta: %g, but rope_theta is %g", base, all);
    return base != 0;
}

/* Without a list the first of four layers sees all. */
static void
keys_granite_swa(struct hf *h)
{
    const json_t *bases = convert_hf_layers_list(h, "layer_rope_theta");
    const json_t *flags = convert_hf_layers_list(h, "no_rope_layers");
    bool *pattern = mem_array((size_t)h->n_layer, sizeof(*pattern));
    char key[64];

    convert_hf_keys_listed_after(h);
    set_multipliers(h);
    for (int32_t i = 0; pattern && i < h->n_layer; i++)
        pattern[i] = turns(h, bases, flags, (size_t)i);
    snprintf(key, sizeof(key), "%s.attention.rope_pattern", h->family->arch);
    convert_hf_set_list(h, key, GGUF_TYPE_BOOL, pattern);
}

static void
keys_granitemoe_swa(struct hf *h)
{
    int64_t n =
        core_json_int(&h->config, "shared_intermediate_size", 0, HF_MAX_FF, 0);

    keys_granite_swa(h);
    convert_hf_set_experts(h, 2);
    if (n)
        convert_hf_set_u32(h, "expert_shared_feed_forward_length", n);
}

/* Older configurations and newer ones name them differently. */
static bool
has_attention(const char *type)
{
    return type &&
           (!strcmp(type, "attention") || !strcmp(type, "full_attention"));
}

static bool
has_space(const char *type)
{
    return type &&
           (!strcmp(type, "mamba") || !strcmp(type, "linear_attention"));
}

/* Where layers are named; without names all have one. */
static bool
has_spaces(struct core_json_keys *config)
{
    const json_t *types = core_json_array_of(config, "layer_types");

    for (size_t i = 0; i < json_array_size(types); i++)
        if (!has_attention(json_string_value(json_array_get(types, i))))
            return true;
    return !types;
}

static void
set_granite_attention(struct hf *h)
{
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    bool *has = mem_array((size_t)h->n_layer, sizeof(*has));

    for (int32_t i = 0; has && i < h->n_layer; i++) {
        const char *type = json_string_value(json_array_get(types, (size_t)i));

        has[i] = has_attention(type);
        if (types && !has[i] && !has_space(type))
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_types: '%.40s' is none of attention, mamba",
                          type ? type : "");
    }
    convert_hf_set_attention(h, has);
}

/* Queries and keys turn only where it is said. */
static void
set_granite_rope(struct hf *h)
{
    const char *how =
        core_json_text(&h->config, "position_embedding_type", "nope");

    if (strcmp(how, "rope") != 0 && strcmp(how, "nope") != 0)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "position_embedding_type: '%.40s' is none of rope, nope",
                      how);
    convert_hf_set_bool(h, "rope.scaling.finetuned", !strcmp(how, "rope"));
}

static void
keys_granite4(struct hf *h)
{
    set_multipliers(h);
    set_granite_rope(h);
    if (core_json_find(&h->config, "num_local_experts") &&
        !core_json_int(&h->config, "num_local_experts", 0, HF_MAX_FF, 0))
        h->n_ff = (int32_t)convert_hf_number(h, "shared_intermediate_size",
                                             HF_MAX_FF, 1024);
}

static void
keys_granite4_moe(struct hf *h)
{
    keys_granite4(h);
    convert_hf_set_experts(h, 2);
    convert_hf_set_u32(h, "expert_shared_feed_forward_length",
                       core_json_int(&h->config, "shared_intermediate_size", 0,
                                     HF_MAX_FF, 1024));
}

static void
keys_granite_hybrid(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    keys_granite4(h);
    set_granite_attention(h);
    convert_hf_set_heads(h, "mamba_n_heads", "mamba_d_head",
                         core_json_int(c, "mamba_expand", 1, 64, 2) *
                             h->n_embd);
}

static void
keys_granite_hybrid_moe(struct hf *h)
{
    keys_granite_hybrid(h);
    keys_granite4_moe(h);
}

const struct hf_family convert_hf_family_granite[] = {
    { "GraniteForCausalLM", "granite",
      .layer = { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .keys = set_multipliers },
    { "GraniteMoeForCausalLM", "granitemoe",
      .layer = { convert_hf_attention_pairs, convert_hf_norms,
                 granite_experts },
      .keys = keys_granitemoe },
    { "GraniteMoeSharedForCausalLM", "granitemoe",
      .layer = { convert_hf_attention_pairs, convert_hf_norms, granite_experts,
                 granite_shared },
      .keys = keys_granitemoe_shared },
    { "GraniteSWAForCausalLM", "granite_swa",
      .layer = { convert_hf_attention_pairs, convert_hf_norms, sinks,
                 convert_hf_mlp },
      .epsilon = 1e-5, .tied = true, .keys = keys_granite_swa, .listed = true },
    { "GraniteMoeSWAForCausalLM", "granite_swa",
      .layer = { convert_hf_attention_pairs, convert_hf_norms, sinks,
                 swa_experts },
      .epsilon = 1e-5, .tied = true, .keys = keys_granitemoe_swa,
      .listed = true },
    { "GraniteMoeHybridForCausalLM", "granitehybrid",
      .layer = { hybrid_layer, convert_hf_norms, granite_experts,
                 granite_shared },
      .any_layers = true, .setting = "num_local_experts", .counts = has_spaces,
      .keys = keys_granite_hybrid_moe },
    { "GraniteMoeHybridForCausalLM", "granitehybrid",
      .layer = { hybrid_layer, convert_hf_norms, hybrid_dense },
      .any_layers = true, .counts = has_spaces, .keys = keys_granite_hybrid },
    { "GraniteMoeHybridForCausalLM", "granitemoe",
      .layer = { hybrid_layer, convert_hf_norms, granite_experts,
                 granite_shared },
      .any_layers = true, .setting = "num_local_experts",
      .keys = keys_granite4_moe },
    { "GraniteMoeHybridForCausalLM", "granite",
      .layer = { hybrid_layer, convert_hf_norms, hybrid_dense },
      .any_layers = true, .keys = keys_granite4 },
    { 0 },
};
