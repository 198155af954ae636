/* jais.c - folders of Jais */
#include <string.h>

#include "convert/hf/families.h"

/* Matrices have rows and columns exchanged, as GPT-2's. */
static const struct hf_name jais_layer[] = {
    { "ln_1", "attn_norm", 0 },
    { "attn.c_attn", "attn_qkv", HF_TRANSPOSE },
    { "attn.c_proj", "attn_output", HF_TRANSPOSE },
    { "ln_2", "ffn_norm", 0 },
    { "mlp.c_fc", "ffn_up", HF_TRANSPOSE },
    { "mlp.c_fc2", "ffn_gate", HF_TRANSPOSE },
    { "mlp.c_proj", "ffn_down", HF_TRANSPOSE },
    { 0 },
};
/* Embeddings and logits have scales of their own, which are in the weights. */
static const struct hf_name jais_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head.weight", "output.weight", HF_EXACT | HF_OR_NEXT },
    { "transformer.wte.weight", "output.weight", HF_EXACT },
    { 0 },
};
static const char *const jais_left[] = { "relative_pe.slopes", NULL };

static double
number(struct hf *h, const char *name, double other)
{
    return core_json_number(&h->config, name, 1e-6, 1e6, other);
}

static void
scale_jais(struct hf *h, const char *to, struct hf_rows *r)
{
    double by = 1;

    if (!strcmp(to, "token_embd.weight"))
        by = number(h, "mup_embeddings_scale|embeddings_scale", 1);
    if (!strcmp(to, "output.weight"))
        by = number(h, "mup_output_alpha", 1) *
             number(h, "mup_width_scale|width_scale", 1);
    r->n_bands = 1;
    r->bands[0].end = r->n_rows;
    r->bands[0].by = (float)by;
}

static void
keys_jais(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *positions = core_json_text(c, "position_embedding_type", "");

    if (strcmp(positions, "alibi") != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "position_embedding_type: is alibi here");
    if (core_json_find(c, "alibi_scaling"))
        core_json_bad(c, GG_ERR_UNSUPPORTED, "alibi_scaling: is null here");
    convert_hf_must_be(h, "mup_scale_qk_dot_by_d|scale_qk_dot_by_d", true,
                       false);
    convert_hf_must_be(h, "scale_attn_weights", true, true);
    convert_hf_must_be(h, "scale_attn_by_inverse_layer_idx", false, false);
    convert_hf_set_f32(h, "attention.max_alibi_bias", 8);
}

const struct hf_family convert_hf_family_jais[] = {
    { "JAISLMHeadModel", "jais", .layer = { jais_layer },
      .layers = "transformer.h.", .whole = jais_whole, .layer_norm = true,
      .activations = "swiglu", .positions = true, .tied = true,
      .keys = keys_jais, .scale = scale_jais, .left_out = jais_left },
    { 0 },
};
