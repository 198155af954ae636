/* hybrids.c - Granite 4 and Nemotron-H, whose layers have a state space, or
 * attention, or neither: names of their tensors there and here, and their keys
 */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/states.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 20,
    MAX_FF = 1 << 24,
    SIGMOID = 2, /* as lib/graph/hparams.h has it, counted from 1 */
};

/* ---- names --------------------------------------------------------------- */

static const struct hf_name granite[] = {
    HF_MAMBA2("mamba", HF_OPTIONAL),
    { "self_attn.q_proj", "attn_q", HF_HEADS_Q | HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_HEADS_K | HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { 0 },
};
/* Where there are experts, all ids have one more; else it is the block. */
static const struct hf_name granite_dense[] = {
    { "shared_mlp.input_linear.weight", "ffn_gate.weight",
      HF_EXACT | HF_GATES },
    { "shared_mlp.input_linear.weight", "ffn_up.weight", HF_EXACT | HF_UPS },
    { "shared_mlp.output_linear", "ffn_down", 0 },
    { 0 },
};

static const struct hf_name nemotron[] = {
    { "norm", "attn_norm", 0 },
    HF_MAMBA2("mixer", HF_OPTIONAL),
    { "mixer.q_proj", "attn_q", HF_OPTIONAL },
    { "mixer.k_proj", "attn_k", HF_OPTIONAL },
    { "mixer.v_proj", "attn_v", HF_OPTIONAL },
    { "mixer.o_proj", "attn_output", HF_OPTIONAL },
    { "mixer.up_proj", "ffn_up", HF_OPTIONAL },
    { "mixer.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name nemotron_mixture[] = {
    { "mixer.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "mixer.gate.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "mixer.experts.%d.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "mixer.experts.%d.down_proj", "ffn_down_exps", HF_OPTIONAL },
    { "mixer.shared_experts.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "mixer.shared_experts.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { "mixer.fc1_latent_proj", "ffn_latent_down", HF_OPTIONAL },
    { "mixer.fc2_latent_proj", "ffn_latent_up", HF_OPTIONAL },
    { 0 },
};

/* What guesses ids further on. */
static const char *const left[] = { "mtp.", NULL };
/* ---- keys ---------------------------------------------------------------- */

static int64_t
number(struct hf *h, const char *name, int32_t max, int64_t other)
{
    return core_json_int(&h->config, name, 1, max, other);
}

/* ---- Granite 4 ----------------------------------------------------------- */

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
keys_granite(struct hf *h)
{
    convert_hf_keys_granite(h);
    set_granite_rope(h);
    if (core_json_find(&h->config, "num_local_experts") &&
        !core_json_int(&h->config, "num_local_experts", 0, MAX_FF, 0))
        h->n_ff = (int32_t)number(h, "shared_intermediate_size", MAX_FF, 1024);
}

static void
keys_granite_moe(struct hf *h)
{
    keys_granite(h);
    convert_hf_set_experts(h, 2);
    convert_hf_set_u32(
        h, "expert_shared_feed_forward_length",
        core_json_int(&h->config, "shared_intermediate_size", 0, MAX_FF, 1024));
}

static void
keys_granite_hybrid(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    keys_granite(h);
    set_granite_attention(h);
    convert_hf_set_heads(h, "mamba_n_heads", "mamba_d_head",
                         core_json_int(c, "mamba_expand", 1, 64, 2) *
                             h->n_embd);
}

static void
keys_granite_hybrid_moe(struct hf *h)
{
    keys_granite_hybrid(h);
    keys_granite_moe(h);
}

/* ---- Nemotron-H ---------------------------------------------------------- */

/* What a layer is, by a letter: M, *, - or E; 0: none of these. */
static char
nemotron_layer(struct core_json_keys *c, size_t layer)
{
    static const struct {
        const char *name;
        char letter;
    } names[] = {
        { "linear_attention", 'M' }, { "mamba", 'M' }, { "mlp", '-' },
        { "full_attention", '*' },   { "moe", 'E' },   { "attention", '*' },
    };
    const json_t *types = core_json_array_of(c, "layers_block_type");
    const char *letters = core_json_text(c, "hybrid_override_pattern", "");
    const char *type = json_string_value(json_array_get(types, layer));

    if (!types)
        return layer < strlen(letters) ? letters[layer] : 0;
    for (size_t i = 0; type && i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(type, names[i].name))
            return names[i].letter;
    return 0;
}

static size_t
nemotron_layers(struct core_json_keys *c)
{
    const json_t *types = core_json_array_of(c, "layers_block_type");

    return types ? json_array_size(types)
                 : strlen(core_json_text(c, "hybrid_override_pattern", ""));
}

static bool
has_mixtures(struct core_json_keys *c)
{
    const json_t *types = core_json_array_of(c, "layers_block_type");

    for (size_t i = 0; i < json_array_size(types); i++)
        if (nemotron_layer(c, i) == 'E')
            return true;
    return !types &&
           strchr(core_json_text(c, "hybrid_override_pattern", ""), 'E');
}

/* Feed-forward blocks are of one kind, `letter`. */
static void
set_nemotron_layers(struct hf *h, char letter, int64_t n_ff)
{
    struct core_json_keys *c = &h->config;
    bool *has = mem_array((size_t)h->n_layer, sizeof(*has));
    int32_t *lengths = mem_array((size_t)h->n_layer, sizeof(*lengths));
    char key[96];

    if (nemotron_layers(c) != (size_t)h->n_layer)
        core_json_bad(c, GG_ERR_FORMAT, "layers_block_type: not one a layer");
    for (int32_t i = 0; has && lengths && convert_hf_good(h) && i < h->n_layer;
         i++) {
        char is = nemotron_layer(c, (size_t)i);

        has[i] = is == '*';
        lengths[i] = is == letter ? (int32_t)n_ff : 0;
        if (is != 'M' && is != '*' && is != letter)
            core_json_bad(c, GG_ERR_UNSUPPORTED,
                          "layers_block_type: %s has no such layer %d here",
                          h->family->arch, (int)i);
    }
    snprintf(key, sizeof(key), "%s.feed_forward_length", h->family->arch);
    convert_hf_set_list(h, key, GGUF_TYPE_INT32, lengths);
    convert_hf_set_attention(h, has);
}

/* The expansion that configurations have, too, says nothing here. */
static void
set_nemotron(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *act = core_json_text(c, "mlp_hidden_act", "relu2");
    const char *own = core_json_text(c, "mamba_hidden_act", "silu");

    if (strcmp(act, "relu2") != 0 || strcmp(own, "silu") != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "mlp_hidden_act, mamba_hidden_act: are relu2, silu here");
    convert_hf_set_heads(h, "mamba_num_heads", "mamba_head_dim",
                         number(h, "mamba_num_heads", MAX_LENGTH, -1) *
                             number(h, "mamba_head_dim", MAX_LENGTH, 64));
}

static void
keys_nemotron(struct hf *h)
{
    set_nemotron_layers(h, '-', h->n_ff);
    set_nemotron(h);
}

static void
keys_nemotron_moe(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = number(h, "moe_intermediate_size", MAX_FF, -1);
    int64_t low = core_json_int(c, "moe_latent_size", 0, MAX_LENGTH, 0);

    set_nemotron_layers(h, 'E', n);
    set_nemotron(h);
    convert_hf_set_experts(h, 2);
    convert_hf_set_u32(h, "expert_feed_forward_length", n);
    convert_hf_set_u32(
        h, "expert_shared_feed_forward_length",
        number(h, "moe_shared_expert_intermediate_size", MAX_FF, -1));
    convert_hf_set_u32(h, "expert_shared_count",
                       number(h, "n_shared_experts", MAX_FF, 1));
    convert_hf_set_u32(h, "expert_gating_func", SIGMOID);
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "norm_topk_prob", true));
    convert_hf_set_f32(h, "expert_weights_scale",
                       core_json_number(c, "routed_scaling_factor", 0, 1e6, 1));
    convert_hf_must_be_int(h, "n_group", 1);
    convert_hf_must_be_int(h, "topk_group", 1);
    if (low)
        convert_hf_set_u32(h, "moe_latent_size", low);
}

/* ---- the table ----------------------------------------------------------- */

#define GRANITE(arch, ...)                                                     \
    "GraniteMoeHybridForCausalLM", arch, "model.layers.", convert_hf_usual,    \
        { granite, convert_hf_norms, __VA_ARGS__ }, .activations = "silu",     \
                                                    .any_layers = true
#define EXPERTS convert_hf_granite_experts, convert_hf_granite_shared

#define NEMOTRON                                                               \
    .epsilon = 1e-5, .activations = "silu", .positions = true, /* none */      \
        .any_layers = true, .left_out = left

const struct hf_family convert_hf_hybrids[] = {
    { GRANITE("granitehybrid", EXPERTS), .setting = "num_local_experts",
      .counts = has_spaces, .keys = keys_granite_hybrid_moe },
    { GRANITE("granitehybrid", granite_dense), .counts = has_spaces,
      .keys = keys_granite_hybrid },
    { GRANITE("granitemoe", EXPERTS), .setting = "num_local_experts",
      .keys = keys_granite_moe },
    { GRANITE("granite", granite_dense), .keys = keys_granite },
    { "NemotronHForCausalLM",
      "nemotron_h_moe",
      "backbone.layers.",
      convert_hf_backbone,
      { nemotron, nemotron_mixture },
      NEMOTRON,
      .counts = has_mixtures,
      .keys = keys_nemotron_moe },
    { "NemotronHForCausalLM",
      "nemotron_h",
      "backbone.layers.",
      convert_hf_backbone,
      { nemotron },
      NEMOTRON,
      .keys = keys_nemotron },
    { 0 },
};

#endif
