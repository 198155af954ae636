/* beside.c - files that lie beside the library */
#include <config.h>

#include "core/beside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool
core_path_beside_library(const char *name, char *path, size_t size)
{
    static const char here;
    Dl_info info;
    const char *slash;
    int n;

    if (!dladdr(&here, &info) || !info.dli_fname)
        return false;
    slash = strrchr(info.dli_fname, '/');
    if (!slash)
        return false;
    n = snprintf(path, size, "%.*s/%s", (int)(slash - info.dli_fname),
                 info.dli_fname, name);
    return n > 0 && (size_t)n < size;
}
