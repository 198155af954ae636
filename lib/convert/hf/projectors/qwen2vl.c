/* qwen2vl.c - what Qwen2-VL and Qwen2.5-VL see
 *
 * The last of every N layers of 2.5 sees all patches, the others windows of 112
 * pixels.
 */
#include "convert/hf/projector.h"

enum {
    MAX_MERGE = 16,
    SIZE = 560, /* that files say; no image has it */
};

static const struct hf_name attention[] = {
    { "norm1", "ln1", 0 },
    { "norm2", "ln2", 0 },
    { "attn.qkv", "attn_q", HF_THIRD_1 },
    { "attn.qkv", "attn_k", HF_THIRD_2 },
    { "attn.qkv", "attn_v", HF_THIRD_3 },
    { "attn.proj", "attn_out", 0 },
    { 0 },
};
static const struct hf_name plain[] = {
    { "mlp.fc1", "ffn_up", 0 },
    { "mlp.fc2", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name gated[] = {
    { "mlp.gate_proj", "ffn_gate", 0 },
    { "mlp.up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name whole[] = {
    { "model.visual.patch_embed.proj.weight", "v.patch_embd.weight",
      HF_FRAME_1 | HF_EXACT | HF_F32 },
    { "model.visual.patch_embed.proj.weight", "v.patch_embd.weight.1",
      HF_FRAME_2 | HF_EXACT | HF_F32 },
    { "model.visual.merger.ln_q", "v.post_ln", 0 },
    { "model.visual.merger.mlp.0", "mm.0", 0 },
    { "model.visual.merger.mlp.2", "mm.2", 0 },
    { 0 },
};

static void
keys_any(struct hf *h)
{
    convert_hf_must_be_int(h, "temporal_patch_size", 2);
    convert_hf_must_be_int(h, "in_channels|in_chans", 3);
    convert_hf_copy_u32(h, "spatial_merge_size", "spatial_merge_size",
                        MAX_MERGE, 2);
    convert_hf_set_pixel_bounds(h);
    convert_hf_set_u32(h, "image_size", SIZE);
}

/* Here hidden_size is the model's. */
static void
keys_2(struct hf *h)
{
    double ratio = core_json_number(&h->config, "mlp_ratio", 0.1, 1e3, 4);

    h->n_embd =
        (int32_t)core_json_int(&h->config, "embed_dim", 1, 1 << 16, 1280);
    h->n_ff = (int32_t)((double)h->n_embd * ratio);
    keys_any(h);
}

/* Layers that see all patches are the last of every N. */
static void
set_windows(struct hf *h)
{
    const json_t *list =
        core_json_array_of(&h->config, "fullatt_block_indexes");
    size_t n = json_array_size(list);
    int64_t period = json_integer_value(json_array_get(list, 0)) + 1;
    bool regular = n > 0 && period > 0 && period <= h->n_layer &&
                   n == (size_t)(h->n_layer / period);

    for (size_t i = 0; regular && i < n; i++) {
        const json_t *v = json_array_get(list, i);

        regular = json_is_integer(v) &&
                  json_integer_value(v) == (int64_t)(i + 1) * period - 1;
    }
    if (!regular)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "fullatt_block_indexes: are not the last of so many "
                      "layers each");
    convert_hf_set_u32(h, "n_wa_pattern", period);
}

static void
keys_25(struct hf *h)
{
    convert_hf_must_be_int(h, "window_size", 112);
    set_windows(h);
    keys_any(h);
}

static const char *const parts[] = { "model.", NULL };

const struct hf_projector convert_hf_projector_qwen2vl[] = {
    { .type = "qwen2vl_merger",
      .config = "vision_config",
      .parts = parts,
      .names = { "Qwen2VLForConditionalGeneration", HF_VISION,
                 .layers = "model.visual.blocks.",
                 .layer = { attention, plain }, .whole = whole,
                 .activations = "quick_gelu", .epsilon = 1e-6,
                 .keys = keys_2 } },
    { .type = "qwen2.5vl_merger",
      .config = "vision_config",
      .use = "use_silu",
      .parts = parts,
      .names = { "Qwen2_5_VLForConditionalGeneration", HF_VISION,
                 .layers = "model.visual.blocks.",
                 .layer = { attention, gated }, .whole = whole,
                 .activations = "silu", .epsilon = 1e-6, .keys = keys_25 } },
    { 0 },
};
