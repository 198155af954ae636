/* registry.c - fills the registry with the back ends that were built in */
#include "backend/registry.h"

#include <ggml-cpu.h>

#include "api/modules.h"

void
api_register_backends(void)
{
    ggml_backend_register(ggml_backend_cpu_reg());
}

void
api_load_modules(void)
{
    api_modules_load();
}

/* Back ends that were built in come first. */
void
ggml_backend_load_all_from_path(const char *dir_path)
{
    if (!dir_path)
        ggml_backend_load_all();
    else if (ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU))
        api_modules_load_from(dir_path);
}
