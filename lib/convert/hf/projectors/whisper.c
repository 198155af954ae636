/* whisper.c - what Ultravox and Voxtral hear: Whisper's encoder
 *
 * Neighbours in time are stacked before the model gets them.
 */
#include "convert/hf/projector.h"

enum {
    MAX_MEL = 1024,
    MAX_STACK = 64,
};

static const struct hf_name layer[] = {
    { "self_attn_layer_norm", "ln1", 0 },
    { "final_layer_norm", "ln2", 0 },
    { "self_attn.q_proj", "attn_q", 0 },
    { "self_attn.k_proj", "attn_k", 0 },
    { "self_attn.v_proj", "attn_v", 0 },
    { "self_attn.out_proj", "attn_out", 0 },
    { "fc1", "ffn_up", 0 },
    { "fc2", "ffn_down", 0 },
    { 0 },
};

#define ENCODER(prefix)                                                        \
    { prefix "conv1.weight", "a.conv1d.1.weight", HF_EXACT | HF_F32 },         \
        { prefix "conv1.bias", "a.conv1d.1.bias", HF_EXACT | HF_SQUEEZE },     \
        { prefix "conv2.weight", "a.conv1d.2.weight", HF_EXACT | HF_F32 },     \
        { prefix "conv2.bias", "a.conv1d.2.bias", HF_EXACT | HF_SQUEEZE },     \
        { prefix "embed_positions", "a.position_embd", HF_F32 },               \
    {                                                                          \
        prefix "layer_norm", "a.post_ln", 0                                    \
    }

static const struct hf_name voxtral_whole[] = {
    ENCODER("model.audio_tower."),
    { "model.multi_modal_projector.linear_1", "mm.a.mlp.1", 0 },
    { "model.multi_modal_projector.linear_2", "mm.a.mlp.2", 0 },
    { 0 },
};
static const struct hf_name ultravox_whole[] = {
    ENCODER("model.audio_tower."),
    { "model.multi_modal_projector.ln_pre", "mm.a.norm_pre", 0 },
    { "model.multi_modal_projector.linear_1", "mm.a.mlp.1", 0 },
    { "model.multi_modal_projector.ln_mid", "mm.a.norm_mid", 0 },
    { "model.multi_modal_projector.linear_2", "mm.a.mlp.2", 0 },
    { 0 },
};

static void
keys(struct hf *h, int64_t stack)
{
    convert_hf_must_be(h, "scale_embedding", false, false);
    convert_hf_must_be_int(h, "max_source_positions", 1500);
    convert_hf_require_int(&h->input, "sampling_rate", 16000);
    convert_hf_require_int(&h->input, "n_fft", 400);
    convert_hf_require_int(&h->input, "hop_length", 160);
    convert_hf_copy_u32(h, "num_mel_bins", "num_mel_bins", MAX_MEL, 80);
    convert_hf_set_u32(h, "projector.stack_factor", stack);
}

/* The projector's input is as long as what layers have inside. */
static void
voxtral_keys(struct hf *h)
{
    convert_hf_require_text(&h->top, "projector_hidden_act", "gelu");
    if (h->n_embd > 0 && h->n_ff % h->n_embd)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "intermediate_size: %d values are no multiple of %d",
                      (int)h->n_ff, (int)h->n_embd);
    keys(h, h->n_embd > 0 ? h->n_ff / h->n_embd : 0);
}

static void
ultravox_keys(struct hf *h)
{
    convert_hf_require_text(&h->top, "projector_act", "swiglu");
    convert_hf_require_bool(&h->top, "projector_ln_mid", true, false);
    keys(h, core_json_int(&h->top, "stack_factor", 1, MAX_STACK, 8));
}

static const char *const parts[] = { "model.", NULL };

const struct hf_projector convert_hf_projector_whisper[] = {
    { .type = "voxtral",
      .config = "audio_config",
      .use = "use_gelu",
      .parts = parts,
      .width = "model.multi_modal_projector.linear_2.weight",
      .names = { "VoxtralForConditionalGeneration", HF_AUDIO,
                 .layers = "model.audio_tower.layers.", .layer = { layer },
                 .whole = voxtral_whole, .activations = "gelu", .epsilon = 1e-5,
                 .keys = voxtral_keys } },
    { .type = "ultravox",
      .config = "audio_config",
      .use = "use_gelu",
      .parts = parts,
      .width = "model.multi_modal_projector.linear_2.weight",
      .names = { "UltravoxModel", HF_AUDIO,
                 .layers = "model.audio_tower.layers.", .layer = { layer },
                 .whole = ultravox_whole, .activations = "gelu",
                 .epsilon = 1e-5, .keys = ultravox_keys } },
    { 0 },
};
