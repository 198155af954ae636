/* gemma3n.c - folders of Gemma 3n */
#include <math.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_ALTUP = 16,
};

/* Matrices one after the other, as experts are. */
static const struct hf_name gemma3n_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.embed_tokens_per_layer", "per_layer_token_embd", HF_VOCAB },
    { "model.per_layer_model_projection", "per_layer_model_proj", 0 },
    { "model.per_layer_projection_norm", "per_layer_proj_norm", 0 },
    { "model.altup_projections.%d", "altup_proj", 0 },
    { "model.altup_unembed_projections.%d", "altup_unembd_proj", 0 },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name altup[] = {
    { "altup.correct_output_scale", "altup_correct_scale.weight", HF_EXACT },
    { "altup.correction_coefs", "altup_correct_coef", HF_F32 },
    { "altup.prediction_coefs", "altup_predict_coef", HF_F32 },
    { "altup.modality_router", "altup_router", 0 },
    { "altup.router_norm", "altup_router_norm", 0 },
    { "laurel.linear_left", "laurel_l", 0 },
    { "laurel.linear_right", "laurel_r", 0 },
    { "laurel.post_laurel_norm", "laurel_post_norm", 0 },
    { 0 },
};

/* Below how many standard deviations such a part of a normal distribution lies:
 * half an interval after the other. */
static double
quantile(double part)
{
    double low = -40, high = 40, middle;

    if (part <= 0)
        return -INFINITY;
    for (int i = 0; i < 100; i++) {
        middle = (low + high) / 2;
        if (0.5 * erfc(-middle / sqrt(2)) < part)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The part of gates that are 0, of each layer. */
static void
set_sparsity(struct hf *h)
{
    const json_t *list =
        core_json_array_of(&h->config, "activation_sparsity_pattern");
    float *x = mem_array((size_t)h->n_layer, sizeof(*x));

    if (json_array_size(list) != (size_t)h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "activation_sparsity_pattern: not one a layer");
    if (!x)
        h->config.status = error_nomem(h->config.err);
    for (int32_t i = 0; x && i < h->n_layer; i++) {
        double part = json_number_value(json_array_get(list, (size_t)i));

        if (!(part < 1))
            core_json_bad(&h->config, GG_ERR_FORMAT,
                          "activation_sparsity_pattern: %g is not below 1",
                          part);
        x[i] = (float)quantile(part);
    }
    if (x)
        convert_hf_gemma_list(h, "activation_sparsity_scale", GGUF_TYPE_FLOAT32,
                              x);
    mem_free(x);
}

static void
set_ff_list(struct hf *h)
{
    const json_t *list = core_json_find(&h->config, "intermediate_size");
    int32_t *x;

    if (!json_is_array(list))
        return;
    x = mem_array((size_t)h->n_layer, sizeof(*x));
    if (!x)
        h->config.status = error_nomem(h->config.err);
    if (json_array_size(list) != (size_t)h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "intermediate_size: not one a layer");
    for (int32_t i = 0; x && i < h->n_layer; i++) {
        int64_t n = json_integer_value(json_array_get(list, (size_t)i));

        if (n < 1 || n > HF_MAX_FF)
            core_json_bad(&h->config, GG_ERR_FORMAT,
                          "intermediate_size: of layer %d", (int)i);
        x[i] = (int32_t)n;
    }
    if (x)
        convert_hf_gemma_list(h, "feed_forward_length", GGUF_TYPE_INT32, x);
    mem_free(x);
}

static void
keys_gemma3n(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = core_json_int(c, "altup_num_inputs", 2, MAX_ALTUP, 4);

    convert_hf_gemma_keys(h, 15, 5);
    set_sparsity(h);
    set_ff_list(h);
    convert_hf_must_be(h, "altup_correct_scale", true, true);
    convert_hf_set_u32(h, "altup.num_inputs", n);
    convert_hf_set_u32(h, "altup.active_idx",
                       core_json_int(c, "altup_active_idx", 0, n - 1, 0));
    h->n_expert = (int32_t)n - 1; /* matrices in a tensor */
}

const struct hf_family convert_hf_family_gemma3n[] = {
    { "Gemma3nForCausalLM|Gemma3nForConditionalGeneration", "gemma3n",
      .layer = { convert_hf_gemma_attention, convert_hf_gemma4_norms,
                 convert_hf_mlp, altup },
      .whole = gemma3n_whole, .activations = HF_GELU_TANH, .tied = true,
      .keys = keys_gemma3n, .listed = true, .windowed_base = 10000 },
    { 0 },
};
