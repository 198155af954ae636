/* llamas.c - families that are LLaMA but for a few things: names of their
 * tensors there and here, and their keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>

#include "convert/hf/families.h"

enum {
    MAX_CTX = 1 << 28,
    LAYERS_7B = 32, /* of Baichuan */
    LAYERS_13B = 40,
};

/* ---- names --------------------------------------------------------------- */

#define PACK "self_attn.W_pack"
static const struct hf_name packed[] = {
    { PACK, "attn_q", HF_ONLY_Q },
    { PACK, "attn_k", HF_ONLY_K },
    { PACK, "attn_v", HF_ONLY_V },
    { "self_attn.o_proj", "attn_output", 0 },
    { 0 },
};
static const struct hf_name internlm2_whole[] = {
    { "model.tok_embeddings", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "output", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name internlm2_layer[] = {
    { "attention_norm", "attn_norm", 0 },
    { "attention.wqkv", "attn_q", HF_ONLY_Q | HF_GROUPED },
    { "attention.wqkv", "attn_k", HF_ONLY_K | HF_GROUPED },
    { "attention.wqkv", "attn_v", HF_ONLY_V | HF_GROUPED },
    { "attention.wo", "attn_output", 0 },
    { "ffn_norm", "ffn_norm", 0 },
    { "feed_forward.w1", "ffn_gate", 0 },
    { "feed_forward.w3", "ffn_up", 0 },
    { "feed_forward.w2", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name exaone_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name exaone_layer[] = {
    { "ln_1", "attn_norm", 0 },
    { "attn.attention.q_proj", "attn_q", 0 },
    { "attn.attention.k_proj", "attn_k", 0 },
    { "attn.attention.v_proj", "attn_v", 0 },
    { "attn.attention.out_proj", "attn_output", 0 },
    { "ln_2", "ffn_norm", 0 },
    { "mlp.c_fc_0", "ffn_gate", 0 },
    { "mlp.c_fc_1", "ffn_up", 0 },
    { "mlp.c_proj", "ffn_down", 0 },
    { 0 },
};

/* ---- keys ---------------------------------------------------------------- */

/* A scale that the configuration does not say, the file does not. */
static void
keys_minicpm(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    double base = core_json_number(c, "dim_model_base", 1, 1e6, 1);
    double depth = core_json_number(c, "scale_depth", 0, 1e6, 1);

    if (core_json_find(c, "scale_emb"))
        convert_hf_set_f32(h, "embedding_scale",
                           core_json_number(c, "scale_emb", 0, 1e6, 1));
    if (core_json_find(c, "scale_depth"))
        convert_hf_set_f32(h, "residual_scale", depth / sqrt(h->n_layer));
    if (core_json_find(c, "dim_model_base"))
        convert_hf_set_f32(h, "logit_scale", h->n_embd / base);
}

/* How positions are told follows from the number of layers. The output of the
 * second ones, which say z_loss_weight, is another. */
static void
keys_baichuan(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    if (h->n_layer != LAYERS_7B && h->n_layer != LAYERS_13B)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "num_hidden_layers: baichuan has 32 or 40 here");
    if (core_json_find(c, "z_loss_weight"))
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "z_loss_weight: Baichuan 2 norms the rows of its output, "
                      "baichuan does not here");
    h->n_ctx = (int32_t)core_json_int(
        c, "max_position_embeddings|model_max_length", 1, MAX_CTX, 4096);
}

static void
keys_orion(struct hf *h)
{
    h->n_ctx = (int32_t)core_json_int(
        &h->config,
        "max_sequence_length|max_position_embeddings|model_max_length", 1,
        MAX_CTX, h->n_ctx);
}

/* ---- the table ----------------------------------------------------------- */

#define BAICHUAN                                                               \
    "baichuan", "model.layers.", convert_hf_usual,                             \
        { packed, convert_hf_norms, convert_hf_mlp }, .activations = "silu",   \
                                                      .keys = keys_baichuan

const struct hf_family convert_hf_llamas[] = {
    { "BaichuanForCausalLM", BAICHUAN },
    { "BaiChuanForCausalLM", BAICHUAN },
    { "ExaoneForCausalLM",
      "exaone",
      "transformer.h.",
      exaone_whole,
      { exaone_layer },
      .epsilon = 1e-5,
      .activations = "silu" },
    { "InternLM2ForCausalLM",
      "internlm2",
      "model.layers.",
      internlm2_whole,
      { internlm2_layer },
      .activations = "silu" },
    { "MiniCPMForCausalLM",
      "minicpm",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .activations = "silu",
      .tied = true,
      .keys = keys_minicpm },
    { "OrionForCausalLM",
      "orion",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .layer_norm = true,
      .activations = "silu",
      .keys = keys_orion },
    { "XverseForCausalLM",
      "xverse",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .activations = "silu" },
    { 0 },
};

#endif
