/* split.c - the names of split rules */
#include "vocab/split.h"

#include <string.h>

/* The names are those that converters write to tokenizer.ggml.pre (those of
 * llama.cpp's, up to 2026); many stand for a rule that had a name before. */
static const struct split_name names[] = {
    { .name = "default", .rule = split_default },

    { .name = "gpt-2", .rule = split_gpt2 },
    { .name = "phi-2", .rule = split_gpt2 },
    { .name = "mpt", .rule = split_gpt2 },
    { .name = "olmo", .rule = split_gpt2 },
    { .name = "jais", .rule = split_gpt2 },
    { .name = "trillion", .rule = split_gpt2 },
    { .name = "granite-docling", .rule = split_gpt2 },
    { .name = "gigachat", .rule = split_gpt2 },
    { .name = "exaone4", .rule = split_gpt2 },
    { .name = "a.x-4.0", .rule = split_gpt2 },
    { .name = "mellum", .rule = split_gpt2 },
    { .name = "modern-bert", .rule = split_gpt2 },
    { .name = "jina-es", .rule = split_gpt2 },
    { .name = "jina-de", .rule = split_gpt2 },
    { .name = "jina-v1-en", .rule = split_gpt2 },
    { .name = "jina-v2-es", .rule = split_gpt2 },
    { .name = "jina-v2-de", .rule = split_gpt2 },
    { .name = "jina-v2-code", .rule = split_gpt2 },
    { .name = "roberta-bpe", .rule = split_gpt2 },

    { .name = "starcoder", .rule = split_digits },
    { .name = "refact", .rule = split_digits },
    { .name = "command-r", .rule = split_digits },
    { .name = "cohere2_moe", .rule = split_digits },
    { .name = "smollm", .rule = split_digits },
    { .name = "codeshell", .rule = split_digits },
    { .name = "exaone", .rule = split_digits },
    { .name = "minerva-7b", .rule = split_digits },
    { .name = "mellum2", .rule = split_digits },

    { .name = "falcon", .rule = split_falcon },

    { "llama-bpe", split_llama3, true, true, NULL, NULL },
    { "llama3", split_llama3, true, true, NULL, NULL },
    { "llama-v3", split_llama3, true, true, NULL, NULL },
    { "falcon3", split_llama3, true, true, NULL, NULL },
    { "falcon-h1", split_llama3, true, true, NULL, NULL },
    { "pixtral", split_llama3, true, true, NULL, NULL },
    { "midm-2.0", split_llama3, true, true, NULL, NULL },
    { "lfm2", split_llama3, true, true, NULL, NULL },
    { "jina-v5-nano", split_llama3, true, true, NULL, NULL },
    { .name = "dbrx", .rule = split_llama3 },
    { .name = "smaug-bpe", .rule = split_llama3 },
    { .name = "chatglm-bpe", .rule = split_llama3 },
    { .name = "glm4", .rule = split_llama3 },

    { "minicpm5", split_minicpm5, true, false, NULL, NULL },
    { .name = "exaone-moe", .rule = split_exaone_moe, .ends = "\n" },
    { .name = "jais-2", .rule = split_llama3, .group = split_jais2_group },

    { .name = "qwen2", .rule = split_qwen2 },
    { .name = "deepseek-r1-qwen", .rule = split_qwen2 },
    { .name = "stablelm2", .rule = split_qwen2 },
    { .name = "hunyuan", .rule = split_qwen2 },
    { .name = "megrez", .rule = split_qwen2 },
    { .name = "bailingmoe", .rule = split_qwen2 },
    { .name = "bailingmoe2", .rule = split_qwen2 },
    { .name = "llada-moe", .rule = split_qwen2 },
    { .name = "solar-open", .rule = split_qwen2 },
    { .name = "grok-2", .rule = split_qwen2 },
    { .name = "kormo", .rule = split_qwen2 },
    { .name = "openpangu", .rule = split_qwen2 },
    { .name = "f2llmv2", .rule = split_qwen2 },
    { .name = "qwen35", .rule = split_qwen35 },
    { .name = "seed-coder", .rule = split_seed_coder },
    { .name = "laguna", .rule = split_laguna },

    { .name = "gpt-4o", .rule = split_gpt4o },
    { .name = "o200k", .rule = split_gpt4o },
    { .name = "llama4", .rule = split_gpt4o },
    { .name = "kanana2", .rule = split_gpt4o },
    { .name = "minimax-m2", .rule = split_gpt4o },
    { .name = "talkie", .rule = split_gpt4o },
    { "tekken", split_tekken, true, true, NULL, NULL },
    { .name = "kimi-k2", .rule = split_kimi },
    { "youtu", split_youtu, true, false, NULL, NULL },
    { .name = "tiny_aya",
      .rule = split_tiny_aya,
      .group = split_tiny_aya_group },
    { .name = "cohere2moe",
      .rule = split_tiny_aya,
      .group = split_tiny_aya_group },

    { .name = "deepseek-llm", .rule = split_deepseek_llm },
    { .name = "deepseek-coder", .rule = split_deepseek_coder },
    { .name = "deepseek-v3", .rule = split_deepseek_v3 },
    { .name = "hunyuan-dense", .rule = split_deepseek_v3 },
    { .name = "joyai-llm", .rule = split_deepseek_v3 },
    { .name = "hy_v4", .rule = split_deepseek_v3 },
    { .name = "afmoe", .rule = split_afmoe, .group = split_afmoe_group },

    { .name = "bloom", .rule = split_bloom },
    { .name = "poro-chat", .rule = split_bloom },
    { .name = "gpt3-finnish", .rule = split_bloom },
    { .name = "viking", .rule = split_viking },
    { "chameleon", split_chameleon, false, true, NULL, NULL },
    { .name = "superbpe",
      .rule = split_superbpe,
      .group = split_thousands,
      .ends = "0123456789" },
};

const struct split_name *
split_name(size_t i)
{
    return i < sizeof(names) / sizeof(names[0]) ? &names[i] : NULL;
}

const struct split_name *
split_find(const char *name, size_t len)
{
    const struct split_name *s;

    for (size_t i = 0; (s = split_name(i)); i++)
        if (strlen(s->name) == len && memcmp(s->name, name, len) == 0)
            return s;
    return NULL;
}
