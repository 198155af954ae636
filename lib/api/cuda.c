/* cuda.c - ggml-cuda.h: what the CUDA module offers, passed on */
#include <ggml-cuda.h>
#include <stdio.h>
#include <string.h>

#include "api/modules.h"
#include "backend/impl.h"

static ggml_backend_reg_t
cuda_module(void)
{
    return api_module_load(api_module_named("cuda", 4), NULL);
}

static ggml_backend_dev_t
device_at(int number)
{
    ggml_backend_reg_t reg = cuda_module();

    if (!reg || number < 0 || (size_t)number >= ggml_backend_reg_dev_count(reg))
        return NULL;
    return ggml_backend_reg_dev_get(reg, (size_t)number);
}

static void *
extra(const char *name)
{
    ggml_backend_reg_t reg = cuda_module();

    return reg ? ggml_backend_reg_get_proc_address(reg, name) : NULL;
}

ggml_backend_reg_t
ggml_backend_cuda_reg(void)
{
    return cuda_module();
}

ggml_backend_t
ggml_backend_cuda_init(int device)
{
    ggml_backend_dev_t dev = device_at(device);

    return dev ? ggml_backend_dev_init(dev, NULL) : NULL;
}

bool
ggml_backend_is_cuda(ggml_backend_t backend)
{
    return backend && backend->device->reg == cuda_module();
}

ggml_backend_buffer_type_t
ggml_backend_cuda_buffer_type(int device)
{
    ggml_backend_dev_t dev = device_at(device);

    return dev ? ggml_backend_dev_buffer_type(dev) : NULL;
}

ggml_backend_buffer_type_t
ggml_backend_cuda_host_buffer_type(void)
{
    ggml_backend_dev_t dev = device_at(0);

    return dev ? ggml_backend_dev_host_buffer_type(dev) : NULL;
}

int
ggml_backend_cuda_get_device_count(void)
{
    ggml_backend_reg_t reg = cuda_module();

    return reg ? (int)ggml_backend_reg_dev_count(reg) : 0;
}

void
ggml_backend_cuda_get_device_description(int device, char *description,
                                         size_t description_size)
{
    ggml_backend_dev_t dev = device_at(device);

    snprintf(description, description_size, "%s",
             dev ? ggml_backend_dev_description(dev) : "");
}

void
ggml_backend_cuda_get_device_memory(int device, size_t *free, size_t *total)
{
    ggml_backend_dev_t dev = device_at(device);

    *free = *total = 0;
    if (dev)
        ggml_backend_dev_memory(dev, free, total);
}

bool
ggml_backend_cuda_register_host_buffer(void *buffer, size_t size)
{
    void *p = extra("ggml_backend_register_host_buffer");
    bool (*pin)(void *, size_t);

    memcpy(&pin, &p, sizeof(p));
    return pin && pin(buffer, size);
}

void
ggml_backend_cuda_unregister_host_buffer(void *buffer)
{
    void *p = extra("ggml_backend_unregister_host_buffer");
    void (*unpin)(void *);

    memcpy(&unpin, &p, sizeof(p));
    if (unpin)
        unpin(buffer);
}
