/* folder_config.c - config.json and tokenizer.json of the tests' models */
#include "folder_parts.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    const char *arch, *model;
} models[] = {
    { "gpt2", "GPT2LMHeadModel" },
    { "gptj", "GPTJForCausalLM" },
    { "gptneox", "GPTNeoXForCausalLM" },
    { "falcon", "FalconForCausalLM" },
    { "llama", "LlamaForCausalLM" },
    { "qwen2", "Qwen2ForCausalLM" },
    { "qwen2moe", "Qwen2MoeForCausalLM" },
    { "qwen3", "Qwen3ForCausalLM" },
    { "qwen3moe", "Qwen3MoeForCausalLM" },
    { "gemma", "GemmaForCausalLM" },
    { "gemma2", "Gemma2ForCausalLM" },
    { "gemma3", "Gemma3ForCausalLM" },
    { "phi2", "PhiForCausalLM" },
    { "phi3", "Phi3ForCausalLM" },
    { "smollm3", "SmolLM3ForCausalLM" },
    { "gpt-oss", "GptOssForCausalLM" },
    { "starcoder2", "Starcoder2ForCausalLM" },
    { "olmo2", "Olmo2ForCausalLM" },
    { "granite", "GraniteForCausalLM" },
    { "bert", "BertForMaskedLM" },
    { "nomic-bert", "NomicBertModel" },
};

/* What a family says that follows from no key. */
static const struct {
    const char *family, *text;
} extras[] = {
    { "gpt2", "\"activation_function\":\"gelu_new\"" },
    { "gptj", "\"activation_function\":\"gelu_new\"" },
    { "gptneox", "\"hidden_act\":\"gelu\",\"rotary_pct\":0.25" },
    { "gptneoxserial", "\"hidden_act\":\"gelu\",\"rotary_pct\":0.5" },
    { "falcon", "\"multi_query\":true,\"alibi\":false,\"parallel_attn\":true" },
    { "falcon40",
      "\"new_decoder_architecture\":true,\"num_kv_heads\":2,\"alibi\":false" },
    { "llama3", "\"rope_scaling\":{\"rope_type\":\"llama3\",\"factor\":8.0,"
                "\"low_freq_factor\":1.0,\"high_freq_factor\":4.0,"
                "\"original_max_position_embeddings\":64}" },
    { "qwen2yarn", "\"rope_scaling\":{\"type\":\"yarn\",\"factor\":4.0,"
                   "\"original_max_position_embeddings\":32}" },
    { "gpt-oss",
      "\"rope_scaling\":{\"rope_type\":\"yarn\",\"factor\":32.0,"
      "\"original_max_position_embeddings\":64,\"beta_fast\":32.0,"
      "\"beta_slow\":1.0,\"truncate\":false},\"layer_types\":["
      "\"sliding_attention\",\"full_attention\",\"sliding_attention\","
      "\"full_attention\"]" },
    { "gemma3", "\"rope_scaling\":{\"rope_type\":\"linear\",\"factor\":8.0},"
                "\"rope_local_base_freq\":10000,\"hidden_activation\":"
                "\"gelu_pytorch_tanh\"" },
    { "gemma3deep", "\"query_pre_attn_scalar\":16" },
    { "gemma2deep", "\"query_pre_attn_scalar\":16" },
    { "qwen2moe", "\"norm_topk_prob\":false,\"decoder_sparse_step\":1" },
    { "qwen3moe", "\"norm_topk_prob\":true,\"mlp_only_layers\":[]" },
    { "phi2", "\"hidden_act\":\"gelu_new\"" },
    { "phi3short", "\"original_max_position_embeddings\":512" },
    { "smollm3", "\"no_rope_layer_interval\":4" },
    { "bert", "\"hidden_act\":\"gelu\",\"position_embedding_type\":"
              "\"absolute\",\"type_vocab_size\":2" },
    { "nomic-bert",
      "\"activation_function\":\"swiglu\",\"rotary_emb_fraction\":1.0,"
      "\"rotary_emb_interleaved\":false,\"rotary_emb_scale_base\":null,"
      "\"prenorm\":false,\"causal\":false" },
    { "olmo3", "\"rope_parameters\":{\"sliding_attention\":{\"rope_type\":"
               "\"default\",\"rope_theta\":500000.0},\"full_attention\":{"
               "\"rope_type\":\"yarn\",\"factor\":8.0,"
               "\"rope_theta\":500000.0,"
               "\"original_max_position_embeddings\":32}},\"layer_types\":["
               "\"sliding_attention\",\"sliding_attention\","
               "\"full_attention\",\"sliding_attention\","
               "\"full_attention\"]" },
    { "mistral", "\"hidden_act\":\"silu\",\"x\":null" },
};

