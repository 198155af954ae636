/* pictures.c - families that read pictures, too: the part that reads text
 *
 * An id's position is one in time, in height and in width there (M-RoPE), the
 * same number thrice where there is no picture. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>

#include "convert/hf/families.h"

enum {
    SECTIONS = 4, /* the last one is unused */
    MAX_PAIRS = 1 << 15,
};

/* ---- names --------------------------------------------------------------- */

/* All experts in one; files of 2025 have inputs as rows, later ones as columns.
 */
static const struct hf_name experts[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "mlp.experts.gate_up_proj", "ffn_gate_exps.weight",
      HF_EXACT | HF_GATES | HF_EITHER },
    { "mlp.experts.gate_up_proj", "ffn_up_exps.weight",
      HF_EXACT | HF_UPS | HF_EITHER },
    { "mlp.experts.down_proj", "ffn_down_exps.weight", HF_EXACT | HF_EITHER },
    { 0 },
};

/* ---- keys ---------------------------------------------------------------- */

/* How many pairs of a head turn by each of the three positions. */
void
convert_hf_set_sections(struct hf *h)
{
    struct core_json_keys rope = h->config;
    const json_t *list;
    int32_t x[SECTIONS] = { 0 };
    char key[96];

    rope.object = core_json_object_of(&h->config, "rope_parameters");
    if (!rope.object)
        rope.object = core_json_object_of(&h->config, "rope_scaling");
    list = core_json_array_of(&rope, "mrope_section");
    if (json_array_size(list) != SECTIONS - 1)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "mrope_section: is no list of three numbers");
    for (size_t i = 0; i < SECTIONS - 1; i++) {
        json_int_t n = json_integer_value(json_array_get(list, i));

        if (n < 0 || n > MAX_PAIRS)
            core_json_bad(&h->config, GG_ERR_FORMAT, "mrope_section: %lld",
                          (long long)n);
        else
            x[i] = (int32_t)n;
    }
    snprintf(key, sizeof(key), "%s.rope.dimension_sections", h->family->arch);
    gguf_set_arr_data(h->gguf, key, GGUF_TYPE_INT32, x, SECTIONS);
}

static void
keys_qwen2(struct hf *h)
{
    convert_hf_keys_qwen(h);
    convert_hf_set_sections(h);
}

/* Into how many layers pictures are added, which is nothing to text. */
static void
keys_qwen3(struct hf *h)
{
    const json_t *vision = json_object_get(h->document, "vision_config");
    const json_t *list = json_object_get(vision, "deepstack_visual_indexes");

    convert_hf_set_u32(h, "n_deepstack_layers", (int64_t)json_array_size(list));
    convert_hf_set_sections(h);
}

static void
keys_qwen3moe(struct hf *h)
{
    convert_hf_keys_qwen_moe(h, 8);
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    keys_qwen3(h);
}

static void
keys_paddleocr(struct hf *h)
{
    convert_hf_must_be(h, "use_bias", false, false);
    convert_hf_set_sections(h);
}

/* ---- the table ----------------------------------------------------------- */

#define QWEN2                                                                  \
    "qwen2vl", "model.layers.", convert_hf_usual,                              \
        { convert_hf_attention, convert_hf_norms, convert_hf_mlp },            \
        .activations = "silu", .keys = keys_qwen2

const struct hf_family convert_hf_pictures[] = {
    { "Qwen2VLForConditionalGeneration", QWEN2 },
    { "Qwen2_5_VLForConditionalGeneration", QWEN2 },
    { "Qwen3VLForConditionalGeneration",
      "qwen3vl",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        convert_hf_mlp },
      .activations = "silu",
      .keys = keys_qwen3 },
    { "Qwen3VLMoeForConditionalGeneration",
      "qwen3vlmoe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        experts },
      .activations = "silu",
      .keys = keys_qwen3moe },
    { "PaddleOCRVLForConditionalGeneration",
      "paddleocr",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .epsilon = 1e-5,
      .activations = "silu",
      .tied = true,
      .keys = keys_paddleocr },
    { 0 },
};

#endif
