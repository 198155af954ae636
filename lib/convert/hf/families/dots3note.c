/* dots3note.c - folders of dots3 note: its text part
 *
 * Layers with a window have settings of their own: swa_NAME, or NAME in
 * per_layer_config. Latents are multiplied by sqrt(hidden_size / their length)
 * there, which goes into the weights of their norms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 16,
};

static const struct hf_name dots_attention[] = {
    { "self_attn.k_rope_only_layernorm", "attn_k_norm", 0 },
    { "self_attn.g_proj", "attn_gate", 0 },
    { 0 },
};
static const char *const dots_left[] = { "model.mtp.", "vision_encoder.",
                                         "audio_encoder.", NULL };

static bool
has_window(const struct hf *h, int32_t layer)
{
    return convert_hf_is_windowed(h, layer, false);
}

/* The settings of per_layer_config for the layers with a window, which are the
 * same for all; NULL: there are none. */
static const json_t *
windowed_settings(struct hf *h)
{
    const json_t *all = core_json_object_of(&h->config, "per_layer_config");
    const json_t *found = NULL;
    char number[16];

    for (int32_t i = 0; all && i < h->n_layer; i++) {
        const json_t *own;

        snprintf(number, sizeof(number), "%d", (int)i);
        own = json_object_get(all, number);
        if (has_window(h, i) ? found && !json_equal(found, own)
                             : json_object_size(own) > 0)
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "per_layer_config: layers of a kind differ");
        found = has_window(h, i) ? own : found;
    }
    return found;
}

static int32_t
windowed_int(struct hf *h, const char *name)
{
    struct core_json_keys own = h->config;
    int64_t all = core_json_int(&h->config, name, 1, MAX_LENGTH, -1), n;
    char swa[64];

    own.object = windowed_settings(h);
    snprintf(swa, sizeof(swa), "swa_%s", name);
    n = own.object ? core_json_int(&own, name, 1, MAX_LENGTH, all)
                   : core_json_int(&h->config, swa, 1, MAX_LENGTH, all);
    if (own.status != GG_OK)
        h->config.status = own.status;
    return (int32_t)n;
}

/* Lengths of layers with a window. */
static void
set_windowed_latent(struct hf *h)
{
    int32_t n = windowed_int(h, "kv_lora_rank");
    int32_t shared = windowed_int(h, "qk_rope_head_dim");

    h->latent_local.n_head = windowed_int(h, "num_attention_heads");
    h->latent_local.d_own = windowed_int(h, "qk_nope_head_dim");
    h->latent_local.d_value = windowed_int(h, "v_head_dim");
    if (!convert_hf_good(h))
        return;
    if (shared != h->n_rot ||
        windowed_int(h, "q_lora_rank") !=
            core_json_int(&h->config, "q_lora_rank", 1, MAX_LENGTH, -1))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "qk_rope_head_dim, q_lora_rank: layers with a window "
                      "have those of the others here");
    convert_hf_set_u32(h, "attention.kv_lora_rank_swa", n);
    convert_hf_set_u32(h, "attention.key_length_swa", n + shared);
    convert_hf_set_u32(h, "attention.value_length_swa", n);
    convert_hf_set_u32(h, "attention.key_length_mla_swa",
                       h->latent_local.d_own + shared);
    convert_hf_set_u32(h, "attention.value_length_mla_swa",
                       h->latent_local.d_value);
}

static void
set_layers(struct hf *h)
{
    size_t n = (size_t)h->n_layer;
    bool *own = mem_array(n, sizeof(*own));
    int32_t *heads = mem_array(n, sizeof(*heads));

    for (int32_t i = 0; own && heads && i < h->n_layer; i++) {
        own[i] = !has_window(h, i);
        heads[i] = own[i] ? h->n_head : h->latent_local.n_head;
    }
    convert_hf_set_layers(h, "attention.indexer.types", GGUF_TYPE_BOOL, own);
    convert_hf_set_layers(h, "attention.head_count", GGUF_TYPE_INT32, heads);
}

static void
check_dots_layers(struct hf *h)
{
    const json_t *list = convert_hf_layers_list(h, "layer_types");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *type = json_string_value(json_array_get(list, i));

        if (!type || !strstr("full_attention|sliding_attention|"
                             "indexed_attention",
                             type))
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_types: %.40s is not known here",
                          type ? type : "null");
    }
    if (!list)
        core_json_bad(&h->config, GG_ERR_FORMAT, "layer_types: is missing");
    convert_hf_must_be(h, "use_dsa", true, true);
    convert_hf_must_be(h, "use_dynamic_rsf", false, false);
}

static void
set_dots_experts(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t each = core_json_int(
        c,
        "shared_experts_intermediate_size|moe_shared_expert_intermediate_size",
        1, HF_MAX_FF, 0);
    int64_t length = core_json_int(c, "moe_intermediate_size", 1, HF_MAX_FF, 0);
    int64_t n = core_json_int(c, "n_shared_experts", 1, HF_MAX_SHARED, 1);

    convert_hf_keys_deepseek3(h);
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_dense(h, 1));
    if (each && each != length)
        convert_hf_set_u32(h, "expert_shared_feed_forward_length", n * each);
}

static void
keys_dots(struct hf *h)
{
    check_dots_layers(h);
    h->n_rot = convert_hf_set_latent(h, true);
    convert_hf_keys_listed(h);
    convert_hf_set_u32(h, "attention.sliding_window",
                       core_json_int(&h->config,
                                     "sliding_window|sliding_window_size", 1,
                                     HF_MAX_CTX, 512));
    if (convert_hf_good(h))
        set_windowed_latent(h);
    convert_hf_set_indexer(h);
    if (convert_hf_good(h))
        set_layers(h);
    set_dots_experts(h);
}

/* Norms of latents. */
static void
scale_dots(struct hf *h, const char *to, struct hf_rows *r)
{
    const char *dot = !strncmp(to, "blk.", 4) ? strchr(to + 4, '.') : NULL;
    bool of_latent = dot && (!strcmp(dot, ".attn_q_a_norm.weight") ||
                             !strcmp(dot, ".attn_kv_a_norm.weight"));

    r->n_bands = 1;
    r->bands[0].end = r->n_rows;
    r->bands[0].by = 1;
    if (of_latent &&
        core_json_bool(&h->config, "apply_mla_qkv_lora_rescale", true))
        r->bands[0].by = (float)sqrt((double)h->n_embd / (double)r->length);
}

const struct hf_family convert_hf_family_dots3note[] = {
    { "Dots3NoteForCausalLM|Dots3NoteTextForCausalLM|"
      "Dots3NoteForConditionalGeneration",
      "dots3note",
      .layer = { convert_hf_latent, dots_attention, convert_hf_indexer,
                 convert_hf_norms, convert_hf_expert_names,
                 convert_hf_shared_names, convert_hf_dense_names },
      .keys = keys_dots, .epsilon = 1e-5, .any_layers = true,
      .windowed_base = 5e4, .scale = scale_dots, .left_out = dots_left },
    { 0 },
};
