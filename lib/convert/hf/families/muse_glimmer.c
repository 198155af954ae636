/* muse_glimmer.c - folders of Muse Glimmer */
#include <stdio.h>

#include "convert/hf/families.h"
#include "core/mem.h"

static const struct hf_name muse[] = {
    { "self_attn.gate_proj", "attn_gate", 0 },
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "post_attention_norm", HF_PLUS_1 },
    { "pre_feedforward_layernorm", "ffn_norm", HF_PLUS_1 },
    { "post_feedforward_layernorm", "post_ffw_norm", HF_PLUS_1 },
    { 0 },
};
/* Parts that read pictures. */
static const char *const muse_left[] = { "vision_adapter.",
                                         "vision_projection.", NULL };

/* Queries and keys are normed without weights, then queries are scaled: here
 * the norms have these as their weights. */
static void
add_norms(struct hf *h, const char *to, float scale)
{
    for (int32_t i = 0; i < h->n_layer && convert_hf_good(h); i++) {
        int64_t ne[GGML_MAX_DIMS] = { h->d_head, 1, 1, 1 };
        float *x = mem_array((size_t)h->d_head, sizeof(*x));
        struct hf_rows rows = {
            .made = x, .n_rows = 1, .n_blocks = 1, .length = h->d_head
        };
        char name[64];

        for (int32_t k = 0; x && k < h->d_head; k++)
            x[k] = scale;
        snprintf(name, sizeof(name), "blk.%d.%s.weight", (int)i, to);
        if (x)
            convert_hf_add(h, name, GGML_TYPE_F32, ne, &rows);
        else
            h->config.status = error_nomem(h->config.err);
    }
}

/* The layers with a window are those that turn; counted from the last, each
 * fourth does not. */
static void
set_muse_windows(struct hf *h)
{
    const json_t *bases = convert_hf_layers_list(h, "layer_rope_theta");
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));

    for (int32_t i = 0; windowed && i < h->n_layer; i++) {
        const json_t *base = json_array_get(bases, (size_t)i);

        windowed[i] =
            convert_hf_is_windowed(h, i, (h->n_layer - 1 - i) % 4 != 0);
        if (base && (json_number_value(base) != 0) != windowed[i])
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_rope_theta: those with a window turn, the "
                          "others do not");
    }
    convert_hf_set_layers(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL,
                          windowed);
    convert_hf_keys_window(h);
}

static void
keys_muse(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    set_muse_windows(h);
    convert_hf_set_f32(
        h, "final_logit_softcapping",
        core_json_number(c, "final_logit_softcapping", 1e-3, 1e6, 20));
    convert_hf_set_f32(h, "logit_scale",
                       core_json_number(c, "output_multiplier", 1e-6, 1e6,
                                        0.19611613513818404));
    if (core_json_number(c, "post_norm_eps", 0, 1, 1e-8) != 1e-8)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "post_norm_eps: is 1e-8 here");
    if (h->weighed) {
        double scale = core_json_number(c, "qk_scale_factor", 0, 1e6, 3.87);

        add_norms(h, "attn_q_norm", (float)scale);
        add_norms(h, "attn_k_norm", 1);
    }
}

const struct hf_family convert_hf_family_muse_glimmer[] = {
    { "MuseGlimmerForConditionalGeneration", "muse-glimmer",
      .layer = { convert_hf_attention_pairs, muse, convert_hf_mlp },
      .epsilon = 1e-5, .keys = keys_muse, .left_out = muse_left,
      .listed = true },
    { 0 },
};
