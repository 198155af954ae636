/* pixtral.c - what Pixtral sees, and Mistral Small 3, Ministral 3 and others
 *
 * The row of [IMG_BREAK] in the model's table of embeddings goes with it.
 */
#include "convert/hf/projector.h"

enum {
    MAX_MERGE = 16,
    MAX_SIDE = 1 << 14,
};

static const struct hf_name layer[] = {
    { "attention_norm", "ln1", 0 },
    { "ffn_norm", "ln2", 0 },
    { "attention.q_proj", "attn_q", HF_HEADS_Q },
    { "attention.k_proj", "attn_k", HF_HEADS_Q },
    { "attention.v_proj", "attn_v", 0 },
    { "attention.o_proj", "attn_out", 0 },
    { "feed_forward.gate_proj", "ffn_gate", 0 },
    { "feed_forward.up_proj", "ffn_up", 0 },
    { "feed_forward.down_proj", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name whole[] = {
    { "model.vision_tower.patch_conv", "v.patch_embd", HF_FILTERS | HF_F32 },
    { "model.vision_tower.ln_pre", "v.pre_ln", 0 },
    { "model.multi_modal_projector.linear_1", "mm.1", 0 },
    { "model.multi_modal_projector.linear_2", "mm.2", 0 },
    { 0 },
};
static const struct hf_name merging_whole[] = {
    { "model.vision_tower.patch_conv", "v.patch_embd", HF_FILTERS | HF_F32 },
    { "model.vision_tower.ln_pre", "v.pre_ln", 0 },
    { "model.multi_modal_projector.norm", "mm.input_norm", 0 },
    { "model.multi_modal_projector.patch_merger.merging_layer",
      "mm.patch_merger", 0 },
    { "model.multi_modal_projector.linear_1", "mm.1", 0 },
    { "model.multi_modal_projector.linear_2", "mm.2", 0 },
    { 0 },
};

/* Old folders have the base of rotation next to all other settings. */
static void
check_turns(struct hf *h)
{
    struct core_json_keys rope = h->config;
    const json_t *inner = core_json_object_of(&h->config, "rope_parameters");

    if (inner)
        rope.object = inner;
    convert_hf_fix_number(h, &rope, "rope_theta", 10000);
    h->config.status = rope.status;
}

static void
keys(struct hf *h)
{
    int64_t side = convert_hf_side(&h->config, "image_size", MAX_SIDE, 1024);

    check_turns(h);
    if (h->n_head > 0)
        convert_hf_must_be_int(h, "head_dim", h->n_embd / h->n_head);
    convert_hf_require_text(&h->top, "projector_hidden_act", "gelu");
    convert_hf_require_int(&h->top, "vision_feature_layer", -1);
    convert_hf_set_u32(h, "image_size",
                       convert_hf_input_edge(h, "size", MAX_SIDE, side));
}

static void
llava_keys(struct hf *h)
{
    keys(h);
    convert_hf_require_text(&h->top, "vision_feature_select_strategy", "full");
}

/* A norm of the projector has the model's epsilon there, and the encoder's
 * here. */
static void
mistral_keys(struct hf *h)
{
    struct core_json_keys text = h->top;

    keys(h);
    text.object = core_json_object_of(&h->top, "text_config");
    convert_hf_fix_number(h, &text, "rms_norm_eps", 1e-5);
    h->top.status = text.status;
    convert_hf_set_u32(
        h, "spatial_merge_size",
        core_json_int(&h->top, "spatial_merge_size", 1, MAX_MERGE, 2));
}

static void
tensors(struct hf *h)
{
    convert_hf_take_token_row(h, "[IMG_BREAK]", "v.token_embd.img_break");
}

static const struct hf_projector_numbers others = {
    .n_embd = 1024,
    .n_ff = 4096,
    .n_layer = 24,
    .n_head = 16,
    .patch_size = 16,
};
static const char *const parts[] = { "model.", NULL };

const struct hf_projector convert_hf_projector_pixtral[] = {
    { .type = "pixtral",
      .config = "vision_config",
      .model_type = "pixtral",
      .use = "use_silu",
      .parts = parts,
      .width = "model.multi_modal_projector.linear_2.weight",
      .others = &others,
      .names = { "LlavaForConditionalGeneration", HF_VISION,
                 .layers = "model.vision_tower.transformer.layers.",
                 .layer = { layer }, .whole = whole, .epsilon = 1e-5,
                 .keys = llava_keys },
      .tensors = tensors },
    { .type = "pixtral",
      .config = "vision_config",
      .model_type = "pixtral",
      .use = "use_silu",
      .parts = parts,
      .width = "model.multi_modal_projector.linear_2.weight",
      .others = &others,
      .names = { "Mistral3ForConditionalGeneration", HF_VISION,
                 .layers = "model.vision_tower.transformer.layers.",
                 .layer = { layer }, .whole = merging_whole, .epsilon = 1e-5,
                 .keys = mistral_keys },
      .tensors = tensors },
    { 0 },
};
