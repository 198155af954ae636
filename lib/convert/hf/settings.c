/* settings.c - settings that several families have, in GGUF's keys
 *
 * Settings that the graphs of lib/graph do not follow are refused: a model
 * that is converted computes what it did. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    SECTIONS = 4, /* three, or, of Hunyuan, four */
    MAX_PAIRS = 1 << 15,
};

void
convert_hf_set_expert_length(struct hf *h, const char *from)
{
    convert_hf_set_u32(h, "expert_feed_forward_length",
                       core_json_int(&h->config, from, 1, HF_MAX_FF, 0));
}

static void
set_scale(struct hf *h)
{
    convert_hf_set_f32(
        h, "expert_weights_scale",
        core_json_number(&h->config,
                         "routed_scaling_factor|router_scaling_factor", 0, 1e6,
                         1));
}

static void
set_groups(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n =
        core_json_int(c, "n_group|num_expert_group", 1, HF_MAX_EXPERTS, 1);

    convert_hf_set_u32(h, "expert_group_count", n);
    convert_hf_set_u32(h, "expert_group_used_count",
                       core_json_int(c, "topk_group", 1, n, 1));
}

void
convert_hf_set_experts(struct hf *h, int64_t used)
{
    struct core_json_keys *c = &h->config;

    h->n_expert = (int32_t)core_json_int(
        c, "num_local_experts|num_experts|n_routed_experts|moe_num_experts", 1,
        HF_MAX_EXPERTS, 0);
    convert_hf_set_u32(h, "expert_count", h->n_expert);
    convert_hf_set_u32(
        h, "expert_used_count",
        core_json_int(c,
                      "num_experts_per_tok|experts_per_token|"
                      "num_experts_per_token|moe_topk|moe_k|moe_top_k",
                      1, HF_MAX_USED, used));
}

/* GLM 4.5, dots.llm1, too. */
void
convert_hf_keys_deepseek3(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_experts(h, 8);
    convert_hf_set_expert_length(h, "moe_intermediate_size");
    convert_hf_set_u32(h, "expert_shared_count",
                       core_json_int(c, "n_shared_experts|num_shared_experts",
                                     0, HF_MAX_SHARED, 1));
    convert_hf_set_u32(
        h, "leading_dense_block_count",
        core_json_int(c, "first_k_dense_replace", 0, h->n_layer, 0));
    convert_hf_set_bool(
        h, "expert_weights_norm",
        core_json_bool(c, "norm_topk_prob|moe_renormalize|route_norm", true));
    convert_hf_set_u32(h, "expert_gating_func", HF_SIGMOID);
    set_scale(h);
    set_groups(h);
}

/* How many pairs of a head turn by each of the three positions (M-RoPE): an id
 * has one in time, in height and in width, which are the same without pictures.
 */
void
convert_hf_set_sections(struct hf *h)
{
    struct core_json_keys rope = h->config;
    const json_t *list;
    int32_t x[SECTIONS] = { 0 };
    char key[96];

    rope.object = core_json_object_of(&h->config, "rope_parameters");
    if (!rope.object)
        rope.object = core_json_object_of(&h->config, "rope_scaling");
    list = core_json_array_of(&rope, "mrope_section|xdrope_section");
    if (json_array_size(list) + 1 < SECTIONS ||
        json_array_size(list) > SECTIONS)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "mrope_section: is no list of three or four numbers");
    for (size_t i = 0; i < SECTIONS && i < json_array_size(list); i++) {
        json_int_t n = json_integer_value(json_array_get(list, i));

        if (n < 0 || n > MAX_PAIRS)
            core_json_bad(&h->config, GG_ERR_FORMAT, "mrope_section: %lld",
                          (long long)n);
        else
            x[i] = (int32_t)n;
    }
    snprintf(key, sizeof(key), "%s.rope.dimension_sections", h->family->arch);
    gguf_set_arr_data(h->gguf, key, GGUF_TYPE_INT32, x, SECTIONS);
}

/* Into how many layers pictures are added, which is nothing to text. */
void
convert_hf_keys_qwen3vl(struct hf *h)
{
    const json_t *vision = json_object_get(h->document, "vision_config");
    const json_t *list = json_object_get(vision, "deepstack_visual_indexes");

    convert_hf_set_u32(h, "n_deepstack_layers", (int64_t)json_array_size(list));
    convert_hf_set_sections(h);
}

