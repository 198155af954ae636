/* arch.c - the table of families */
#include "model/arch.h"

#include <stdio.h>
#include <string.h>

#define ADDRESS(name) &model_arch_##name,
static const struct model_arch *const table[] = { MODEL_ARCHS(ADDRESS) };
#undef ADDRESS

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
