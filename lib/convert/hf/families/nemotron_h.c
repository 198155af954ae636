/* nemotron_h.c - folders of Nemotron-H and Nemotron 3, dense and with
 * experts */
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "convert/hf/states.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 20,
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
/* MTP layers. */
static const char *const left[] = { "mtp.", NULL };

/* The kind of a layer, by a letter: M, *, - or E; 0: none of these. */
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
    convert_hf_set_heads(
        h, "mamba_num_heads", "mamba_head_dim",
        convert_hf_number(h, "mamba_num_heads", MAX_LENGTH, -1) *
            convert_hf_number(h, "mamba_head_dim", MAX_LENGTH, 64));
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
    int64_t n = convert_hf_number(h, "moe_intermediate_size", HF_MAX_FF, -1);
    int64_t low = core_json_int(c, "moe_latent_size", 0, MAX_LENGTH, 0);

    set_nemotron_layers(h, 'E', n);
    set_nemotron(h);
    convert_hf_set_experts(h, 2);
    convert_hf_set_u32(h, "expert_feed_forward_length", n);
    convert_hf_set_u32(h, "expert_shared_feed_forward_length",
                       convert_hf_number(h,
                                         "moe_shared_expert_intermediate_size",
                                         HF_MAX_FF, -1));
    convert_hf_set_u32(h, "expert_shared_count",
                       convert_hf_number(h, "n_shared_experts", HF_MAX_FF, 1));
    convert_hf_set_u32(h, "expert_gating_func", HF_SIGMOID);
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "norm_topk_prob", true));
    convert_hf_set_f32(h, "expert_weights_scale",
                       core_json_number(c, "routed_scaling_factor", 0, 1e6, 1));
    convert_hf_must_be_int(h, "n_group", 1);
    convert_hf_must_be_int(h, "topk_group", 1);
    if (low)
        convert_hf_set_u32(h, "moe_latent_size", low);
}

const struct hf_family convert_hf_family_nemotron_h[] = {
    { "NemotronHForCausalLM", "nemotron_h_moe",
      .layer = { nemotron, nemotron_mixture }, .layers = "backbone.layers.",
      .whole = convert_hf_backbone, .epsilon = 1e-5,
      .positions = true /* none */, .any_layers = true, .left_out = left,
      .counts = has_mixtures, .keys = keys_nemotron_moe },
    { "NemotronHForCausalLM", "nemotron_h", .layer = { nemotron },
      .layers = "backbone.layers.", .whole = convert_hf_backbone,
      .epsilon = 1e-5, .positions = true /* none */, .any_layers = true,
      .left_out = left, .keys = keys_nemotron },
    { 0 },
};
