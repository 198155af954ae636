/* idefics3.c - what Idefics 3 and SmolVLM see
 *
 * An image becomes tiles of the encoder's size; the longest side that it may
 * get before that is the processor's, and so in the file.
 */
#include "convert/hf/projector.h"

enum {
    MAX_MERGE = 16,
    MAX_SIDE = 4096, /* that the makers' processor allows */
    TILE = 364,      /* unless the processor says otherwise */
    LONGEST = 4 * 364,
};

static const struct hf_name whole[] = {
    { "model.vision_model.embeddings.patch_embedding", "v.patch_embd",
      HF_FILTERS | HF_F32 },
    { "model.vision_model.embeddings.position_embedding", "v.position_embd",
      HF_F32 },
    { "model.vision_model.post_layernorm", "v.post_ln", 0 },
    { "model.connector.modality_projection.proj", "mm.model.fc", 0 },
    { 0 },
};

static void
keys(struct hf *h)
{
    int64_t side = convert_hf_side(&h->config, "image_size", MAX_SIDE, 224);
    int64_t tile = convert_hf_input_edge(h, "max_image_size", MAX_SIDE, TILE);

    convert_hf_set_u32(h, "projector.scale_factor",
                       core_json_int(&h->top, "scale_factor", 1, MAX_MERGE, 2));
    convert_hf_set_u32(h, "preproc_image_size",
                       convert_hf_input_edge(h, "size", MAX_SIDE, LONGEST));
    convert_hf_require_bool(&h->input, "do_image_splitting", true, true);
    if (convert_hf_good(h) && tile != side)
        core_json_bad(&h->input, GG_ERR_UNSUPPORTED,
                      "max_image_size: tiles of %d pixels are not the "
                      "encoder's, %d",
                      (int)tile, (int)side);
}

/* SmolVLM 2 leaves out what is as the library has it. */
static const struct hf_projector_numbers others = {
    .n_embd = 1152,
    .n_ff = 3072,
    .n_layer = 12,
    .n_head = 16,
    .image_size = 224,
    .patch_size = 32,
};
static const char *const parts[] = { "model.", NULL };

const struct hf_projector convert_hf_projector_idefics3[] = {
    { .type = "idefics3",
      .config = "vision_config",
      .use = "use_gelu",
      .parts = parts,
      .width = "model.connector.modality_projection.proj.weight",
      .others = &others,
      .names = { "Idefics3ForConditionalGeneration|"
                 "SmolVLMForConditionalGeneration",
                 HF_VISION, .layers = "model.vision_model.encoder.layers.",
                 .layer = { convert_hf_siglip }, .whole = whole,
                 .activations = HF_GELU_TANH, .epsilon = 1e-6, .keys = keys } },
    { 0 },
};
