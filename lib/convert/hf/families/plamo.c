/* plamo.c - folders of PLaMo 1 to 3 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "convert/hf/states.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 20,
    MAX_CTX = 10 << 20, /* of 2, which has states */
};

/* ---- 1 ------------------------------------------------------------------ */

static const struct hf_name plamo[] = {
    { "norm", "attn_norm", 0 },
    { "self_attn.q_proj", "attn_q", HF_TILED_ROWS },
    { "self_attn.k_proj", "attn_k", 0 },
    { "self_attn.v_proj", "attn_v", 0 },
    { "self_attn.o_proj", "attn_output", HF_TILED_COLUMNS },
    { 0 },
};

/* Head i of queries reads keys and values i modulo how many there are. */
static void
keys_plamo(struct hf *h)
{
    int64_t shared = convert_hf_number(h, "n_shared_head", HF_MAX_HEADS, 8);

    if (!convert_hf_good(h))
        return;
    if (h->n_head % shared)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "n_shared_head: does not divide num_attention_heads");
    h->n_head_kv = (int32_t)(h->n_head / shared);
    h->delta.n_key = (int32_t)shared;
    h->delta.n_value = h->n_head;
    h->delta.d_value = h->d_head;
}

/* ---- 2 and 3 ------------------------------------------------------------ */

static const struct hf_name plamo_block[] = {
    { "pre_mixer_norm", "attn_norm", HF_PLUS_1 },
    { "post_mixer_norm.weight", "post_attention_norm", HF_EXACT },
    { "pre_mlp_norm", "ffn_norm", HF_PLUS_1 },
    { "mlp.gate_up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { "post_mlp_norm.weight", "post_ffw_norm", HF_EXACT },
    { 0 },
};
static const struct hf_name plamo2[] = {
    { "mixer.qkv_proj", "attn_qkv", HF_ATTENDING },
    { "mixer.o_proj", "attn_output", HF_ATTENDING },
    { "mixer.q_weight", "attn_q_norm.weight",
      HF_EXACT | HF_F32 | HF_ATTENDING },
    { "mixer.k_weight", "attn_k_norm.weight",
      HF_EXACT | HF_F32 | HF_ATTENDING },
    HF_COLUMNS("mixer", HF_RECURRENT),
    { "mixer.bcdt_proj", "ssm_x", HF_RECURRENT },
    { "mixer.dt_proj", "ssm_dt", HF_RECURRENT },
    { "mixer.dt_bias", "ssm_dt.bias", HF_EXACT | HF_F32 | HF_RECURRENT },
    { "mixer.A_log", "ssm_a", HF_EXACT | HF_F32 | HF_DECAYS | HF_RECURRENT },
    { "mixer.D", "ssm_d", HF_EXACT | HF_F32 | HF_RECURRENT },
    { "mixer.dt_norm_weight", "ssm_dt_norm", HF_EXACT | HF_RECURRENT },
    { "mixer.B_norm_weight", "ssm_b_norm", HF_EXACT | HF_RECURRENT },
    { "mixer.C_norm_weight", "ssm_c_norm", HF_EXACT | HF_RECURRENT },
    { 0 },
};
static const struct hf_name plamo3[] = {
    { "mixer.qkv_proj", "attn_qkv", 0 },
    { "mixer.o_proj", "attn_output", 0 },
    { "mixer.q_norm", "attn_q_norm", HF_PLUS_1 },
    { "mixer.k_norm", "attn_k_norm", HF_PLUS_1 },
    { 0 },
};

/* Weights of norms after a block lie around these. */
static void
add_offset(struct hf *h, const char *to, struct hf_rows *rows)
{
    (void)h;
    if (strstr(to, ".post_attention_norm"))
        rows->add = 1.0f / 5;
    else if (strstr(to, ".post_ffw_norm"))
        rows->add = (float)(1 / pow(5, 1.5));
}

/* One of `step` layers attends; of few layers the last. */
static bool
plamo_attends(const struct hf *h, int64_t step, int32_t layer)
{
    if (step == 0)
        return true;
    if (h->n_layer <= step / 2)
        return layer == h->n_layer - 1;
    return layer % step == step / 2;
}

static bool *
list_attention(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    bool mixed = core_json_bool(c, "mamba_enabled", true);
    int64_t step = mixed ? core_json_int(c, "mamba_step", 2, MAX_LENGTH, 2) : 0;
    bool *has = mem_array((size_t)h->n_layer, sizeof(*has));

    for (int32_t i = 0; has && i < h->n_layer; i++)
        has[i] = plamo_attends(h, step, i);
    return has;
}

static void
set_queries(struct hf *h)
{
    bool *has = list_attention(h);
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));

    for (int32_t i = 0; has && heads && i < h->n_layer; i++)
        heads[i] = has[i] ? h->n_head : 0;
    if (!has) {
        mem_free(heads);
        heads = NULL;
    }
    convert_hf_set_layers(h, "attention.head_count", GGUF_TYPE_INT32, heads);
    mem_free(has);
}

