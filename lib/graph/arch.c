/* arch.c - the table of families */
#include "graph/arch.h"

#include <string.h>

#define ADDRESS(name) &graph_arch_##name,
static const struct model_arch *const table[] = { MODEL_ARCHS(ADDRESS) };
#undef ADDRESS

enum {
    N_ARCH = sizeof(table) / sizeof(table[0]),
};

const struct model_arch *
graph_arch_find(const char *name)
{
    for (size_t i = 0; i < N_ARCH; i++)
        if (!strcmp(table[i]->name, name))
            return table[i];
    return NULL;
}

const char *
graph_arch_name(size_t i)
{
    return i < N_ARCH ? table[i]->name : NULL;
}
