/* apertus.c - folders of Apertus */
#include <stdio.h>

#include "convert/hf/families.h"
#include "core/mem.h"

static const struct hf_name apertus[] = {
    { "attention_layernorm", "attn_norm", 0 },
    { "feedforward_layernorm", "ffn_norm", 0 },
    { "mlp.up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};

/* The only value of a tensor of the layer. */
static float
value_of(struct hf *h, int32_t layer, const char *name)
{
    const struct safetensors_tensor *t;
    struct hf_rows row = {
        .from = &t,
        .n_from = 1,
        .n_blocks = 1,
        .n_rows = 1,
        .length = 1,
        .row = 1,
        .step = 1,
    };
    char full[128];
    float x = 0;

    snprintf(full, sizeof(full), "model.layers.%d.mlp.act_fn.%s", (int)layer,
             name);
    t = convert_hf_weights_find(&h->weights, full);
    if (!t || t->n != 1 ||
        (t->type != GGML_TYPE_F32 && t->type != GGML_TYPE_F16 &&
         t->type != GGML_TYPE_BF16 && t->type != GGML_TYPE_F64))
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is not one number", full);
    else
        convert_hf_rows_make(&row, 0, 1, GGML_TYPE_F32, &x);
    return x;
}

/* The activation is told by numbers of each layer, which are tensors there. */
static void
keys_apertus(struct hf *h)
{
    static const char *const names[] = { "alpha_n", "alpha_p", "beta", "eps" };
    char key[64];

    convert_hf_must_be(h, "post_norm", false, false);
    convert_hf_must_be(h, "qk_norm", true, true);
    for (int k = 0; k < 4 && h->weighed && convert_hf_good(h); k++) {
        float *x = mem_array((size_t)h->n_layer, sizeof(*x));

        for (int32_t i = 0; x && i < h->n_layer && convert_hf_good(h); i++)
            x[i] = value_of(h, i, names[k]);
        snprintf(key, sizeof(key), "xielu.%s", names[k]);
        convert_hf_set_list(h, key, GGUF_TYPE_FLOAT32, x);
    }
}

const struct hf_family convert_hf_family_apertus[] = {
    { "ApertusForCausalLM", "apertus",
      .layer = { convert_hf_attention, convert_hf_head_norms, apertus },
      .epsilon = 1e-5, .activations = "xielu", .keys = keys_apertus },
    { 0 },
};
