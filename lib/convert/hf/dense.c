/* dense.c - more families without experts: names of their tensors there and
 * here, and their keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/families.h"

enum {
    MAX_CTX = 1 << 28,
    MAX_FF = 1 << 24,
    MAX_LOOPS = 64,
};

/* ---- names --------------------------------------------------------------- */

static const struct hf_name up_down[] = {
    { "mlp.up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name one_norm[] = {
    { "input_layernorm", "attn_norm", 0 },
    { 0 },
};
static const struct hf_name seed_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { 0 },
};
static const struct hf_name stablelm_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "ffn_norm", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name exaone4_norms[] = {
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "post_feedforward_layernorm", "post_ffw_norm", 0 },
    { 0 },
};
static const struct hf_name glm4_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_self_attn_layernorm", "post_attention_norm", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "post_mlp_layernorm", "post_ffw_norm", 0 },
    { "mlp.gate_up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name hunyuan_norms[] = {
    { "self_attn.query_layernorm", "attn_q_norm", 0 },
    { "self_attn.key_layernorm", "attn_k_norm", 0 },
    { 0 },
};
static const struct hf_name maincoder_mlp[] = {
    { "feed_forward.gate_proj", "ffn_gate", 0 },
    { "feed_forward.up_proj", "ffn_up", 0 },
    { "feed_forward.down_proj", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name cohere_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attn.q_norm", "attn_q_norm", HF_F32 | HF_OPTIONAL },
    { "self_attn.k_norm", "attn_k_norm", HF_F32 | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name nemotron_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", HF_PLUS_1 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name nemotron_norms[] = {
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "ffn_norm", HF_PLUS_1 },
    { 0 },
};
static const struct hf_name olmo_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name bloom_whole[] = {
    { "transformer.word_embeddings", "token_embd", 0 },
    { "transformer.word_embeddings_layernorm", "token_embd_norm", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name bloom_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attention.query_key_value", "attn_qkv", HF_QKV },
    { "self_attention.dense", "attn_output", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "mlp.dense_h_to_4h", "ffn_up", 0 },
    { "mlp.dense_4h_to_h", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name starcoder_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.wpe", "position_embd", HF_F32 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name starcoder_layer[] = {
    { "ln_1", "attn_norm", 0 },
    { "attn.c_attn", "attn_qkv", 0 },
    { "attn.c_proj", "attn_output", 0 },
    { "ln_2", "ffn_norm", 0 },
    { "mlp.c_fc", "ffn_up", 0 },
    { "mlp.c_proj", "ffn_down", 0 },
    { 0 },
};

static const struct hf_name codeshell_whole[] = {
    { "transformer.wte", "token_embd", HF_OPTIONAL }, /* or lm_head */
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};

static const struct hf_name sub_norms[] = {
    { "self_attn.attn_sub_norm", "attn_sub_norm", 0 },
    { "mlp.ffn_sub_norm", "ffn_sub_norm", 0 },
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

/* Layers may have no attention, or a matrix in its place, or nothing. */
static const struct hf_name deci_layer[] = {
    { "input_layernorm", "attn_norm", HF_OPTIONAL },
    { "self_attn.q_proj", "attn_q", HF_HEADS_Q | HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_HEADS_K | HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { "self_attn.linear_attn", "attn_output", HF_OPTIONAL },
    { "post_attention_layernorm", "ffn_norm", HF_OPTIONAL },
    { "mlp.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "mlp.up_proj", "ffn_up", HF_OPTIONAL },
    { "mlp.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};

/* ---- keys ---------------------------------------------------------------- */

static void
keys_cohere(struct hf *h)
{
    convert_hf_set_f32(
        h, "logit_scale",
        core_json_number(&h->config, "logit_scale", 0, 1e6, 0.0625));
}

static void
keys_cohere2(struct hf *h)
{
    keys_cohere(h);
    convert_hf_keys_window(h);
}

static void
keys_ministral3(struct hf *h)
{
    struct core_json_keys rope = h->config;

    rope.object = core_json_object_of(&h->config, "rope_parameters");
    convert_hf_set_f32(
        h, "attention.temperature_scale",
        core_json_number(&rope, "llama_4_scaling_beta", 0, 1e3, 0));
    if (rope.status != GG_OK)
        h->config.status = rope.status;
    convert_hf_must_be_int(h, "sliding_window", 0);
}

static void
keys_olmo(struct hf *h)
{
    double clamp = core_json_number(&h->config, "clip_qkv", 0, 1e6, 0);

    if (clamp > 0)
        convert_hf_set_f32(h, "attention.clamp_kqv", clamp);
}

static void
keys_stablelm(struct hf *h)
{
    convert_hf_must_be(h, "qk_layernorm", false, false);
}

/* All heads have keys of their own, and a feed-forward vector four times the
 * hidden one. */
static void
keys_bloom(struct hf *h)
{
    h->n_head_kv = h->n_head;
    h->n_ff = 4 * h->n_embd;
    convert_hf_must_be(h, "apply_residual_connection_post_layernorm", false,
                       false);
}

static void
keys_starcoder(struct hf *h)
{
    convert_hf_must_be(h, "multi_query", true, true);
    h->n_head_kv = 1;
}

static void
keys_nanbeige(struct hf *h)
{
    static const char *const none[] = {
        "qk_layernorm",
        "ngram_insert_all_layers",
        "loop_share_kv",
        "enable_double_loop_split",
        "enable_hyper_connection",
        "enable_mhc",
        "enable_depth_attention",
    };
    struct core_json_keys *c = &h->config;

    convert_hf_set_u32(h, "num_loops",
                       core_json_int(c, "num_loops", 1, MAX_LOOPS, 1));
    convert_hf_set_bool(h, "skip_loop_final_norm",
                        core_json_bool(c, "skip_loop_final_norm", false));
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        convert_hf_must_be(h, none[i], false, false);
    convert_hf_must_be_int(h, "emb_neighbor_num", 0);
}

static void
keys_codeshell(struct hf *h)
{
    h->n_head_kv = (int32_t)core_json_int(&h->config, "num_query_groups", 1,
                                          h->n_head, h->n_head);
    convert_hf_must_be(h, "group_query_attention", true, true);
}

/* What the library takes where nothing is said is not what files have. */
static void
keys_bitnet(struct hf *h)
{
    if (!core_json_find(&h->config, "hidden_act"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "hidden_act: bitnet has silu here, not relu2");
}

static void
keys_maincoder(struct hf *h)
{
    h->n_ff = (int32_t)core_json_int(&h->config, "intermediate_size_mlp", 1,
                                     MAX_FF, h->n_ff);
    convert_hf_must_be(h, "use_qk_norm", true, true);
}

static void
keys_chatglm(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    h->n_ctx = (int32_t)core_json_int(c, "seq_length", 1, MAX_CTX, h->n_ctx);
    h->n_head_kv = (int32_t)core_json_int(c, "multi_query_group_num", 1,
                                          h->n_head, h->n_head);
    convert_hf_must_be(h, "multi_query_attention", true, false);
    convert_hf_must_be(h, "rmsnorm", true, true);
    convert_hf_must_be(h, "post_layer_norm", true, true);
    convert_hf_must_be(h, "apply_residual_connection_post_layernorm", false,
                       false);
    convert_hf_must_be_int(h, "pre_seq_len", 0);
}

/* ---- the table ----------------------------------------------------------- */

const struct hf_family convert_hf_dense[] = {
    { "ArceeForCausalLM",
      "arcee",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, up_down },
      .activations = "relu2" },
    { "BitNetForCausalLM",
      "bitnet",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, sub_norms, convert_hf_mlp },
      .epsilon = 1e-5,
      .activations = "silu",
      .keys = keys_bitnet },
    { "BloomForCausalLM",
      "bloom",
      "transformer.h.",
      bloom_whole,
      { bloom_layer },
      .layer_norm = true,
      .positions = true,
      .tied = true,
      .keys = keys_bloom },
    { "ChatGLMModel",
      "chatglm",
      "transformer.encoder.layers.",
      chatglm_whole,
      { chatglm_layer },
      .epsilon = 1e-5,
      .left_out = chatglm_left,
      .keys = keys_chatglm },
    { "ChatGLMForConditionalGeneration",
      "chatglm",
      "transformer.encoder.layers.",
      chatglm_whole,
      { chatglm_layer },
      .epsilon = 1e-5,
      .left_out = chatglm_left,
      .keys = keys_chatglm },
    { "CodeShellForCausalLM",
      "codeshell",
      "transformer.h.",
      codeshell_whole,
      { starcoder_layer },
      .layer_norm = true,
      .activations = "gelu_pytorch_tanh",
      .keys = keys_codeshell },
    { "CohereForCausalLM",
      "command-r",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, cohere_norms, convert_hf_mlp },
      .layer_norm = true,
      .activations = "silu",
      .tied = true,
      .keys = keys_cohere },
    { "Cohere2ForCausalLM",
      "cohere2",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, one_norm, convert_hf_mlp },
      .layer_norm = true,
      .activations = "silu",
      .tied = true,
      .keys = keys_cohere2,
      .full_every = 4,
      .full_at = 3 },
    { "DeciLMForCausalLM",
      "deci",
      "model.layers.",
      convert_hf_usual,
      { deci_layer },
      .activations = "silu",
      .keys = convert_hf_keys_deci },
    { "Ernie4_5ForCausalLM",
      "ernie4_5",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .activations = "silu",
      .tied = true },
    { "Exaone4ForCausalLM",
      "exaone4",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, exaone4_norms,
        convert_hf_mlp },
      .activations = "silu",
      .keys = convert_hf_keys_window,
      .full_every = 4,
      .full_at = 3 },
    { "GlmForCausalLM",
      "chatglm",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, glm_mlp },
      .activations = "silu" },
    { "Glm4ForCausalLM",
      "glm4",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, glm4_layer },
      .activations = "silu" },
    { "HunYuanDenseV1ForCausalLM",
      "hunyuan-dense",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, hunyuan_norms, convert_hf_norms, convert_hf_mlp },
      .activations = "silu" },
    { "Jais2ForCausalLM",
      "jais2",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, up_down },
      .layer_norm = true,
      .activations = "relu2" },
    { "MaincoderForCausalLM",
      "maincoder",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        maincoder_mlp },
      .epsilon = 1e-5,
      .activations = "silu",
      .tied = true,
      .keys = keys_maincoder },
    { "Ministral3ForCausalLM",
      "mistral3",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .activations = "silu",
      .keys = keys_ministral3 },
    { "NanbeigeForCausalLM",
      "nanbeige",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .activations = "silu",
      .keys = keys_nanbeige },
    { "NemotronForCausalLM",
      "nemotron",
      "model.layers.",
      nemotron_whole,
      { convert_hf_attention, nemotron_norms, up_down },
      .layer_norm = true,
      .activations = "relu2" },
    { "OlmoForCausalLM",
      "olmo",
      "model.layers.",
      olmo_whole,
      { convert_hf_attention_pairs, convert_hf_mlp },
      .layer_norm = true,
      .activations = "silu",
      .keys = keys_olmo },
    { "SeedOssForCausalLM",
      "seed_oss",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, seed_norms, convert_hf_mlp },
      .activations = "silu" },
    { "StableLmForCausalLM",
      "stablelm",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, stablelm_norms, convert_hf_mlp },
      .layer_norm = true,
      .activations = "silu",
      .keys = keys_stablelm },
    { "GPTBigCodeForCausalLM",
      "starcoder",
      "transformer.h.",
      starcoder_whole,
      { starcoder_layer },
      .layer_norm = true,
      .positions = true,
      .activations = "gelu_pytorch_tanh|gelu_new|gelu",
      .tied = true,
      .keys = keys_starcoder },
    { 0 },
};

#endif
