/* subfolder.c - which subfolders of a model's folder have files of it */
#include <config.h>

#include <string.h>

#include "convert/convert.h"

/* "1_Pooling", "2_Dense": a step of sentence-transformers. */
static bool
is_step(const char *name)
{
    size_t n = strspn(name, "0123456789");

    return n && name[n] == '_' && name[n + 1] && !strchr(name, '/');
}

bool
convert_is_subfolder(const char *name)
{
    return strcmp(name, CONVERT_TEMPLATES) == 0 || is_step(name);
}
