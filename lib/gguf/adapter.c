/* adapter.c - the format of adapter files */
#include "gguf/adapter.h"

#include <stdio.h>

static const char *const suffixes[] = {
    [GGUF_ADAPTER_A] = ".lora_a",
    [GGUF_ADAPTER_B] = ".lora_b",
    [GGUF_ADAPTER_WHOLE] = "",
};

static bool
says(const struct gguf_context *gguf, const char *key, const char *what)
{
    struct gguf_str s = { "", 0 };

    return gguf_opt_str(gguf, key, &s, NULL) == GG_OK && s.n == strlen(what) &&
           memcmp(s.s, what, s.n) == 0;
}

enum gguf_adapter_kind
gguf_adapter_kind_of(const struct gguf_context *gguf)
{
    if (says(gguf, "general.architecture", "controlvector"))
        return GGUF_ADAPTER_CONTROL;
    if (says(gguf, "general.type", "adapter") &&
        says(gguf, "adapter.type", "lora"))
        return GGUF_ADAPTER_LORA;
    return GGUF_ADAPTER_NONE;
}

enum gguf_adapter_part
gguf_adapter_split_name(const char *name, char base[GGML_MAX_NAME])
{
    size_t n = strlen(name), end = strlen(suffixes[GGUF_ADAPTER_A]);
    enum gguf_adapter_part part = GGUF_ADAPTER_WHOLE;

    for (int i = GGUF_ADAPTER_A; i < GGUF_ADAPTER_WHOLE && n > end; i++)
        if (strcmp(name + n - end, suffixes[i]) == 0)
            part = (enum gguf_adapter_part)i;
    snprintf(base, GGML_MAX_NAME, "%.*s",
             (int)(part == GGUF_ADAPTER_WHOLE ? n : n - end), name);
    return part;
}

bool
gguf_adapter_part_name(const char *base, enum gguf_adapter_part part,
                       char name[GGML_MAX_NAME])
{
    return snprintf(name, GGML_MAX_NAME, "%s%s", base, suffixes[part]) <
           GGML_MAX_NAME;
}

void
gguf_adapter_set_lora(struct gguf_context *gguf, const char *architecture,
                      float alpha)
{
    gguf_set_val_str(gguf, "general.type", "adapter");
    gguf_set_val_str(gguf, "general.architecture", architecture);
    gguf_set_val_str(gguf, "adapter.type", "lora");
    gguf_set_val_f32(gguf, GGUF_ADAPTER_ALPHA, alpha);
}