static bool
is_full(const json_t *full, int32_t layer)
{
    for (size_t i = 0; i < json_array_size(full); i++)
        if (json_integer_value(json_array_get(full, i)) == layer)
            return true;
    return false;
}

/* An id sees itself and a window's length of ids before it. */
static void
set_plamo_windows(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const json_t *full = core_json_array_of(c, "full_attention_idx");
    int64_t n = core_json_int(c, "attention_window_size", 1, HF_MAX_CTX, 2048);
    bool *windowed = list_attention(h);

    convert_hf_set_u32(h, "attention.sliding_window", n + 1);
    for (int32_t i = 0; windowed && i < h->n_layer; i++)
        windowed[i] = windowed[i] && !is_full(full, i);
    convert_hf_set_layers(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL,
                          windowed);
}

static void
keys_plamo2(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t heads = convert_hf_number(h, "mamba_num_heads", 1 << 16, 64);

    h->d_head = (int32_t)convert_hf_number(h, "hidden_size_per_head",
                                           HF_MAX_HEADS, 128);
    h->n_ctx = MAX_CTX;
    if (!convert_hf_good(h))
        return;
    convert_hf_set_u32(h, "attention.key_length", h->d_head);
    convert_hf_set_u32(h, "attention.value_length", h->d_head);
    set_queries(h);
    convert_hf_set_attention(h, list_attention(h));
    set_plamo_windows(h);
    convert_hf_set_space(h, heads * h->d_head,
                         core_json_int(c, "mamba_d_state", 1, MAX_LENGTH, 64),
                         heads);
    convert_hf_set_u32(h, "ssm.group_count", 0);
}

/* Number i of a list, or the only one; 0 where it is null. */
static int64_t
window_at(const json_t *window, int32_t layer)
{
    const json_t *own = json_array_get(window, (size_t)layer);

    return json_integer_value(json_is_array(window) ? own : window);
}

static void
set_listed_windows(struct hf *h, const json_t *list, int64_t n)
{
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));

    if (json_array_size(list) != (size_t)h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "sliding_window: not one a layer");
    for (int32_t i = 0; windowed && i < h->n_layer; i++) {
        windowed[i] = window_at(list, i) > 0;
        if (windowed[i] && window_at(list, i) != n)
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "sliding_window: layers have different ones");
    }
    convert_hf_set_layers(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL,
                          windowed);
}

static void
keys_plamo3(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const json_t *window = core_json_find(c, "window_size|sliding_window");
    int64_t n = 0;

    if (core_json_number(c, "rope_scaling_factor", 0, 1e6, 1) != 1)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "rope_scaling_factor: is 1 here");
    for (int32_t i = 0; n == 0 && i < h->n_layer; i++)
        n = window_at(window, i);
    if (n < 0 || n > HF_MAX_CTX)
        core_json_bad(c, GG_ERR_FORMAT, "window_size: %lld", (long long)n);
    if (n == 0 || !convert_hf_good(h))
        return;
    convert_hf_set_u32(h, "attention.sliding_window", n);
    if (json_is_array(window))
        set_listed_windows(h, window, n);
    else
        convert_hf_set_u32(
            h, "attention.sliding_window_pattern",
            core_json_int(c, "sliding_window_pattern", 1, MAX_LENGTH, 8));
    convert_hf_set_f32(h, "rope.freq_base_swa",
                       core_json_number(c, "rope_local_theta", 1, 1e12, 10000));
}

#define LAYERS "model.layers.layers."

const struct hf_family convert_hf_family_plamo[] = {
    { "PlamoForCausalLM", "plamo", .layer = { plamo, convert_hf_mlp },
      .layers = LAYERS, .n_ctx = 4096, .keys = keys_plamo },
    { "Plamo2ForCausalLM|PLaMo2ForCausalLM", "plamo2",
      .layer = { plamo_block, plamo2 }, .layers = LAYERS,
      .whole = convert_hf_usual_plus_1, .recurrent = "mixer.A_log",
      .scale = add_offset, .tied = true, .any_layers = true,
      .keys = keys_plamo2 },
    { "Plamo3ForCausalLM|PLaMo3ForCausalLM", "plamo3",
      .layer = { plamo_block, plamo3 }, .layers = LAYERS,
      .whole = convert_hf_usual_plus_1, .scale = add_offset, .tied = true,
      .any_layers = true, .keys = keys_plamo3 },
    { 0 },
};
