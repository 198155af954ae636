/* module.c - back ends in shared objects of their own */
#include <dlfcn.h>
#include <pthread.h>

#include "backend/impl.h"
#include "core/log.h"

ggml_backend_reg_t
ggml_backend_load(const char *path)
{
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ggml_backend_reg_t (*init)(void) = NULL;
    ggml_backend_reg_t reg = NULL;

    if (!module) {
        log_say(GGML_LOG_LEVEL_WARN, "%s\n", dlerror());
        return NULL;
    }
    *(void **)&init = dlsym(module, "ggml_backend_init");
    if (init)
        reg = init();
    if (!reg || reg->api_version != BACKEND_API_VERSION) {
        log_say(GGML_LOG_LEVEL_WARN, "%s: %s\n", path,
                !init  ? "is no back end"
                : !reg ? "found no device"
                       : "is of another version");
        dlclose(module);
        return NULL;
    }
    ggml_backend_register(reg); /* and stays loaded as long as the process */
    return reg;
}
