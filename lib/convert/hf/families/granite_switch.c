/* granite_switch.c - folders of Granite with adapters that ids switch on */
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_ADAPTERS = 256,
};

#define A(from, to)                                                            \
    {                                                                          \
        from, to ".lora_a", HF_EXACT | HF_ADAPTERS                             \
    }
#define B(from, to, how)                                                       \
    {                                                                          \
        from, to ".lora_b", HF_EXACT | (how)                                   \
    }
#define QKV "self_attn.qkv_proj."
#define OUT "self_attn.o_proj."
#define IN  "shared_mlp.input_linear."
#define END "shared_mlp.output_linear."

static const struct hf_name attention[] = {
    { QKV "base_layer", "attn_qkv", HF_PAIRED_QKV },
    A(QKV "lora_A_slices.0", "attn_q"),
    A(QKV "lora_A_slices.1", "attn_k"),
    A(QKV "lora_A_slices.2", "attn_v"),
    B(QKV "lora_B_slices.0", "attn_q", HF_ADAPTERS_Q),
    B(QKV "lora_B_slices.1", "attn_k", HF_ADAPTERS_K),
    B(QKV "lora_B_slices.2", "attn_v", HF_ADAPTERS),
    { OUT "base_layer", "attn_output", 0 },
    A(OUT "lora_A", "attn_output"),
    B(OUT "lora_B", "attn_output", HF_ADAPTERS),
    { 0 },
};
static const struct hf_name feed_forward[] = {
    { IN "base_layer", "ffn_gate", HF_GATES },
    { IN "base_layer", "ffn_up", HF_UPS },
    A(IN "lora_A_slices.0", "ffn_gate"),
    A(IN "lora_A_slices.1", "ffn_up"),
    B(IN "lora_B_slices.0", "ffn_gate", HF_ADAPTERS),
    B(IN "lora_B_slices.1", "ffn_up", HF_ADAPTERS),
    { END "base_layer", "ffn_down", 0 },
    A(END "lora_A", "ffn_down"),
    B(END "lora_B", "ffn_down", HF_ADAPTERS),
    { 0 },
};
/* Tables that follow from the configuration. */
static const char *const tables[] = {
    "switch.",
    "adapter_token_ids",
    "control_to_substitute_lut",
    NULL,
};

/* A list of the configuration with an id for each adapter. */
static void
set_ids(struct hf *h, const char *key, const char *name, int64_t n)
{
    const json_t *list = core_json_array_of(&h->config, name);
    int32_t ids[MAX_ADAPTERS] = { 0 };
    char full[96];

    if (json_array_size(list) != (size_t)n)
        core_json_bad(&h->config, GG_ERR_FORMAT, "%s: is no list of %lld ids",
                      name, (long long)n);
    for (size_t i = 0; i < json_array_size(list) && i < MAX_ADAPTERS; i++) {
        json_int_t id = json_integer_value(json_array_get(list, i));

        if (id < 0 || id >= h->n_vocab)
            core_json_bad(&h->config, GG_ERR_FORMAT, "%s: there is no id %lld",
                          name, (long long)id);
        else
            ids[i] = (int32_t)id;
    }
    snprintf(full, sizeof(full), "%s.%s", h->family->arch, key);
    gguf_set_arr_data(h->gguf, full, GGUF_TYPE_INT32, ids, (size_t)n);
}

static void
set_number(struct hf *h, const char *key, const char *name)
{
    convert_hf_set_f32(h, key,
                       core_json_number(&h->config, name, 1e-6, 1e6, 1));
}

/* One of the layers that the configuration counts is what switches. */
static void
keys_switch(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = core_json_int(c, "num_adapters", 1, MAX_ADAPTERS, 0);

    if (h->n_layer < 2)
        core_json_bad(c, GG_ERR_FORMAT, "num_hidden_layers: %d",
                      (int)h->n_layer);
    else
        h->n_layer--;
    h->n_ff = (int32_t)core_json_int(c, "shared_intermediate_size", 1,
                                     HF_MAX_FF, h->n_ff);
    convert_hf_must_be_int(h, "num_local_experts", 0);
    convert_hf_must_be_int(h, "projection_head_dim", h->d_head);
    set_number(h, "attention.scale", "attention_multiplier");
    set_number(h, "embedding_scale", "embedding_multiplier");
    set_number(h, "residual_scale", "residual_multiplier");
    set_number(h, "logit_scale", "logits_scaling");
    convert_hf_set_bool(
        h, "rope.scaling.finetuned",
        strcmp(core_json_text(c, "position_embedding_type", "rope"), "nope"));
    if (!convert_hf_good(h))
        return;
    convert_hf_set_u32(h, "adapters.count", n);
    convert_hf_set_u32(h, "adapters.lora_rank",
                       convert_hf_number(h, "max_lora_rank", HF_MAX_FF, 0));
    set_ids(h, "adapters.token_ids_activate", "adapter_token_ids", n);
    set_ids(h, "adapters.token_ids_substitute", "adapter_substitute_token_ids",
            n);
    convert_hf_set_f32(h, "adapters.router_gain",
                       core_json_number(c, "control_token_gain", 0, 1e6, 15));
}

const struct hf_family convert_hf_family_granite_switch[] = {
    { "GraniteSwitchForCausalLM", "graniteswitch",
      .layer = { attention, convert_hf_norms, feed_forward }, .epsilon = 1e-6,
      .tied = true, .any_layers = true, .left_out = tables,
      .keys = keys_switch },
    { 0 },
};
