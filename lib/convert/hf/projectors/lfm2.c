/* lfm2.c - what LFM2-VL sees: SigLIP 2 on any shape, or tiles
 *
 * Tiles are those of the makers' processor, which files do not name.
 */
#include "convert/hf/projector.h"

enum {
    MAX_MERGE = 16,
    MAX_PIXELS = 1 << 28,
    MAX_PATCH = 256,
    SIDE = 256, /* that files have by custom; nothing depends on it */
};

static const struct {
    const char *name;
    int value;
} fixed[] = {
    { "min_tiles", 2 },
    { "max_tiles", 10 },
    { "tile_size", 512 },
    { "max_pixels_tolerance", 2 },
};

static const struct hf_name whole[] = {
    { "model.vision_tower.vision_model.embeddings.patch_embedding",
      "v.patch_embd", HF_PIXELS | HF_F32 },
    { "model.vision_tower.vision_model.embeddings.position_embedding",
      "v.position_embd", HF_F32 },
    { "model.vision_tower.vision_model.post_layernorm", "v.post_ln", 0 },
    { "model.multi_modal_projector.layer_norm", "mm.input_norm", HF_OPTIONAL },
    { "model.multi_modal_projector.linear_1", "mm.1", 0 },
    { "model.multi_modal_projector.linear_2", "mm.2", 0 },
    { 0 },
};

/* Rows of an image as pixels, `area` each. */
static void
set_rows(struct hf *h, const char *name, const char *key, int64_t area,
         int64_t other)
{
    int64_t rows = core_json_int(&h->input, name, 1, MAX_PIXELS, other);

    if (rows > MAX_PIXELS / area)
        core_json_bad(&h->input, GG_ERR_FORMAT,
                      "%s: %lld x %lld pixels are more than %d", name,
                      (long long)rows, (long long)area, MAX_PIXELS);
    convert_hf_set_u32(h, key, area * rows);
}

static void
check(struct hf *h)
{
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        convert_hf_require_int(&h->input, fixed[i].name, fixed[i].value);
    convert_hf_require_bool(&h->input, "do_image_splitting", true, true);
    convert_hf_require_bool(&h->input, "use_thumbnail", true, true);
    convert_hf_require_text(&h->top, "projector_hidden_act", "gelu");
    convert_hf_require_bool(&h->top, "projector_bias", true, true);
    convert_hf_require_int(&h->top, "vision_feature_layer", -1);
}

static void
keys(struct hf *h)
{
    int64_t merge =
        core_json_int(&h->top, "downsample_factor", 1, MAX_MERGE, 2);
    int64_t side =
        merge * convert_hf_side(&h->config, "patch_size", MAX_PATCH, 16);

    check(h);
    convert_hf_set_u32(h, "image_size", SIDE);
    convert_hf_set_u32(h, "projector.scale_factor", merge);
    set_rows(h, "min_image_tokens", "image_min_pixels", side * side, 64);
    set_rows(h, "max_image_tokens", "image_max_pixels", side * side, 256);
}

static const struct hf_projector_numbers others = {
    .n_embd = 768,
    .n_ff = 3072,
    .n_layer = 12,
    .n_head = 12,
    .patch_size = 16,
};
static const char *const parts[] = { "model.", "vision_model.", NULL };

const struct hf_projector convert_hf_projector_lfm2[] = {
    { .type = "lfm2",
      .config = "vision_config",
      .use = "use_gelu",
      .parts = parts,
      .width = "model.multi_modal_projector.linear_2.weight",
      .others = &others,
      .names = { "Lfm2VlForConditionalGeneration", HF_VISION,
                 .layers = "model.vision_tower.vision_model.encoder.layers.",
                 .layer = { convert_hf_siglip }, .whole = whole,
                 .activations = HF_GELU_TANH, .epsilon = 1e-6, .keys = keys } },
    { 0 },
};
