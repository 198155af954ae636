/* gemma.c - the configuration of Gemma 3n and 4 in GGUF's keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_CTX = 1 << 28,
    MAX_FF = 1 << 24,
    MAX_EXPERTS = 1 << 12,
    MAX_USED = 64,
    MAX_HEADS = 1 << 16,
    MAX_EMBD = 1 << 16, /* of a layer's own embedding */
    MAX_ALTUP = 16,
};

/* A number a layer, under ARCH.name; the array is the caller's. */
static void
set_list(struct hf *h, const char *name, enum gguf_type type, const void *list)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", h->family->arch, name);
    gguf_set_arr_data(h->gguf, key, type, list, (size_t)h->n_layer);
}

static bool
is_windowed(const struct hf *h, int32_t layer, int period)
{
    const json_t *list = core_json_find(&h->config, "layer_types");
    const char *type = json_string_value(json_array_get(list, (size_t)layer));

    return type ? !strcmp(type, "sliding_attention")
                : layer % period != period - 1;
}

/* Window, and which layers see no more than it. */
static void
set_windows(struct hf *h, int period)
{
    const json_t *list = core_json_array_of(&h->config, "layer_types");
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));

    convert_hf_keys_window(h);
    if (json_array_size(list) && json_array_size(list) != (size_t)h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "layer_types: not one a layer");
    if (!windowed)
        h->config.status = error_nomem(h->config.err);
    for (int32_t i = 0; windowed && i < h->n_layer; i++)
        windowed[i] = is_windowed(h, i, period);
    if (windowed)
        set_list(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL,
                 windowed);
    mem_free(windowed);
}

/* What both have. 0: there is no cap; without a key all readers take one. */
static void
set_common(struct hf *h, int64_t shared, int period)
{
    struct core_json_keys *c = &h->config;

    set_windows(h, period);
    convert_hf_set_u32(
        h, "attention.shared_kv_layers",
        core_json_int(c, "num_kv_shared_layers", 0, h->n_layer - 1, shared));
    convert_hf_set_u32(
        h, "embedding_length_per_layer_input",
        core_json_int(c, "hidden_size_per_layer_input", 0, MAX_EMBD, 0));
    convert_hf_set_f32(
        h, "final_logit_softcapping",
        core_json_number(c, "final_logit_softcapping", 0, 1e6, 0));
}

/* ---- Gemma 3n ------------------------------------------------------------ */

/* Below how many standard deviations such a part of a normal distribution lies:
 * half an interval after the other. */