/* Keys there and here; those that a model has not are left out. */
static const struct {
    const char *name, *key;
} settings[] = {
    { "max_position_embeddings", "context_length" },
    { "hidden_size", "embedding_length" },
    { "num_hidden_layers", "block_count" },
    { "intermediate_size", "feed_forward_length" },
    { "num_attention_heads", "attention.head_count" },
    { "num_key_value_heads", "attention.head_count_kv" },
    { "head_dim", "attention.key_length" },
    { "rms_norm_eps", "attention.layer_norm_rms_epsilon" },
    { "layer_norm_eps", "attention.layer_norm_epsilon" },
    { "rope_theta", "rope.freq_base" },
    { "sliding_window", "attention.sliding_window" },
    { "num_experts", "expert_count" },
    { "num_experts_per_tok", "expert_used_count" },
    { "moe_intermediate_size", "expert_feed_forward_length" },
    { "shared_expert_intermediate_size", "expert_shared_feed_forward_length" },
    { "attn_logit_softcapping", "attn_logit_softcapping" },
    { "final_logit_softcapping", "final_logit_softcapping" },
    { "attention_multiplier", "attention.scale" },
    { "embedding_multiplier", "embedding_scale" },
    { "residual_multiplier", "residual_scale" },
    { "logits_scaling", "logit_scale" },
};

static void
put_list(FILE *out, const struct folder *f, const char *name,
         const char *tensor)
{
    const struct gguf_tensor *t = gguf_tensor_named(f->gguf, tensor);
    float x;

    fprintf(out, ",\"%s\":[", name);
    for (int64_t i = 0; i < t->ne[0]; i++) {
        memcpy(&x, (const char *)t->data + 4 * i, sizeof(x));
        fprintf(out, "%s%.17g", i ? "," : "", (double)x);
    }
    fputs("]", out);
}

static void
put_rotary(FILE *out, const struct folder *f)
{
    double head = folder_key(f, "attention.key_length",
                             folder_key(f, "embedding_length", 1) / f->n_head);
    double n = folder_key(f, "rope.dimension_count", head);
    double old = folder_key(f, "rope.scaling.original_context_length", 0);

    if (!strcmp(f->arch, "gptj"))
        fprintf(out, ",\"rotary_dim\":%g", n);
    else if (n != head)
        fprintf(out, ",\"partial_rotary_factor\":%.17g", n / head);
    if (!gguf_tensor_named(f->gguf, "rope_factors_long.weight"))
        return;
    fprintf(out, ",\"original_max_position_embeddings\":%g", old);
    fputs(",\"rope_scaling\":{\"type\":\"longrope\"", out);
    put_list(out, f, "long_factor", "rope_factors_long.weight");
    put_list(out, f, "short_factor", "rope_factors_short.weight");
    fputs("}", out);
}

static const char *
model_name(const struct folder *f)
{
    if (!strcmp(f->family, "mistral"))
        return "MistralForCausalLM";
    if (!strcmp(f->family, "mixtral"))
        return "MixtralForCausalLM";
    if (!strcmp(f->family, "olmo3"))
        return "Olmo3ForCausalLM";
    for (size_t i = 0; i < COUNT(models); i++)
        if (!strcmp(models[i].arch, f->arch))
            return models[i].model;
    folder_die(f->arch);
    return NULL;
}

