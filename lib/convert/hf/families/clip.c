/* clip.c - folders of CLIP and SigLIP: what reads texts. What sees images is a
 * projector file of its own. */
#include "convert/hf/families.h"

#define KEY(name) "tokenizer.ggml." name
#define TEXT      "text_model."
static const struct hf_name clip_whole[] = {
    { TEXT "embeddings.token_embedding", "token_embd", 0 },
    { TEXT "embeddings.position_embedding", "position_embd", HF_F32 },
    { TEXT "final_layer_norm", "output_norm", 0 },
    { "text_projection", "dense_2", HF_F32 },
    { 0 },
};
static const struct hf_name siglip_whole[] = {
    { TEXT "embeddings.token_embedding", "token_embd", 0 },
    { TEXT "embeddings.position_embedding", "position_embd", HF_F32 },
    { TEXT "final_layer_norm", "output_norm", 0 },
    { TEXT "head", "dense_2", HF_F32 },
    { 0 },
};
static const struct hf_name layer[] = {
    { "layer_norm1", "attn_norm", 0 },
    { "self_attn.q_proj", "attn_q", 0 },
    { "self_attn.k_proj", "attn_k", 0 },
    { "self_attn.v_proj", "attn_v", 0 },
    { "self_attn.out_proj", "attn_output", 0 },
    { "layer_norm2", "ffn_norm", 0 },
    { "mlp.fc1", "ffn_up", 0 },
    { "mlp.fc2", "ffn_down", 0 },
    { 0 },
};
static const char *const images[] = { "vision_model.", "visual_projection.",
                                      "logit_scale",   "logit_bias",
                                      "position_ids",  NULL };

/* Folders say what their class would not set by itself. */
static const char clip_defaults[] =
    "{\"vocab_size\": 49408, \"hidden_size\": 512, \"intermediate_size\": 2048,"
    "\"num_hidden_layers\": 12, \"num_attention_heads\": 8,"
    "\"max_position_embeddings\": 77, \"hidden_act\": \"quick_gelu\"}";
static const char siglip_defaults[] =
    "{\"vocab_size\": 32000, \"hidden_size\": 768, \"intermediate_size\": 3072,"
    "\"num_hidden_layers\": 12, \"num_attention_heads\": 12,"
    "\"max_position_embeddings\": 64, \"hidden_act\": \"gelu_pytorch_tanh\"}";

enum {
    POOL_LAST = 3,
};

static void
keys_text(struct hf *h, bool causal)
{
    convert_hf_set_bool(h, "attention.causal", causal);
    convert_hf_set_str(h, "hidden_activation",
                       core_json_text(&h->config, "hidden_act", ""));
    convert_hf_set_u32(h, "pooling_type", POOL_LAST);
}

static void
keys_clip(struct hf *h)
{
    keys_text(h, true);
}

/* A text is as long as the context. Only Unigram's vocabularies read that
 * punctuation is dropped: SigLIP 2 has Gemma's, and leaves it. */
static void
keys_siglip(struct hf *h)
{
    keys_text(h, false);
    gguf_set_val_u32(h->gguf, KEY("padded_length"), (uint32_t)h->n_ctx);
    gguf_set_val_bool(h->gguf, KEY("normalizer.lowercase"), true);
    gguf_set_val_bool(h->gguf, KEY("normalizer.remove_punctuation"), true);
}

const struct hf_family convert_hf_family_clip[] = {
    { "CLIPModel|CLIPTextModelWithProjection", "clip-text", .layer = { layer },
      .layers = TEXT "encoder.layers.", .whole = clip_whole, .layer_norm = true,
      .activations = "quick_gelu|gelu", .encoder = true, .positions = true,
      .keys = keys_clip, .left_out = images, .defaults = clip_defaults },
    { "SiglipModel|Siglip2Model|SiglipTextModel", "siglip-text",
      .layer = { layer }, .layers = TEXT "encoder.layers.",
      .whole = siglip_whole, .layer_norm = true, .epsilon = 1e-6,
      .activations = "gelu_pytorch_tanh|gelu", .encoder = true,
      .positions = true, .keys = keys_siglip, .left_out = images,
      .defaults = siglip_defaults },
    { 0 },
};