static double
quantile(double part)
{
    double low = -40, high = 40, middle;

    if (part <= 0)
        return -INFINITY;
    for (int i = 0; i < 100; i++) {
        middle = (low + high) / 2;
        if (0.5 * erfc(-middle / sqrt(2)) < part)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The part of gates that are 0, of each layer. */
static void
set_sparsity(struct hf *h)
{
    const json_t *list =
        core_json_array_of(&h->config, "activation_sparsity_pattern");
    float *x = mem_array((size_t)h->n_layer, sizeof(*x));

    if (json_array_size(list) != (size_t)h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "activation_sparsity_pattern: not one a layer");
    if (!x)
        h->config.status = error_nomem(h->config.err);
    for (int32_t i = 0; x && i < h->n_layer; i++) {
        double part = json_number_value(json_array_get(list, (size_t)i));

        if (!(part < 1))
            core_json_bad(&h->config, GG_ERR_FORMAT,
                          "activation_sparsity_pattern: %g is not below 1",
                          part);
        x[i] = (float)quantile(part);
    }
    if (x)
        set_list(h, "activation_sparsity_scale", GGUF_TYPE_FLOAT32, x);
    mem_free(x);
}

static void
set_ff_list(struct hf *h)
{
    const json_t *list = core_json_find(&h->config, "intermediate_size");
    int32_t *x;

    if (!json_is_array(list))
        return;
    x = mem_array((size_t)h->n_layer, sizeof(*x));
    if (!x)
        h->config.status = error_nomem(h->config.err);
    if (json_array_size(list) != (size_t)h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "intermediate_size: not one a layer");
    for (int32_t i = 0; x && i < h->n_layer; i++) {
        int64_t n = json_integer_value(json_array_get(list, (size_t)i));

        if (n < 1 || n > MAX_FF)
            core_json_bad(&h->config, GG_ERR_FORMAT,
                          "intermediate_size: of layer %d", (int)i);
        x[i] = (int32_t)n;
    }
    if (x)
        set_list(h, "feed_forward_length", GGUF_TYPE_INT32, x);
    mem_free(x);
}

void
convert_hf_keys_gemma3n(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = core_json_int(c, "altup_num_inputs", 2, MAX_ALTUP, 4);

    set_common(h, 15, 5);
    set_sparsity(h);
    set_ff_list(h);
    convert_hf_must_be(h, "altup_correct_scale", true, true);
    convert_hf_set_u32(h, "altup.num_inputs", n);
    convert_hf_set_u32(h, "altup.active_idx",
                       core_json_int(c, "altup_active_idx", 0, n - 1, 0));
    h->n_expert = (int32_t)n - 1; /* matrices in a tensor */
}

/* ---- Gemma 4 ------------------------------------------------------------- */

/* A setting of the layers that see all keys: by its name, or, since 2026, in a
 * list of what layers have otherwise. */
static int32_t
of_full_layers(struct hf *h, const char *name, const char *in_list,
               int32_t other)
{
    const json_t *list = core_json_object_of(&h->config, "per_layer_config");
    int64_t n = core_json_int(&h->config, name, 1, MAX_HEADS, other);
    const char *layer;
    json_t *one;

    json_object_foreach((json_t *)(uintptr_t)list, layer, one)
    {
        const json_t *v = json_object_get(one, in_list);

        if (json_is_integer(v))
            n = json_integer_value(v);
    }
    if (n < 1 || n > MAX_HEADS)
        core_json_bad(&h->config, GG_ERR_FORMAT, "per_layer_config: %s: %lld",
                      in_list, (long long)n);
    return (int32_t)n;
}

static void
set_key_heads(struct hf *h)
{
    int32_t n = h->n_head_kv, *x = mem_array((size_t)h->n_layer, sizeof(*x));

    if (core_json_bool(&h->config, "attention_k_eq_v", false))
        n = of_full_layers(h, "num_global_key_value_heads",
                           "num_key_value_heads", n);
    if (!x)
        h->config.status = error_nomem(h->config.err);
    for (int32_t i = 0; x && i < h->n_layer; i++)
        x[i] = is_windowed(h, i, 6) ? h->n_head_kv : n;
    if (x)
        set_list(h, "attention.head_count_kv", GGUF_TYPE_INT32, x);
    mem_free(x);
}

/* Layers that share keys may be twice as wide. */
static void
set_wide(struct hf *h)
{
    int64_t shared =
        core_json_int(&h->config, "num_kv_shared_layers", 0, h->n_layer - 1, 0);
    int32_t *x;

    if (!core_json_bool(&h->config, "use_double_wide_mlp", false))
        return;
    x = mem_array((size_t)h->n_layer, sizeof(*x));
    if (!x)
        h->config.status = error_nomem(h->config.err);
    for (int32_t i = 0; x && i < h->n_layer; i++)
        x[i] = i < h->n_layer - shared ? h->n_ff : 2 * h->n_ff;
    if (x)
        set_list(h, "feed_forward_length", GGUF_TYPE_INT32, x);
    mem_free(x);
}

static void
set_head_lengths(struct hf *h)
{
    convert_hf_set_u32(h, "attention.key_length_swa", h->d_head);
    convert_hf_set_u32(h, "attention.value_length_swa", h->d_head);
    convert_hf_set_u32(h, "rope.dimension_count_swa", h->d_head);
    h->d_head = of_full_layers(h, "global_head_dim", "head_dim", 512);
}

static void
set_experts(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    if (!core_json_bool(c, "enable_moe_block", false))
        return;
    h->n_expert = (int32_t)core_json_int(c, "num_experts", 1, MAX_EXPERTS, 0);
    convert_hf_set_u32(h, "expert_count", h->n_expert);
    convert_hf_set_u32(h, "expert_used_count",
                       core_json_int(c, "top_k_experts", 1, MAX_USED, 0));
    convert_hf_set_u32(h, "expert_feed_forward_length",
                       core_json_int(c, "moe_intermediate_size", 1, MAX_FF, 0));
}

void
convert_hf_keys_gemma4(struct hf *h)
{
    const char *both =
        core_json_text(&h->config, "use_bidirectional_attention", "");

    if (!strcmp(both, "all"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "use_bidirectional_attention: ids see earlier ones only "
                      "here");
    set_common(h, 0, 6);
    set_key_heads(h);
    set_wide(h);
    set_head_lengths(h);
    set_experts(h);
}

#endif
