/* gemma3.c - what Gemma 3 sees: SigLIP, and rows by the mean of squares */
#include "convert/hf/projector.h"

#include <math.h>

enum {
    MAX_ROWS = 1 << 18,
};

#define TOWER "model.vision_tower.vision_model."
#define MAPS  "model.multi_modal_projector."
static const struct hf_name whole[] = {
    { TOWER "embeddings.patch_embedding", "v.patch_embd", HF_FILTERS | HF_F32 },
    { TOWER "embeddings.position_embedding", "v.position_embd", HF_F32 },
    { TOWER "post_layernorm", "v.post_ln", 0 },
    { MAPS "mm_input_projection_weight", "mm.input_projection.weight",
      HF_EXACT | HF_F32 },
    { MAPS "mm_soft_emb_norm.weight", "mm.soft_emb_norm.weight",
      HF_EXACT | HF_PLUS_1 },
    { 0 },
};

/* Rows of the image, a square, are the means of squares of patches. */
static void
set_squares(struct hf *h)
{
    struct core_json_keys all = h->config;
    int64_t rows, side, patches;

    patches = core_json_int(&h->config, "image_size", 1, 1 << 14, 0);
    patches /= core_json_int(&h->config, "patch_size", 1, 1 << 14, 0);
    all.object = h->document;
    all.status = h->config.status;
    rows = core_json_int(&all, "mm_tokens_per_image", 1, MAX_ROWS, 256);
    side = lrint(sqrt((double)rows));
    if (side * side != rows || patches < side || patches % side)
        core_json_bad(&all, GG_ERR_UNSUPPORTED,
                      "mm_tokens_per_image: %lld rows are no square, or do not "
                      "divide the image's patches",
                      (long long)rows);
    h->config.status = all.status;
    if (convert_hf_good(h))
        convert_hf_set_u32(h, "projector.scale_factor", patches / side);
}

static void
keys(struct hf *h)
{
    convert_hf_must_be_int(h, "num_channels", 3);
    if (core_json_bool(&h->input, "do_pan_and_scan", false))
        core_json_bad(&h->input, GG_ERR_UNSUPPORTED,
                      "do_pan_and_scan: images are not cut into crops here");
    set_squares(h);
}

static const char *const parts[] = { "model.", "vision_model.", NULL };

const struct hf_projector convert_hf_projector_gemma3[] = {
    { .type = "gemma3",
      .config = "vision_config",
      .use = "use_gelu",
      .parts = parts,
      .names = { "Gemma3ForConditionalGeneration", HF_VISION,
                 .layers = TOWER "encoder.layers.",
                 .layer = { convert_hf_siglip }, .whole = whole,
                 .activations = HF_GELU_TANH, .epsilon = 1e-6, .keys = keys } },
    { 0 },
};
