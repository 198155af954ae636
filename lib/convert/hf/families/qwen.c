/* qwen.c - folders of Qwen 1 */
#include "convert/hf/families.h"

static const struct hf_name qwen_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name qwen_layer[] = {
    { "ln_1", "attn_norm", 0 },          { "attn.c_attn", "attn_qkv", 0 },
    { "attn.c_proj", "attn_output", 0 }, { "ln_2", "ffn_norm", 0 },
    { "mlp.w1", "ffn_up", 0 },           { "mlp.w2", "ffn_gate", 0 },
    { "mlp.c_proj", "ffn_down", 0 },     { 0 },
};

/* The trained length, up to which queries and the base are as they are. */
static void
keys_qwen(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    h->n_ctx = (int32_t)core_json_int(c, "seq_length|max_position_embeddings",
                                      1, HF_MAX_CTX, h->n_ctx);
    convert_hf_must_be(h, "scale_attn_weights", true, true);
    if (h->n_ff % 2)
        core_json_bad(c, GG_ERR_FORMAT, "intermediate_size: is odd");
}

const struct hf_family convert_hf_family_qwen[] = {
    { "QWenLMHeadModel", "qwen", .layer = { qwen_layer },
      .layers = "transformer.h.", .whole = qwen_whole, .n_ctx = 8192,
      .keys = keys_qwen },
    { 0 },
};
