/* arch.c - the table of families */
#include "model/arch.h"

#include <stdio.h>
#include <string.h>

static const struct model_arch *const table[] = {
    &model_arch_bert,     &model_arch_falcon,   &model_arch_gemma,
    &model_arch_gemma2,   &model_arch_gemma3,   &model_arch_gpt_oss,
    &model_arch_gpt2,     &model_arch_gptj,     &model_arch_gptneox,
    &model_arch_granite,  &model_arch_llama,    &model_arch_nomic_bert,
    &model_arch_olmo2,    &model_arch_phi2,     &model_arch_phi3,
    &model_arch_qwen2,    &model_arch_qwen2moe, &model_arch_qwen3,
    &model_arch_qwen3moe, &model_arch_smollm3,  &model_arch_starcoder2,
};

enum {
    N_ARCH = sizeof(table) / sizeof(table[0]),
};

const struct model_arch *
model_arch_find(const char *name)
{
    for (size_t i = 0; i < N_ARCH; i++)
        if (!strcmp(table[i]->name, name))
            return table[i];
    return NULL;
}

void
model_arch_list(char *buf, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < N_ARCH && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "",
                                 table[i]->name);
}
