/* towers.c - what CLIP and SigLIP see: a vector of an image, in a space that
 * texts share */
#include <string.h>

#include "convert/hf/projector.h"

static const struct hf_name layer[] = {
    { "layer_norm1", "ln1", 0 },
    { "layer_norm2", "ln2", 0 },
    { "self_attn.q_proj", "attn_q", 0 },
    { "self_attn.k_proj", "attn_k", 0 },
    { "self_attn.v_proj", "attn_v", 0 },
    { "self_attn.out_proj", "attn_out", 0 },
    { "mlp.fc1", "ffn_up", 0 },
    { "mlp.fc2", "ffn_down", 0 },
    { 0 },
};

#define TOWER "vision_model."
#define HEAD  TOWER "head."
#define TABLES                                                                 \
    { TOWER "embeddings.patch_embedding", "v.patch_embd",                      \
      HF_FILTERS | HF_F32 },                                                   \
        { TOWER "embeddings.position_embedding", "v.position_embd", HF_F32 },  \
    {                                                                          \
        TOWER "post_layernorm", "v.post_ln", 0                                 \
    }
static const struct hf_name clip_whole[] = {
    TABLES,
    { TOWER "embeddings.class_embedding", "v.class_embd", HF_EXACT | HF_F32 },
    { TOWER "pre_layrnorm", "v.pre_ln", 0 }, /* as files spell it */
    { "visual_projection", "visual_projection", 0 },
    { 0 },
};
static const struct hf_name siglip_whole[] = {
    TABLES,
    { HEAD "probe", "v.head.probe", HF_EXACT | HF_F32 },
    { HEAD "attention.in_proj_weight", "v.head.attn_q.weight",
      HF_EXACT | HF_THIRD_1 },
    { HEAD "attention.in_proj_weight", "v.head.attn_k.weight",
      HF_EXACT | HF_THIRD_2 },
    { HEAD "attention.in_proj_weight", "v.head.attn_v.weight",
      HF_EXACT | HF_THIRD_3 },
    { HEAD "attention.in_proj_bias", "v.head.attn_q.bias",
      HF_EXACT | HF_THIRD_1 },
    { HEAD "attention.in_proj_bias", "v.head.attn_k.bias",
      HF_EXACT | HF_THIRD_2 },
    { HEAD "attention.in_proj_bias", "v.head.attn_v.bias",
      HF_EXACT | HF_THIRD_3 },
    { HEAD "attention.out_proj", "v.head.attn_out", 0 },
    { HEAD "layernorm", "v.head.ln", 0 },
    { HEAD "mlp.fc1", "v.head.ffn_up", 0 },
    { HEAD "mlp.fc2", "v.head.ffn_down", 0 },
    { 0 },
};

/* Folders say what their class would not set by itself. */
#define DEFAULTS(patch)                                                        \
    "{\"hidden_size\": 768, \"intermediate_size\": 3072,"                      \
    "\"num_hidden_layers\": 12, \"num_attention_heads\": 12,"                  \
    "\"image_size\": 224, \"patch_size\": " patch "}"

/* How Pillow counts its filters. */
enum {
    BILINEAR = 2,
    BICUBIC = 3,
};

static void
set_filter(struct hf *h)
{
    convert_hf_must_be_int(h, "num_channels", 3);
    convert_hf_set_u32(
        h, "image_resample",
        core_json_int(&h->input, "resample", BILINEAR, BICUBIC, BICUBIC));
}

static void
must_be_on(struct hf *h, const char *name)
{
    if (!core_json_bool(&h->input, name, true))
        core_json_bad(&h->input, GG_ERR_UNSUPPORTED, "%s: must be true here",
                      name);
}

static void
clip_keys(struct hf *h)
{
    struct core_json_keys all = h->config;
    const char *act = core_json_text(&h->config, "hidden_act", "quick_gelu");

    set_filter(h);
    must_be_on(h, "do_resize");
    must_be_on(h, "do_center_crop");
    if (!strcmp(act, "gelu"))
        gguf_set_val_bool(h->gguf, "clip.use_gelu", true);
    all.object = h->document;
    convert_hf_set_u32(h, "projection_dim",
                       core_json_int(&all, "projection_dim", 1, 1 << 16, 512));
    h->config.status = all.status;
}

/* The vector is as long as the last layer's. */
static void
siglip_keys(struct hf *h)
{
    set_filter(h);
    must_be_on(h, "do_resize");
    convert_hf_set_u32(h, "projection_dim", h->n_embd);
}

const struct hf_projector convert_hf_projector_towers[] = {
    { .type = "clip",
      .config = "vision_config",
      .names = { "CLIPModel", HF_VISION, .layers = TOWER "encoder.layers.",
                 .layer = { layer }, .whole = clip_whole,
                 .activations = "quick_gelu|gelu", .epsilon = 1e-5,
                 .keys = clip_keys, .defaults = DEFAULTS("32") } },
    { .type = "siglip",
      .config = "vision_config",
      .use = "use_gelu",
      .names = { "SiglipModel", HF_VISION, .layers = TOWER "encoder.layers.",
                 .layer = { layer }, .whole = siglip_whole,
                 .activations = HF_GELU_TANH, .epsilon = 1e-6,
                 .keys = siglip_keys, .defaults = DEFAULTS("16") } },
    { 0 },
};
