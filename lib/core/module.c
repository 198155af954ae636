/* module.c - shared objects that are loaded at run time */
#include <config.h>

#include "core/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/escape.h"
#include "core/mem.h"

const char *
module_named_by(const char *variable)
{
    const char *path = secure_getenv(variable);

    return path && *path ? path : NULL;
}

#ifdef GG_STATIC
bool
module_next_to_library(const char *name, char *path, size_t size)
{
    (void)name, (void)path, (void)size;
    return false;
}

void *
module_open(const char *path, bool global, char *why, size_t size)
{
    (void)path, (void)global;
    snprintf(why, size, "a static program loads no modules");
    return NULL;
}

void *
module_symbol(void *module, const char *name)
{
    (void)module, (void)name;
    return NULL;
}
#else
bool
module_next_to_library(const char *name, char *path, size_t size)
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
    return n > 0 && (size_t)n < size && access(path, F_OK) == 0;
}

/* The dynamic linker, and others' run-times, end a process that has no memory
 * for them: some must be there before they are asked. */
static bool
has_memory(void)
{
    void *p = mem_alloc((size_t)16 << 20);

    mem_free(p);
    return p != NULL;
}

void *
module_open(const char *path, bool global, char *why, size_t size)
{
    int scope = global ? RTLD_GLOBAL : RTLD_LOCAL;
    void *module = has_memory() ? dlopen(path, RTLD_NOW | scope) : NULL;
    const char *said;

    if (module)
        return module;
    said = dlerror();
    said = said ? said : "out of memory";
    escape_bytes(why, size, said, strlen(said));
    return NULL;
}

void *
module_symbol(void *module, const char *name)
{
    return dlsym(module, name);
}
#endif
