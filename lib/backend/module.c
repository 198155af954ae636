/* module.c - back ends in shared objects of their own */
#include "backend/module.h"

#include <dlfcn.h>
#include <stdio.h>

#include "backend/impl.h"
#include "core/log.h"
#include "core/mem.h"

/* What the module says about it, or our words. */
static void
say_none(void *module, const char *path, char *why, size_t size)
{
    const char *(*why_none)(void) = NULL;
    const char *words = NULL;

    *(void **)&why_none = dlsym(module, "ggml_backend_why_none");
    if (why_none)
        words = why_none();
    if (words && *words)
        snprintf(why, size, "%s", words);
    else
        snprintf(why, size, "%s: found no device", path);
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

ggml_backend_reg_t
backend_module_load(const char *path, char *why, size_t size)
{
    void *module = has_memory() ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    ggml_backend_reg_t (*init)(void) = NULL;
    ggml_backend_reg_t reg = NULL;

    if (!module) {
        const char *said = dlerror();

        snprintf(why, size, "%s", said ? said : "out of memory");
        return NULL;
    }
    *(void **)&init = dlsym(module, "ggml_backend_init");
    if (init)
        reg = init();
    if (reg && reg->api_version == BACKEND_API_VERSION)
        return reg;
    if (!init) {
        snprintf(why, size, "%s: is no back end", path);
        dlclose(module);
    } else if (reg) {
        snprintf(why, size, "%s: is of another version", path);
    } else {
        say_none(module, path, why, size);
    }
    return NULL; /* what has run stays: it may have left threads behind */
}

ggml_backend_reg_t
ggml_backend_load(const char *path)
{
    char why[256];
    ggml_backend_reg_t reg = backend_module_load(path, why, sizeof(why));

    if (reg)
        ggml_backend_register(reg);
    else
        log_say(GGML_LOG_LEVEL_WARN, "%s\n", why);
    return reg;
}
