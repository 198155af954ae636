/* registry.c - fills the registry with the back ends that were built in */
#include "backend/registry.h"

#include <ggml-cpu.h>

#include "api/cuda.h"

void
api_register_backends(void)
{
    ggml_backend_register(ggml_backend_cpu_reg());
}

void
api_load_modules(void)
{
    api_cuda_module(NULL);
}
