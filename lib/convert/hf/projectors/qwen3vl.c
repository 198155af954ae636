/* qwen3vl.c - what Qwen3-VL sees, and Qwen 3.5 and later
 *
 * Layers of deepstack_visual_indexes give rows for deeper layers of the model.
 */
#include "convert/hf/projector.h"

#include <math.h>
#include <stdio.h>

#include "core/mem.h"

enum {
    MAX_MERGE = 16,
    MAX_PLACES = 1 << 18,
};

static const struct hf_name layer[] = {
    { "norm1", "ln1", 0 },
    { "norm2", "ln2", 0 },
    { "attn.qkv", "attn_qkv", 0 },
    { "attn.proj", "attn_out", 0 },
    { "mlp.linear_fc1", "ffn_up", 0 },
    { "mlp.linear_fc2", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name whole[] = {
    { "model.visual.patch_embed.proj.weight", "v.patch_embd.weight",
      HF_FRAME_1 | HF_EXACT | HF_F32 },
    { "model.visual.patch_embed.proj.weight", "v.patch_embd.weight.1",
      HF_FRAME_2 | HF_EXACT | HF_F32 },
    { "model.visual.patch_embed.proj.bias", "v.patch_embd.bias", HF_EXACT },
    { "model.visual.pos_embed", "v.position_embd", HF_F32 },
    { "model.visual.merger.norm", "v.post_ln", 0 },
    { "model.visual.merger.linear_fc1", "mm.0", 0 },
    { "model.visual.merger.linear_fc2", "mm.2", 0 },
    { 0 },
};
static const struct hf_name merger[] = {
    { "norm", "norm", 0 },
    { "linear_fc1", "fc1", 0 },
    { "linear_fc2", "fc2", 0 },
    { 0 },
};

/* The layer that gives rows of number i; -1: there is none. */
static int64_t
deep_layer(struct hf *h, size_t i)
{
    const json_t *list =
        core_json_array_of(&h->config, "deepstack_visual_indexes");
    const json_t *v = json_array_get(list, i);
    int64_t n = json_integer_value(v);

    if (!v)
        return -1;
    if (json_is_integer(v) && n >= 0 && n < h->n_layer)
        return n;
    core_json_bad(&h->config, GG_ERR_FORMAT,
                  "deepstack_visual_indexes: is no list of layers");
    return -1;
}

static void
set_deep_layers(struct hf *h)
{
    bool *deepens = mem_array((size_t)h->n_layer, sizeof(*deepens));
    int64_t n;

    for (size_t i = 0; deepens && (n = deep_layer(h, i)) >= 0; i++)
        deepens[n] = true;
    convert_hf_set_list(h, HF_VISION ".is_deepstack_layers", GGUF_TYPE_BOOL,
                        deepens);
}

/* The side of the square of positions, in pixels. */
static void
set_size(struct hf *h)
{
    int64_t n = core_json_int(&h->config, "num_position_embeddings", 1,
                              MAX_PLACES, 2304);
    int64_t patch = core_json_int(&h->config, "patch_size", 1, 256, 16);

    convert_hf_set_u32(h, "image_size", lrint(sqrt((double)n)) * patch);
}

static void
keys(struct hf *h)
{
    convert_hf_must_be_int(h, "temporal_patch_size", 2);
    convert_hf_must_be_int(h, "in_channels", 3);
    convert_hf_copy_u32(h, "spatial_merge_size", "spatial_merge_size",
                        MAX_MERGE, 2);
    convert_hf_set_pixel_bounds(h);
    set_size(h);
    set_deep_layers(h);
}

static void
tensors(struct hf *h)
{
    char from[96], to[64];
    int64_t n;

    for (size_t i = 0; (n = deep_layer(h, i)) >= 0; i++) {
        snprintf(from, sizeof(from), "model.visual.deepstack_merger_list.%zu.",
                 i);
        snprintf(to, sizeof(to), "v.deepstack.%lld.", (long long)n);
        convert_hf_take_list(h, from, to, merger);
    }
}

static const char *const parts[] = { "model.", NULL };

const struct hf_projector convert_hf_projector_qwen3vl[] = {
    { .type = "qwen3vl_merger",
      .config = "vision_config",
      .use = "use_gelu",
      .parts = parts,
      .names = { "Qwen3VLForConditionalGeneration|"
                 "Qwen3VLMoeForConditionalGeneration|"
                 "Qwen3_5ForConditionalGeneration|"
                 "Qwen3_5MoeForConditionalGeneration",
                 HF_VISION, .layers = "model.visual.blocks.",
                 .layer = { layer }, .whole = whole,
                 .activations = HF_GELU_TANH, .epsilon = 1e-6, .keys = keys },
      .tensors = tensors },
    { 0 },
};
