/* models_families.c - the small models of the tests, family by family
 *
 * Keys, names and shapes of the tensors are those that files of the field
 * have: as upstream's converter writes them (convert_hf_to_gguf.py, and the
 * tables of the gguf package). Windows and original contexts are so small
 * that a hundred ids go far beyond them, caps so low and epsilons so large
 * that they tell in the logits. */
#include "models_parts.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    NORMED = MODELS_LAYER_NORM,
    GATED = MODELS_GATED,
    ALL_BIASES = MODELS_QKV_BIAS | MODELS_OUT_BIAS | MODELS_FFN_BIAS,
    GEMMA = GATED | MODELS_KEY_LENGTH | MODELS_SMALL_TOKENS,
    ENCODER = MODELS_LAYER_NORM | MODELS_NO_ATTN_NORM | MODELS_NO_FFN_NORM |
              MODELS_ENCODER,
    QWEN3 = GATED | MODELS_KEY_LENGTH | MODELS_QK_NORM,
};

static const struct {
    const char *arch;
    unsigned traits;
} archs[] = {
    { "gpt2", NORMED | MODELS_POSITIONS | MODELS_QKV | ALL_BIASES },
    { "llama", GATED | MODELS_ROT_KEYS },
    { "qwen2", GATED | MODELS_QKV_BIAS },
    { "qwen2moe", GATED | MODELS_QKV_BIAS },
    { "qwen3", QWEN3 },
    { "qwen3moe", QWEN3 },
    { "gemma", GEMMA },
    { "gemma2", GEMMA | MODELS_POST_NORMS },
    { "gemma3", GEMMA | MODELS_POST_NORMS | MODELS_QK_NORM },
    { "phi2", NORMED | ALL_BIASES | MODELS_NO_FFN_NORM | MODELS_OUTPUT_BIAS },
    { "phi3", MODELS_QKV | MODELS_GATED_UP | MODELS_ROT_KEYS },
    { "gptneox", NORMED | MODELS_QKV | ALL_BIASES },
    { "falcon", NORMED | MODELS_QKV | MODELS_NO_FFN_NORM },
    { "smollm3", GATED | MODELS_ROT_KEYS },
    { "gpt-oss", MODELS_KEY_LENGTH | MODELS_QKV_BIAS | MODELS_OUT_BIAS |
                     MODELS_SINKS | MODELS_FFN_NORM_POST | GATED |
                     MODELS_FFN_BIAS },
    { "starcoder2", NORMED | ALL_BIASES },
    { "olmo2", GATED | MODELS_NO_ATTN_NORM | MODELS_NO_FFN_NORM |
                   MODELS_POST_NORMS | MODELS_QK_NORM_WHOLE },
    { "granite", GATED | MODELS_ROT_KEYS },
    { "gptj",
      NORMED | MODELS_NO_FFN_NORM | MODELS_FFN_BIAS | MODELS_OUTPUT_BIAS },
    { "bert", ENCODER | MODELS_POSITIONS | ALL_BIASES },
    { "nomic-bert", ENCODER | GATED | MODELS_QKV },
};

#define YARN(factor, n_ctx)                                                    \
    { "rope.scaling.type", 's', 0, "yarn" },                                   \
        { "rope.scaling.factor", 'f', factor, NULL },                          \
    {                                                                          \
        "rope.scaling.original_context_length", 'u', n_ctx, NULL               \
    }

