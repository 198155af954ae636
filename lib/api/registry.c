/* registry.c - fills the registry with the back ends that were built in */
#include <ggml-cpu.h>

#include "backend/registry.h"

void
api_register_backends(void)
{
    ggml_backend_register(ggml_backend_cpu_reg());
}
