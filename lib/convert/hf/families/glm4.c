/* glm4.c - folders of ChatGLM 2 and 3, GLM 4 */
#include "convert/hf/families.h"

static const struct hf_name glm4_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_self_attn_layernorm", "post_attention_norm", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "post_mlp_layernorm", "post_ffw_norm", 0 },
    { "mlp.gate_up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
/* ChatGLM 2 and 3, GLM 4 as it was first published. */
static const struct hf_name chatglm_whole[] = {
    { "transformer.embedding.word_embeddings", "token_embd", 0 },
    { "transformer.encoder.final_layernorm", "output_norm", 0 },
    { "transformer.output_layer", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name chatglm_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attention.query_key_value", "attn_qkv", 0 },
    { "self_attention.dense", "attn_output", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "mlp.dense_h_to_4h", "ffn_up", 0 },
    { "mlp.dense_4h_to_h", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name glm_mlp[] = {
    { "mlp.gate_up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
static const char *const chatglm_left[] = { "rotary_pos_emb.", NULL };

static void
keys_chatglm(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    h->n_ctx = (int32_t)core_json_int(c, "seq_length", 1, HF_MAX_CTX, h->n_ctx);
    h->n_head_kv = (int32_t)core_json_int(c, "multi_query_group_num", 1,
                                          h->n_head, h->n_head);
    convert_hf_must_be(h, "multi_query_attention", true, false);
    convert_hf_must_be(h, "rmsnorm", true, true);
    convert_hf_must_be(h, "post_layer_norm", true, true);
    convert_hf_must_be(h, "apply_residual_connection_post_layernorm", false,
                       false);
    convert_hf_must_be_int(h, "pre_seq_len", 0);
}

const struct hf_family convert_hf_family_glm4[] = {
    { "ChatGLMModel|ChatGLMForConditionalGeneration", "chatglm", .turns = 0.5,
      .layer = { chatglm_layer }, .layers = "transformer.encoder.layers.",
      .whole = chatglm_whole, .epsilon = 1e-5, .left_out = chatglm_left,
      .keys = keys_chatglm },
    { "GlmForCausalLM", "chatglm", .turns = 0.5,
      .layer = { convert_hf_attention, convert_hf_norms, glm_mlp } },
    { "Glm4ForCausalLM", "glm4",
      .layer = { convert_hf_attention, glm4_layer } },
    { 0 },
};
