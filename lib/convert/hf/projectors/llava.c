/* llava.c - what LLaVA 1.5 sees: CLIP but for its last layer */
#include "convert/hf/projector.h"

#define TOWER "model.vision_tower.vision_model."
#define MAPS  "model.multi_modal_projector."
static const struct hf_name whole[] = {
    { TOWER "embeddings.class_embedding", "v.class_embd", HF_EXACT | HF_F32 },
    { TOWER "embeddings.patch_embedding", "v.patch_embd", HF_FILTERS | HF_F32 },
    { TOWER "embeddings.position_embedding", "v.position_embd", HF_F32 },
    { TOWER "pre_layrnorm", "v.pre_ln", 0 },
    { TOWER "post_layernorm", "v.post_ln", HF_OPTIONAL },
    { MAPS "linear_1", "mm.0", 0 },
    { MAPS "linear_2", "mm.2", 0 },
    { 0 },
};

static void
keys(struct hf *h)
{
    convert_hf_require_text(&h->top, "projector_hidden_act", "gelu");
    convert_hf_require_text(&h->top, "vision_feature_select_strategy",
                            "default");
    convert_hf_require_int(&h->top, "vision_feature_layer", -2);
    convert_hf_require_bool(&h->top, "multimodal_projector_bias", true, true);
}

static const struct hf_projector_numbers others = {
    .n_embd = 768,
    .n_ff = 3072,
    .n_layer = 12,
    .n_head = 12,
    .image_size = 224,
    .patch_size = 32,
};
static const char *const parts[] = { "model.", "vision_model.", NULL };

const struct hf_projector convert_hf_projector_llava[] = {
    { .type = "mlp",
      .config = "vision_config",
      .model_type = "clip_vision_model",
      .parts = parts,
      .width = MAPS "linear_2.weight",
      .others = &others,
      .names = { "LlavaForConditionalGeneration", HF_VISION,
                 .layers = TOWER "encoder.layers.",
                 .layer = { convert_hf_siglip }, .whole = whole,
                 .activations = "quick_gelu", .epsilon = 1e-5, .keys = keys } },
    { 0 },
};