void
folder_config(const struct folder *f)
{
    FILE *out = folder_open(f, "config.json");
    bool tied = !gguf_tensor_named(f->gguf, "output.weight");
    struct gguf_array tokens;

    if (gguf_get_array(f->gguf, "tokenizer.ggml.tokens", GGUF_TYPE_STRING,
                       &tokens, NULL) != GG_OK)
        folder_die("no tokens");
    fprintf(out, "{\"architectures\":[\"%s\"],\"vocab_size\":%zu",
            model_name(f), tokens.n);
    fprintf(out, ",\"tie_word_embeddings\":%s", tied ? "true" : "false");
    for (size_t i = 0; i < COUNT(settings); i++) {
        double v = folder_key(f, settings[i].key, -1);

        if (v >= 0)
            fprintf(out, ",\"%s\":%.17g", settings[i].name, v);
    }
    put_rotary(out, f);
    if (f->kind && !strcmp(f->kind, "fp8"))
        fputs(",\"quantization_config\":{\"quant_method\":\"fp8\",\"fmt\":"
              "\"e4m3\",\"weight_block_size\":[16,24]}",
              out);
    if (f->kind && !strcmp(f->kind, "mxfp4"))
        fputs(",\"quantization_config\":{\"quant_method\":\"mxfp4\"}", out);
    if (!strcmp(f->arch, "gptneox"))
        fprintf(out, ",\"use_parallel_residual\":%s",
                folder_key(f, "use_parallel_residual", 1) != 0 ? "true"
                                                               : "false");
    for (size_t i = 0; i < COUNT(extras); i++)
        if (!strcmp(extras[i].family, f->family))
            fprintf(out, ",%s", extras[i].text);
    fputs("}\n", out);
    if (fclose(out))
        folder_die("cannot write");
}

/* ---- tokens -------------------------------------------------------------- */

static void
put_text(FILE *out, const struct gguf_str *s, const char *more)
{
    fputc('"', out);
    for (size_t i = 0; i < s->n; i++) {
        if (s->s[i] == '"' || s->s[i] == '\\')
            fputc('\\', out);
        fputc(s->s[i], out);
    }
    fprintf(out, "\"%s", more);
}

void
folder_tokenizer(const struct folder *f)
{
    FILE *out = folder_open(f, "tokenizer.json");
    struct gguf_array tokens, types, merges;
    const char *comma = "";

    if (gguf_get_array(f->gguf, "tokenizer.ggml.tokens", GGUF_TYPE_STRING,
                       &tokens, NULL) != GG_OK ||
        gguf_get_array(f->gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32,
                       &types, NULL) != GG_OK ||
        gguf_get_array(f->gguf, "tokenizer.ggml.merges", GGUF_TYPE_STRING,
                       &merges, NULL) != GG_OK)
        folder_die("no tokens");
    fputs("{\"added_tokens\":[", out);
    for (size_t i = 0; i < tokens.n; i++)
        if (gguf_array_i32(&types, i) == GG_TOKEN_CONTROL) {
            fprintf(out, "%s{\"id\":%zu,\"content\":", comma, i);
            put_text(out, &tokens.strings[i], ",\"special\":true}");
            comma = ",";
        }
    fputs("],\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":"
          "false,\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"vocab\":{",
          out);
    comma = "";
    for (size_t i = 0; i < tokens.n; i++)
        if (gguf_array_i32(&types, i) == GG_TOKEN_NORMAL) {
            fputs(comma, out);
            put_text(out, &tokens.strings[i], "");
            fprintf(out, ":%zu", i);
            comma = ",";
        }
    fputs("},\"merges\":[", out);
    for (size_t i = 0; i < merges.n; i++) {
        fputs(i ? "," : "", out);
        put_text(out, &merges.strings[i], "");
    }
    fputs("]}}\n", out);
    if (fclose(out))
        folder_die("cannot write");
    out = folder_open(f, "tokenizer_config.json");
    fputs("{\"add_bos_token\":false}\n", out);
    if (fclose(out))
        folder_die("cannot write");
}
