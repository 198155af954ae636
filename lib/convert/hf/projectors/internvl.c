/* internvl.c - what InternVL 2.5, 3 and 3.5 see: InternViT of 300M
 *
 * As transformers saves it, and as the makers' own code does.
 */
#include "convert/hf/projector.h"

#include <math.h>

enum {
    MAX_MERGE = 16,
    MAX_SIDE = 1 << 14,
    MAX_TILES = 64,
};

static const struct hf_name layer[] = {
    { "layernorm_before", "ln1", 0 },
    { "layernorm_after", "ln2", 0 },
    { "attention.q_proj", "attn_q", 0 },
    { "attention.k_proj", "attn_k", 0 },
    { "attention.v_proj", "attn_v", 0 },
    { "attention.projection_layer", "attn_out", 0 },
    { "mlp.fc1", "ffn_up", 0 },
    { "mlp.fc2", "ffn_down", 0 },
    { "lambda_1", "ls1.weight", HF_EXACT | HF_F32 },
    { "lambda_2", "ls2.weight", HF_EXACT | HF_F32 },
    { 0 },
};
static const struct hf_name whole[] = {
    { "model.vision_tower.embeddings.patch_embeddings.projection",
      "v.patch_embd", HF_FILTERS | HF_F32 },
    { "model.vision_tower.embeddings.cls_token", "v.class_embd",
      HF_EXACT | HF_F32 },
    { "model.vision_tower.embeddings.position_embeddings",
      "v.position_embd.weight", HF_EXACT | HF_F32 },
    { "model.multi_modal_projector.layer_norm", "mm.model.mlp.0", 0 },
    { "model.multi_modal_projector.linear_1", "mm.model.mlp.1", 0 },
    { "model.multi_modal_projector.linear_2", "mm.model.mlp.3", 0 },
    { 0 },
};

static const struct hf_name chat_layer[] = {
    { "norm1", "ln1", 0 },
    { "norm2", "ln2", 0 },
    { "attn.qkv", "attn_q", HF_THIRD_1 },
    { "attn.qkv", "attn_k", HF_THIRD_2 },
    { "attn.qkv", "attn_v", HF_THIRD_3 },
    { "attn.proj", "attn_out", 0 },
    { "mlp.fc1", "ffn_up", 0 },
    { "mlp.fc2", "ffn_down", 0 },
    { "ls1", "ls1.weight", HF_EXACT | HF_F32 },
    { "ls2", "ls2.weight", HF_EXACT | HF_F32 },
    { 0 },
};
static const struct hf_name chat_whole[] = {
    { "vision_model.embeddings.patch_embedding", "v.patch_embd",
      HF_FILTERS | HF_F32 },
    { "vision_model.embeddings.class_embedding", "v.class_embd",
      HF_EXACT | HF_F32 },
    { "vision_model.embeddings.position_embedding", "v.position_embd.weight",
      HF_EXACT | HF_F32 },
    { "mlp1.0", "mm.model.mlp.0", 0 },
    { "mlp1.1", "mm.model.mlp.1", 0 },
    { "mlp1.3", "mm.model.mlp.3", 0 },
    { 0 },
};

/* Patches of a side that become one row: one by the part that is kept. */
static void
set_merge(struct hf *h)
{
    double kept =
        core_json_number(&h->top, "downsample_ratio", 1.0 / MAX_MERGE, 1, 0.5);
    double merge = round(1 / kept);

    if (convert_hf_good(h) && fabs(merge * kept - 1) > 1e-6)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "downsample_ratio: %g is not 1 by an integer", kept);
    convert_hf_set_u32(h, "projector.scale_factor", (int64_t)merge);
}

static void
set_tiles(struct hf *h, int64_t min, int64_t max)
{
    convert_hf_set_u32(h, "preproc_min_tiles", min);
    convert_hf_set_u32(h, "preproc_max_tiles", max);
}

static void
check(struct hf *h)
{
    convert_hf_require_text(&h->config, "norm_type", "layer_norm");
    set_merge(h);
}

static void
keys(struct hf *h)
{
    check(h);
    convert_hf_must_be(h, "use_qk_norm", false, false);
    convert_hf_must_be(h, "use_absolute_position_embeddings", true, true);
    convert_hf_must_be(h, "use_mean_pooling", true, true); /* else a norm */
    convert_hf_require_text(&h->top, "projector_hidden_act", "gelu");
    convert_hf_require_text(&h->top, "vision_feature_select_strategy",
                            "default");
    convert_hf_require_int(&h->top, "vision_feature_layer", -1);
    set_tiles(h, core_json_int(&h->input, "min_patches", 1, MAX_TILES, 1),
              core_json_int(&h->input, "max_patches", 1, MAX_TILES, 12));
}

static void
chat_keys(struct hf *h)
{
    check(h);
    convert_hf_must_be(h, "qk_normalization", false, false);
    convert_hf_require_text(&h->top, "ps_version", "v2");
    convert_hf_require_int(&h->top, "select_layer", -1);
    set_tiles(h, core_json_int(&h->top, "min_dynamic_patch", 1, MAX_TILES, 1),
              core_json_int(&h->top, "max_dynamic_patch", 1, MAX_TILES, 6));
}

static const struct hf_projector_numbers others = {
    .n_embd = 1024,
    .n_ff = 4096,
    .n_layer = 24,
    .n_head = 16,
    .image_size = 448,
    .patch_size = 14,
};
static const char *const parts[] = { "model.", NULL };

const struct hf_projector convert_hf_projector_internvl[] = {
    { .type = "internvl",
      .config = "vision_config",
      .use = "use_gelu",
      .parts = parts,
      .width = "model.multi_modal_projector.linear_2.weight",
      .others = &others,
      .names = { "InternVLForConditionalGeneration", HF_VISION,
                 .layers = "model.vision_tower.encoder.layer.",
                 .layer = { layer }, .whole = whole, .activations = "gelu",
                 .epsilon = 1e-6, .keys = keys } },
    { .type = "internvl",
      .config = "vision_config",
      .use = "use_gelu",
      .width = "mlp1.3.weight",
      .names = { "InternVLChatModel", HF_VISION,
                 .layers = "vision_model.encoder.layers.",
                 .layer = { chat_layer }, .whole = chat_whole,
                 .activations = "gelu", .epsilon = 1e-6, .keys = chat_keys } },
    { 0 },
};
