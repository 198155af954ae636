/* gemma4.c - what Gemma 4 sees and hears: an encoder of images of any shape,
 * and a conformer */
#include "convert/hf/projector.h"

#include <string.h>

enum {
    SIZE = 224, /* that files say; no image has it */
    MAX_POOL = 16,
    MAX_ROWS = 1 << 14,
    MAX_SIDE = 256,
    MAX_MEL = 1 << 12,
};

/* A linear map within bounds, where it has any. */
#define BOUND(from, to, what)                                                  \
    {                                                                          \
        from "." what, to "." what,                                            \
            HF_FILTERS | HF_EXACT | HF_F32 | HF_OPTIONAL                       \
    }
#define BOUNDED(from, to)                                                      \
    { from ".linear", to, 0 }, BOUND(from, to, "input_min"),                   \
        BOUND(from, to, "input_max"), BOUND(from, to, "output_min"),           \
        BOUND(from, to, "output_max")

static const struct hf_name norms[] = {
    { "input_layernorm", "ln1", 0 },
    { "post_attention_layernorm", "attn_post_norm", 0 },
    { "pre_feedforward_layernorm", "ln2", 0 },
    { "post_feedforward_layernorm", "ffn_post_norm", 0 },
    { "self_attn.q_norm", "attn_q_norm", 0 },
    { "self_attn.k_norm", "attn_k_norm", 0 },
    { 0 },
};
static const struct hf_name maps[] = {
    BOUNDED("self_attn.q_proj", "attn_q"),
    BOUNDED("self_attn.k_proj", "attn_k"),
    BOUNDED("self_attn.v_proj", "attn_v"),
    BOUNDED("self_attn.o_proj", "attn_out"),
    BOUNDED("mlp.gate_proj", "ffn_gate"),
    BOUNDED("mlp.up_proj", "ffn_up"),
    BOUNDED("mlp.down_proj", "ffn_down"),
    { 0 },
};

#define TOWER "model.vision_tower."
static const struct hf_name whole[] = {
    { TOWER "patch_embedder.input_proj", "v.patch_embd", HF_PIXELS | HF_F32 },
    { TOWER "patch_embedder.position_embedding_table", "v.position_embd.weight",
      HF_EXACT | HF_F32 },
    { TOWER "std_bias", "v.std_bias", HF_EXACT | HF_OPTIONAL },
    { TOWER "std_scale", "v.std_scale", HF_EXACT | HF_OPTIONAL },
    { "model.embed_vision.embedding_projection", "mm.input_projection", 0 },
    { 0 },
};

/* Heads of queries are those of keys, and fill a row; their turns are those of
 * all such models. */
static void
check_heads(struct hf *h)
{
    struct core_json_keys rope = h->config;

    convert_hf_must_be_int(h, "num_key_value_heads", h->n_head);
    convert_hf_must_be_int(h, "head_dim", h->n_embd / h->n_head);
    convert_hf_must_be(h, "attention_bias", false, false);
    rope.object = core_json_object_of(&h->config, "rope_parameters");
    convert_hf_fix_number(h, &rope, "rope_theta", 100);
    h->config.status = rope.status;
}

/* As many pixels as the rows have that an image is made to fill. */
static void
set_budget(struct hf *h, int64_t side)
{
    int64_t rows = core_json_int(&h->input, "max_soft_tokens|image_seq_length",
                                 1, MAX_ROWS, 280);

    convert_hf_set_u32(h, "image_max_pixels", rows * side * side);
}

/* Pixels go in as they are. */
static void
keys(struct hf *h)
{
    int64_t pool =
        core_json_int(&h->config, "pooling_kernel_size", 1, MAX_POOL, 3);
    int64_t patch = core_json_int(&h->config, "patch_size", 1, MAX_SIDE, 16);

    check_heads(h);
    if (core_json_bool(&h->input, "do_normalize", false))
        core_json_bad(&h->input, GG_ERR_UNSUPPORTED,
                      "do_normalize: Gemma 4's images are not normalised here");
    convert_hf_set_u32(h, "image_size", SIZE);
    convert_hf_set_u32(h, "projector.scale_factor", pool);
    set_budget(h, pool * patch);
}

/* ---- sounds -------------------------------------------------------------- */