/* Everything but the type of the matrices. */
static const struct {
    const char *name;
    struct model_spec spec;
} families[] = {
    { "gpt2", { .arch = "gpt2", .n_head_kv = 4, .untied = true } },
    { "llama", { .arch = "llama", .n_head_kv = 2, .untied = true } },
    { "llama3",
      { .arch = "llama", .n_head_kv = 2, .llama3_n_ctx = 64, .n_ff = 96 } },
    { "mistral",
      { .arch = "llama",
        .n_head_kv = 2,
        .d_key = 24,
        .untied = true,
        .n_ff = 96,
        .eps = 0.01f,
        .keys = { { "attention.sliding_window", 'u', 16, NULL } } } },
    { "mixtral",
      { .arch = "llama",
        .n_head_kv = 2,
        .untied = true,
        .n_ff = 96,
        .n_expert = 4,
        .eps = 0.01f,
        .rope_base = 1e6f } },
    { "qwen2",
      { .arch = "qwen2",
        .n_head_kv = 2,
        .n_ff = 96,
        .eps = 0.01f,
        .rope_base = 1e6f } },
    { "qwen2yarn",
      { .arch = "qwen2",
        .n_head_kv = 1,
        .n_ff = 96,
        .eps = 0.01f,
        .rope_base = 1e4f,
        .untied = true,
        .keys = { YARN(4, 32) } } },
    { "qwen2moe",
      { .arch = "qwen2moe",
        .n_head_kv = 2,
        .untied = true,
        .eps = 0.01f,
        .rope_base = 1e6f,
        .n_ff = 160,
        .n_expert = 6,
        .n_ff_expert = 32,
        .n_ff_shared = 64 } },
    { "qwen3",
      { .arch = "qwen3",
        .n_head_kv = 2,
        .d_key = 32,
        .n_ff = 96,
        .eps = 0.01f,
        .rope_base = 1e6f } },
    { "qwen3moe",
      { .arch = "qwen3moe",
        .n_head_kv = 1,
        .d_key = 32,
        .eps = 0.01f,
        .rope_base = 1e6f,
        .untied = true,
        .n_ff = 160,
        .n_expert = 8,
        .n_expert_used = 3,
        .n_ff_expert = 32 } },
    { "gemma",
      { .arch = "gemma",
        .n_head_kv = 1,
        .d_key = 32,
        .n_ff = 96,
        .eps = 0.01f } },
    { "gemma2",
      { .arch = "gemma2",
        .n_layer = 3,
        .n_head_kv = 2,
        .d_key = 32,
        .n_ff = 96,
        .eps = 0.01f,
        .keys = { { "attn_logit_softcapping", 'f', 2, NULL },
                  { "final_logit_softcapping", 'f', 1.5, NULL },
                  { "attention.sliding_window", 'u', 16, NULL } } } },
    { "gemma2deep", /* so many layers as the one of 27 billion has */
      { .arch = "gemma2",
        .n_embd = 32,
        .n_layer = 46,
        .n_head = 2,
        .n_head_kv = 1,
        .d_key = 32,
        .n_ff = 32,
        .eps = 0.01f,
        .keys = { { "attn_logit_softcapping", 'f', 2, NULL },
                  { "final_logit_softcapping", 'f', 1.5, NULL },
                  { "attention.sliding_window", 'u', 16, NULL } } } },
    { "gemma3",
      { .arch = "gemma3",
        .n_layer = 7,
        .n_head_kv = 2,
        .d_key = 32,
        .n_ff = 96,
        .eps = 0.01f,
        .rope_base = 1e6f,
        .keys = { { "attention.sliding_window", 'u', 16, NULL },
                  { "rope.scaling.type", 's', 0, "linear" },
                  { "rope.scaling.factor", 'f', 8, NULL } } } },
    { "gemma3deep",
      { .arch = "gemma3",
        .n_embd = 32,
        .n_layer = 62,
        .n_head = 2,
        .n_head_kv = 1,
        .d_key = 32,
        .n_ff = 32,
        .eps = 0.01f,
        .rope_base = 1e6f,
        .keys = { { "attention.sliding_window", 'u', 16, NULL } } } },
    { "phi2",
      { .arch = "phi2",
        .eps = 0.01f,
        .n_rot = 8,
        .n_ff = 96,
        .untied = true } },
    { "phi2qkv",
      { .arch = "phi2",
        .eps = 0.01f,
        .n_rot = 8,
        .n_ff = 96,
        .untied = true,
        .traits = MODELS_QKV } },
    { "phi3",
      { .arch = "phi3",
        .n_head_kv = 2,
        .n_ff = 96,
        .untied = true,
        .n_rot = 12,
        .eps = 0.01f,
        .rope_base = 1e4f,
        .rope_long = true,
        .keys = { { "rope.scaling.original_context_length", 'u', 128, NULL },
                  /* sqrt(1 + ln(512 / 128) / ln(128)) */
                  { "rope.scaling.attn_factor", 'f', 1.1338934190276817, NULL },
                  { "attention.sliding_window", 'u', 0, NULL } } } },
    { "phi3short", /* of 4,096 positions, of which 2,047 are seen */
      { .arch = "phi3",
        .n_ff = 96,
        .eps = 0.01f,
        .rope_base = 1e4f,
        .keys = { { "rope.scaling.original_context_length", 'u', 512, NULL },
                  { "attention.sliding_window", 'u', 16, NULL } } } },
    { "gptneox",
      { .arch = "gptneox",
        .eps = 0.01f,
        .n_rot = 4,
        .n_ff = 96,
        .untied = true,
        .keys = { { "use_parallel_residual", 'b', 1, NULL } } } },
    { "gptneoxserial",
      { .arch = "gptneox",
        .eps = 0.01f,
        .n_rot = 8,
        .n_ff = 96,
        .untied = true,
        .keys = { { "use_parallel_residual", 'b', 0, NULL } } } },
    { "falcon", { .arch = "falcon", .eps = 0.01f, .n_head_kv = 1 } },
    { "falcon40",
      { .arch = "falcon",
        .eps = 0.01f,
        .n_head_kv = 2,
        .untied = true,
        .traits = MODELS_ATTN_NORM_2 } },
    { "smollm3",
      { .arch = "smollm3",
        .n_layer = 5,
        .n_head_kv = 2,
        .n_ff = 96,
        .eps = 0.01f,
        .rope_base = 5e6f } },
    { "gpt-oss",
      { .arch = "gpt-oss",
        .n_layer = 4,
        .n_head_kv = 2,
        .d_key = 32,
        .untied = true,
        .n_ff = 64,
        .n_ff_expert = 64,
        .n_expert = 4,
        .eps = 0.01f,
        .rope_base = 150000,
        .keys = { YARN(32, 64),
                  { "attention.sliding_window", 'u', 16, NULL } } } },
    { "starcoder2",
      { .arch = "starcoder2",
        .eps = 0.01f,
        .n_head_kv = 2,
        .n_ff = 96,
        .rope_base = 1e5f } },
    { "olmo2",
      { .arch = "olmo2",
        .n_head_kv = 2,
        .n_ff = 96,
        .untied = true,
        .eps = 0.01f,
        .rope_base = 5e5f } },
    { "olmo3",
      { .arch = "olmo2",
        .n_layer = 5,
        .n_head_kv = 2,
        .n_ff = 96,
        .untied = true,
        .eps = 0.01f,
        .rope_base = 5e5f,
        .keys = { YARN(8, 32),
                  { "attention.sliding_window", 'u', 16, NULL },
                  { "attention.sliding_window_pattern", 'l', 0, "11010" } } } },
    { "granite",
      { .arch = "granite",
        .n_head_kv = 2,
        .n_ff = 96,
        .eps = 0.01f,
        .rope_base = 1e4f,
        .keys = { { "attention.scale", 'f', 0.125, NULL },
                  { "embedding_scale", 'f', 0.5, NULL },
                  { "residual_scale", 'f', 0.75, NULL },
                  { "logit_scale", 'f', 8, NULL } } } },
    { "granite4", /* an array of its heads, and no rotary positions */
      { .arch = "granite",
        .n_head_kv = 2,
        .n_ff = 96,
        .eps = 0.01f,
        .rope_base = 1e4f,
        .keys = { { "attention.head_count_kv", 'e', 2, NULL },
                  { "attention.scale", 'f', 0.125, NULL },
                  { "embedding_scale", 'f', 0.5, NULL },
                  { "residual_scale", 'f', 0.75, NULL },
                  { "logit_scale", 'f', 8, NULL },
                  { "rope.scaling.finetuned", 'b', 0, NULL } } } },
    { "gptj",
      { .arch = "gptj",
        .eps = 0.01f,
        .n_rot = 8,
        .n_ff = 96,
        .untied = true } },
    /* with scales */
    { "qwen3scaled",
      { .arch = "qwen3",
        .n_head_kv = 2,
        .d_key = 32,
        .n_ff = 128,
        .eps = 0.01f,
        .rope_base = 1e6f,
        .untied = true,
        .traits = MODELS_SCALES } },
    { "qwen2moescaled",
      { .arch = "qwen2moe",
        .n_head_kv = 2,
        .untied = true,
        .eps = 0.01f,
        .rope_base = 1e6f,
        .n_ff = 128,
        .n_expert = 6,
        .n_ff_expert = 64,
        .n_ff_shared = 64,
        .traits = MODELS_SCALES } },
    { "gpt2scaled",
      { .arch = "gpt2", .n_head_kv = 4, .traits = MODELS_SCALES } },
    /* encoders stand after all others */
    { "bert", { .arch = "bert", .n_ff = 96, .eps = 0.01f } },
    { "nomic-bert",
      { .arch = "nomic-bert", .n_ff = 96, .eps = 0.01f, .rope_base = 1e3f } },
};

