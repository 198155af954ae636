/* patterns.c - families whose layers differ, as the configuration lists it:
 * names of their tensors there and here, and their keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_FF = 1 << 24,
    LLAMA4_CHUNK = 8192, /* which files cannot say; nor the following */
    LLAMA4_EXPERTS_MAVERICK = 128,
};

/* ---- names --------------------------------------------------------------- */

/* Layers have experts and a shared one, or a block as others. */
static const struct hf_name llama4[] = {
    { "feed_forward.router", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "feed_forward.experts.gate_up_proj", "ffn_gate_exps.weight",
      HF_EXACT | HF_TRANSPOSE | HF_GATES | HF_OPTIONAL },
    { "feed_forward.experts.gate_up_proj", "ffn_up_exps.weight",
      HF_EXACT | HF_TRANSPOSE | HF_UPS | HF_OPTIONAL },
    { "feed_forward.experts.down_proj", "ffn_down_exps.weight",
      HF_EXACT | HF_TRANSPOSE | HF_OPTIONAL },
    { "feed_forward.shared_expert.gate_proj", "ffn_gate_shexp", HF_OPTIONAL },
    { "feed_forward.shared_expert.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "feed_forward.shared_expert.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { "feed_forward.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "feed_forward.up_proj", "ffn_up", HF_OPTIONAL },
    { "feed_forward.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name apertus[] = {
    { "attention_layernorm", "attn_norm", 0 },
    { "feedforward_layernorm", "ffn_norm", 0 },
    { "mlp.up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name sinks[] = {
    { "self_attn.sinks", "attn_sinks.weight", HF_EXACT },
    { 0 },
};
/* Gates in front of ups stay in one tensor. */
static const struct hf_name granite_experts[] = {
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

/* ---- Llama 4 ------------------------------------------------------------- */

/* Every fourth layer does not turn; its queries have a temperature, if any
 * have. */
static void
check_llama4_layers(struct hf *h)
{
    const json_t *list = convert_hf_layers_list(h, "no_rope_layers");
    struct core_json_keys *c = &h->config;

    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_integer_value(json_array_get(list, i)) != (i % 4 != 3))
            core_json_bad(c, GG_ERR_UNSUPPORTED,
                          "no_rope_layers: llama4 has each fourth here");
    convert_hf_must_be_int(h, "no_rope_layer_interval", 4);
    convert_hf_must_be_int(h, "attention_chunk_size", LLAMA4_CHUNK);
    convert_hf_must_be_int(h, "floor_scale", LLAMA4_CHUNK);
    convert_hf_must_be(h, "attn_temperature_tuning", true, true);
    if (core_json_number(c, "attn_scale", 0, 1e3, 0.1) != 0.1)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "attn_scale: is 0.1 here");
}

/* intermediate_size is that of experts. */
static void
keys_llama4(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    check_llama4_layers(h);
    convert_hf_set_experts(h, 1);
    convert_hf_must_be(h, "use_qk_norm", h->n_expert != LLAMA4_EXPERTS_MAVERICK,
                       true);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    h->n_ff =
        (int32_t)core_json_int(c, "intermediate_size_mlp", 1, MAX_FF, 16384);
    convert_hf_set_u32(
        h, "interleave_moe_layer_step",
        core_json_int(c, "interleave_moe_layer_step", 1, h->n_layer, 1));
}

/* ---- Apertus ------------------------------------------------------------- */

/* The only value of a tensor of the layer. */
static float
value_of(struct hf *h, int32_t layer, const char *name)
{
    const struct safetensors_tensor *t;
    struct hf_rows row = {
        .from = &t,
        .n_from = 1,
        .n_blocks = 1,
        .n_rows = 1,
        .length = 1,
        .row = 1,
        .step = 1,
    };
    char full[128];
    float x = 0;

    snprintf(full, sizeof(full), "model.layers.%d.mlp.act_fn.%s", (int)layer,
             name);
    t = convert_hf_weights_find(&h->weights, full);
    if (!t || t->n != 1 ||
        (t->type != GGML_TYPE_F32 && t->type != GGML_TYPE_F16 &&
         t->type != GGML_TYPE_BF16 && t->type != GGML_TYPE_F64))
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is not one number", full);
    else
        convert_hf_rows_make(&row, 0, 1, GGML_TYPE_F32, &x);
    return x;
}

/* What activates is told by numbers of each layer, which are tensors there. */
static void
keys_apertus(struct hf *h)
{
    static const char *const names[] = { "alpha_n", "alpha_p", "beta", "eps" };
    char key[64];

    convert_hf_must_be(h, "post_norm", false, false);
    convert_hf_must_be(h, "qk_norm", true, true);
    for (int k = 0; k < 4 && h->weighed && convert_hf_good(h); k++) {
        float *x = mem_array((size_t)h->n_layer, sizeof(*x));

        for (int32_t i = 0; x && i < h->n_layer && convert_hf_good(h); i++)
            x[i] = value_of(h, i, names[k]);
        snprintf(key, sizeof(key), "xielu.%s", names[k]);
        convert_hf_set_list(h, key, GGUF_TYPE_FLOAT32, x);
    }
}

/* ---- Granite with windows ------------------------------------------------ */

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

    convert_hf_keys_listed_behind(h);
    convert_hf_keys_granite(h);
    for (int32_t i = 0; pattern && i < h->n_layer; i++)
        pattern[i] = turns(h, bases, flags, (size_t)i);
    snprintf(key, sizeof(key), "%s.attention.rope_pattern", h->family->arch);
    convert_hf_set_list(h, key, GGUF_TYPE_BOOL, pattern);
}

static void
keys_granitemoe_swa(struct hf *h)
{
    int64_t n =
        core_json_int(&h->config, "shared_intermediate_size", 0, MAX_FF, 0);

    keys_granite_swa(h);
    convert_hf_set_experts(h, 2);
    if (n)
        convert_hf_set_u32(h, "expert_shared_feed_forward_length", n);
}

/* ---- the table ----------------------------------------------------------- */

#define LLAMA4                                                                 \
    "llama4", "model.layers.", convert_hf_usual,                               \
        { convert_hf_attention, convert_hf_norms, llama4 },                    \
        .epsilon = 1e-5, .activations = "silu", .keys = keys_llama4,           \
        .full_every = 4, .full_at = 3, .windowed = "chunked_attention"

const struct hf_family convert_hf_patterns[] = {
    { "Llama4ForCausalLM", LLAMA4 },
    { "Llama4ForConditionalGeneration", LLAMA4 },
    { "ApertusForCausalLM",
      "apertus",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, apertus },
      .epsilon = 1e-5,
      .activations = "xielu",
      .keys = keys_apertus },
    { "GraniteSWAForCausalLM",
      "granite_swa",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, sinks, convert_hf_mlp },
      .epsilon = 1e-5,
      .activations = "silu",
      .tied = true,
      .keys = keys_granite_swa,
      .listed = true },
    { "GraniteMoeSWAForCausalLM",
      "granite_swa",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, sinks, granite_experts },
      .epsilon = 1e-5,
      .activations = "silu",
      .tied = true,
      .keys = keys_granitemoe_swa,
      .listed = true },
    { 0 },
};

#endif