static const struct hf_name sound_norms[] = {
    { "feed_forward1.pre_layer_norm", "ffn_norm", 0 },
    { "feed_forward1.post_layer_norm", "ffn_post_norm", 0 },
    { "feed_forward2.pre_layer_norm", "ffn_norm_1", 0 },
    { "feed_forward2.post_layer_norm", "ffn_post_norm_1", 0 },
    { "norm_pre_attn", "attn_pre_norm", 0 },
    { "norm_post_attn", "attn_post_norm", 0 },
    { "lconv1d.pre_layer_norm", "conv_norm", 0 },
    { "lconv1d.conv_norm", "norm_conv", 0 },
    { "norm_out", "ln2", 0 },
    { 0 },
};
static const struct hf_name sound_maps[] = {
    BOUNDED("feed_forward1.ffw_layer_1", "ffn_up"),
    BOUNDED("feed_forward1.ffw_layer_2", "ffn_down"),
    BOUNDED("feed_forward2.ffw_layer_1", "ffn_up_1"),
    BOUNDED("feed_forward2.ffw_layer_2", "ffn_down_1"),
    BOUNDED("self_attn.q_proj", "attn_q"),
    BOUNDED("self_attn.k_proj", "attn_k"),
    BOUNDED("self_attn.v_proj", "attn_v"),
    BOUNDED("self_attn.post", "attn_out"),
    BOUNDED("lconv1d.linear_start", "conv_pw1"),
    BOUNDED("lconv1d.linear_end", "conv_pw2"),
    { "self_attn.relative_k_proj", "attn_k_rel", 0 },
    { "self_attn.per_dim_scale", "per_dim_scale.weight",
      HF_EXACT | HF_F32 | HF_SOFTPLUS },
    { "lconv1d.depthwise_conv1d", "conv_dw", HF_SQUEEZE | HF_F32 },
    { 0 },
};

#define EAR   "model.audio_tower."
#define FRONT EAR "subsample_conv_projection."
static const struct hf_name sound_whole[] = {
    { FRONT "layer0.conv", "a.conv1d.0", HF_FILTERS | HF_F32 },
    { FRONT "layer1.conv", "a.conv1d.1", HF_FILTERS | HF_F32 },
    { FRONT "layer0.norm", "a.conv1d.0.norm", 0 },
    { FRONT "layer1.norm", "a.conv1d.1.norm", 0 },
    { FRONT "input_proj_linear", "a.input_projection", 0 },
    { EAR "output_proj", "a.pre_encode.out", 0 },
    { "model.embed_audio.embedding_projection", "mm.a.input_projection", 0 },
    { 0 },
};

/* Settings that no key of a file says. */
static void
keys_sound(struct hf *h)
{
    static const struct {
        const char *name;
        double value;
    } fixed[] = { { "attention_chunk_size", 12 },
                  { "attention_context_left", 13 },
                  { "attention_context_right", 0 },
                  { "attention_logit_cap", 50 },
                  { "conv_kernel_size", 5 },
                  { "residual_weight", 0.5 },
                  { "rms_norm_eps", 1e-6 } },
      input[] = { { "sampling_rate", 16000 },
                  { "frame_length", 320 },
                  { "hop_length", 160 },
                  { "fft_length", 512 },
                  { "mel_floor", 0.001 } };

    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        convert_hf_fix_number(h, &h->config, fixed[i].name, fixed[i].value);
    for (size_t i = 0; i < sizeof(input) / sizeof(input[0]); i++)
        convert_hf_fix_number(h, &h->input, input[i].name, input[i].value);
    convert_hf_set_u32(
        h, "num_mel_bins",
        core_json_int(&h->input, "feature_size", 1, MAX_MEL, 128));
}

static const char *const parts[] = { "model.", NULL };

const struct hf_projector convert_hf_projector_gemma4[] = {
    { .type = "gemma4v",
      .config = "vision_config",
      .use = "use_gelu",
      .parts = parts,
      .names = { "Gemma4ForConditionalGeneration", HF_VISION,
                 .layers = TOWER "encoder.layers.", .layer = { norms, maps },
                 .whole = whole, .activations = HF_GELU_TANH, .epsilon = 1e-6,
                 .keys = keys } },
    { .type = "gemma4a",
      .config = "audio_config",
      .parts = parts,
      .names = { "Gemma4ForConditionalGeneration", HF_AUDIO,
                 .layers = EAR "layers.", .layer = { sound_norms, sound_maps },
                 .whole = sound_whole, .epsilon = 1e-6, .keys = keys_sound } },
    { 0 },
};