static const struct {
    const char *name;
    enum ggml_type type;
} types[] = {
    { "f32", GGML_TYPE_F32 },     { "f16", GGML_TYPE_F16 },
    { "bf16", GGML_TYPE_BF16 },   { "q8_0", GGML_TYPE_Q8_0 },
    { "q4_0", GGML_TYPE_Q4_0 },   { "mxfp4", GGML_TYPE_MXFP4 },
    { "nvfp4", GGML_TYPE_NVFP4 },
};

unsigned
models_traits(const char *arch)
{
    for (size_t i = 0; i < COUNT(archs); i++)
        if (!strcmp(arch, archs[i].arch))
            return archs[i].traits;
    return 0;
}

const char *
models_family(size_t i)
{
    if (i >= COUNT(families) ||
        models_traits(families[i].spec.arch) & MODELS_ENCODER)
        return NULL;
    return families[i].name;
}

static bool
family_named(const char *name, size_t length, struct model_spec *out)
{
    for (size_t i = 0; i < COUNT(families); i++) {
        if (strncmp(families[i].name, name, length) || families[i].name[length])
            continue;
        *out = families[i].spec;
        out->seed = 1;
        return true;
    }
    return false;
}

bool
models_named(const char *name, struct model_spec *out)
{
    const char *dash = strrchr(name, '-');
    struct model_spec spec;

    if (!dash || !family_named(name, (size_t)(dash - name), &spec))
        return false;
    for (size_t i = 0; i < COUNT(types); i++) {
        if (strcmp(dash + 1, types[i].name))
            continue;
        *out = spec;
        out->type = types[i].type;
        return true;
    }
    return false;
}
