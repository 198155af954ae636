/* split.c - the names of split rules */
#include "vocab/split.h"

#include <string.h>

/* The names are those that converters write to tokenizer.ggml.pre (those of
 * llama.cpp's, up to 2026); many stand for a rule that had a name before. */
static const struct vocab_split_name names[] = {
    { .name = "default", .rule = vocab_split_default },

    { .name = "gpt-2", .rule = vocab_split_gpt2 },
    { .name = "phi-2", .rule = vocab_split_gpt2 },
    { .name = "mpt", .rule = vocab_split_gpt2 },
    { .name = "olmo", .rule = vocab_split_gpt2 },
    { .name = "jais", .rule = vocab_split_gpt2 },
    { .name = "trillion", .rule = vocab_split_gpt2 },
    { .name = "granite-docling", .rule = vocab_split_gpt2 },
    { .name = "gigachat", .rule = vocab_split_gpt2 },
    { .name = "exaone4", .rule = vocab_split_gpt2 },
    { .name = "a.x-4.0", .rule = vocab_split_gpt2 },
    { .name = "mellum", .rule = vocab_split_gpt2 },
    { .name = "modern-bert", .rule = vocab_split_gpt2 },
    { .name = "jina-es", .rule = vocab_split_gpt2 },
    { .name = "jina-de", .rule = vocab_split_gpt2 },
    { .name = "jina-v1-en", .rule = vocab_split_gpt2 },
    { .name = "jina-v2-es", .rule = vocab_split_gpt2 },
    { .name = "jina-v2-de", .rule = vocab_split_gpt2 },
    { .name = "jina-v2-code", .rule = vocab_split_gpt2 },
    { .name = "roberta-bpe", .rule = vocab_split_gpt2 },

    { .name = "clip", .rule = vocab_split_clip },

    { .name = "starcoder", .rule = vocab_split_digits },
    { .name = "refact", .rule = vocab_split_digits },
    { .name = "command-r", .rule = vocab_split_digits },
    { .name = "cohere2_moe", .rule = vocab_split_digits },
    { .name = "smollm", .rule = vocab_split_digits },
    { .name = "codeshell", .rule = vocab_split_digits },
    { .name = "exaone", .rule = vocab_split_digits },
    { .name = "minerva-7b", .rule = vocab_split_digits },
    { .name = "mellum2", .rule = vocab_split_digits },

    { .name = "falcon", .rule = vocab_split_falcon },

    { "llama-bpe", vocab_split_llama3, true, true, NULL, NULL },
    { "llama3", vocab_split_llama3, true, true, NULL, NULL },
    { "llama-v3", vocab_split_llama3, true, true, NULL, NULL },
    { "falcon3", vocab_split_llama3, true, true, NULL, NULL },
    { "falcon-h1", vocab_split_llama3, true, true, NULL, NULL },
    { "pixtral", vocab_split_llama3, true, true, NULL, NULL },
    { "midm-2.0", vocab_split_llama3, true, true, NULL, NULL },
    { "lfm2", vocab_split_llama3, true, true, NULL, NULL },
    { "jina-v5-nano", vocab_split_llama3, true, true, NULL, NULL },
    { "glm5", vocab_split_llama3, true, false, NULL, NULL },
    { .name = "dbrx", .rule = vocab_split_llama3 },
    { .name = "smaug-bpe", .rule = vocab_split_llama3 },
    { .name = "chatglm-bpe", .rule = vocab_split_llama3 },
    { .name = "glm4", .rule = vocab_split_llama3 },

    { "minicpm5", vocab_split_minicpm5, true, false, NULL, NULL },
    { .name = "exaone-moe", .rule = vocab_split_exaone_moe, .ends = "\n" },
    { .name = "jais-2",
      .rule = vocab_split_llama3,
      .group = vocab_split_jais2_group },

    { .name = "qwen2", .rule = vocab_split_qwen2 },
    { .name = "deepseek-r1-qwen", .rule = vocab_split_qwen2 },
    { .name = "stablelm2", .rule = vocab_split_qwen2 },
    { .name = "hunyuan", .rule = vocab_split_qwen2 },
    { .name = "megrez", .rule = vocab_split_qwen2 },
    { .name = "bailingmoe", .rule = vocab_split_qwen2 },
    { .name = "bailingmoe2", .rule = vocab_split_qwen2 },
    { .name = "llada-moe", .rule = vocab_split_qwen2 },
    { .name = "solar-open", .rule = vocab_split_qwen2 },
    { .name = "grok-2", .rule = vocab_split_qwen2 },
    { .name = "kormo", .rule = vocab_split_qwen2 },
    { .name = "openpangu", .rule = vocab_split_qwen2 },
    { .name = "f2llmv2", .rule = vocab_split_qwen2 },
    { .name = "ufakzeka", .rule = vocab_split_ufakzeka },
    { .name = "qwen35", .rule = vocab_split_qwen35 },
    { .name = "seed-coder", .rule = vocab_split_seed_coder },
    { .name = "laguna", .rule = vocab_split_laguna },

    { .name = "gpt-4o", .rule = vocab_split_gpt4o },
    { .name = "o200k", .rule = vocab_split_gpt4o },
    { .name = "llama4", .rule = vocab_split_gpt4o },
    { .name = "kanana2", .rule = vocab_split_gpt4o },
    { .name = "minimax-m2", .rule = vocab_split_gpt4o },
    { .name = "talkie", .rule = vocab_split_gpt4o },
    { "granite-embed-multi-97m", vocab_split_gpt4o, true, false, NULL, NULL },
    { "tekken", vocab_split_tekken, true, true, NULL, NULL },
    { .name = "kimi-k2", .rule = vocab_split_kimi },
    { "youtu", vocab_split_youtu, true, false, NULL, NULL },
    { .name = "tiny_aya",
      .rule = vocab_split_tiny_aya,
      .group = vocab_split_tiny_aya_group },
    { .name = "cohere2moe",
      .rule = vocab_split_tiny_aya,
      .group = vocab_split_tiny_aya_group },

    { .name = "deepseek-llm", .rule = vocab_split_deepseek_llm },
    { .name = "deepseek-coder", .rule = vocab_split_deepseek_coder },
    { .name = "deepseek-v3", .rule = vocab_split_deepseek_v3 },
    { .name = "hunyuan-dense", .rule = vocab_split_deepseek_v3 },
    { .name = "joyai-llm", .rule = vocab_split_deepseek_v3 },
    { .name = "hy_v4", .rule = vocab_split_deepseek_v3 },
    { .name = "spark2_5", .rule = vocab_split_spark },
    { .name = "afmoe",
      .rule = vocab_split_afmoe,
      .group = vocab_split_afmoe_group },

    { .name = "bloom", .rule = vocab_split_bloom },
    { .name = "poro-chat", .rule = vocab_split_bloom },
    { .name = "gpt3-finnish", .rule = vocab_split_bloom },
    { .name = "viking", .rule = vocab_split_viking },
    { "chameleon", vocab_split_chameleon, false, true, NULL, NULL },
    { .name = "superbpe",
      .rule = vocab_split_superbpe,
      .group = vocab_split_thousands,
      .ends = "0123456789" },
};

const struct vocab_split_name *
vocab_split_name(size_t i)
{
    return i < sizeof(names) / sizeof(names[0]) ? &names[i] : NULL;
}

const struct vocab_split_name *
vocab_split_find(const char *name, size_t len)
{
    const struct vocab_split_name *s;

    for (size_t i = 0; (s = vocab_split_name(i)); i++)
        if (strlen(s->name) == len && memcmp(s->name, name, len) == 0)
            return s;
    return NULL;
}
