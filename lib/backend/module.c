/* module.c - back ends in shared objects of their own */
#include "backend/module.h"

#include <dlfcn.h>
#include <stdio.h>

#include "backend/impl.h"
#include "core/log.h"
#include "core/module.h"

/* The module's reason for having no back end, or our words. */
static void
say_none(void *module, const char *path, char *why, size_t size)
{
    const char *(*why_none)(void) = NULL;
    const char *words = NULL;

    *(void **)&why_none = module_symbol(module, "ggml_backend_why_none");
    if (why_none)
        words = why_none();
    if (words && *words)
        snprintf(why, size, "%s", words);
    else
        snprintf(why, size, "%s: found no device", path);
}

ggml_backend_reg_t
backend_module_load(const char *path, char *why, size_t size)
{
    void *module = module_open(path, false, why, size);
    ggml_backend_reg_t (*init)(void) = NULL;
    ggml_backend_reg_t reg = NULL;

    if (!module)
        return NULL;
    *(void **)&init = module_symbol(module, "ggml_backend_init");
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
    return NULL; /* what has run stays: it may have started threads */
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