/* A key of the family. */
void
convert_hf_set_layers(struct hf *h, const char *name, enum gguf_type type,
                      void *x)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", h->family->arch, name);
    convert_hf_set_list(h, key, type, x);
}

int64_t
convert_hf_count_listed_dense(struct hf *h)
{
    const json_t *list = convert_hf_layers_list(h, "mlp_layer_types");
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *type = json_string_value(json_array_get(list, i));
        bool dense = type && !strcmp(type, "dense");

        if (dense && n < i)
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "mlp_layer_types: layer %zu is dense, but not those "
                          "before it",
                          i);
        n += dense;
    }
    return (int64_t)n;
}

int64_t
convert_hf_number(struct hf *h, const char *name, int32_t max, int64_t other)
{
    return core_json_int(&h->config, name, 1, max, other);
}

void
convert_hf_keys_window(struct hf *h)
{
    int64_t n = core_json_int(&h->config, "sliding_window", 0, HF_MAX_CTX, 0);

    if (n)
        convert_hf_set_u32(h, "attention.sliding_window", n);
}

/* Windows begin at a layer that no model has. */
void
convert_hf_keys_qwen(struct hf *h)
{
    bool windowed = core_json_bool(&h->config, "use_sliding_window", false);
    int64_t from =
        core_json_int(&h->config, "max_window_layers", 0, 1 << 20, h->n_layer);

    if (windowed && from < h->n_layer &&
        core_json_find(&h->config, "sliding_window"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "use_sliding_window: %s has no windows here",
                      h->family->arch);
}

void
convert_hf_keys_qwen_moe(struct hf *h, int64_t used)
{
    const json_t *dense = core_json_array_of(&h->config, "mlp_only_layers");

    convert_hf_keys_qwen(h);
    convert_hf_set_experts(h, used);
    convert_hf_must_be_int(h, "decoder_sparse_step", 1);
    if (json_array_size(dense))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "mlp_only_layers: %s has experts in all layers here",
                      h->family->arch);
    convert_hf_set_u32(
        h, "expert_feed_forward_length",
        core_json_int(&h->config, "moe_intermediate_size", 1, HF_MAX_FF, 0));
}

/* Scores are scaled by heads of this length; the largest model's, whose depth
 * `deep` is, by that which its heads would have if they shared the embedding's.
 */
void
convert_hf_keys_gemma(struct hf *h, int32_t deep)
{
    struct core_json_keys *c = &h->config;
    int32_t d = h->n_layer == deep ? h->n_embd / h->n_head : h->d_head;

    if (core_json_number(c, "query_pre_attn_scalar", 0, 1e6, d) != d)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "query_pre_attn_scalar: %s of %d layers has %d here",
                      h->family->arch, (int)h->n_layer, (int)d);
    convert_hf_keys_window(h);
    convert_hf_set_f32(
        h, "final_logit_softcapping",
        core_json_number(c, "final_logit_softcapping", 0, 1e6, 0));
}

/* Layers with a window; without a list, all but number `full` of each four. */
static void
set_listed(struct hf *h, size_t full)
{
    const json_t *list = core_json_array_of(&h->config, "layer_types");
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));
    char key[96];

    snprintf(key, sizeof(key), "%s.attention.sliding_window_pattern",
             h->family->arch);
    convert_hf_keys_window(h);
    if (json_array_size(list) && json_array_size(list) != (size_t)h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "layer_types: not one a layer");
    if (!windowed)
        h->config.status = error_nomem(h->config.err);
    for (size_t i = 0; windowed && i < (size_t)h->n_layer; i++) {
        const char *type = json_string_value(json_array_get(list, i));

        windowed[i] = type ? !strcmp(type, "sliding_attention") : i % 4 != full;
    }
    if (windowed)
        gguf_set_arr_data(h->gguf, key, GGUF_TYPE_BOOL, windowed,
                          (size_t)h->n_layer);
    mem_free(windowed);
}

void
convert_hf_keys_listed(struct hf *h)
{
    set_listed(h, 3);
}

void
convert_hf_keys_listed_after(struct hf *h)
{
    set_listed(h, 0);
}

#endif
