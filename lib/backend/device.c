/* device.c - devices, and what registered them */
#include <string.h>

#include "backend/impl.h"
#include "tensor/sparse.h"

const char *
ggml_backend_dev_name(ggml_backend_dev_t device)
{
    return device->iface->get_name(device);
}

const char *
ggml_backend_dev_description(ggml_backend_dev_t device)
{
    return device->iface->get_description(device);
}

void
ggml_backend_dev_memory(ggml_backend_dev_t device, size_t *free, size_t *total)
{
    device->iface->get_memory(device, free, total);
}

enum ggml_backend_dev_type
ggml_backend_dev_type(ggml_backend_dev_t device)
{
    return device->iface->get_type(device);
}

void
ggml_backend_dev_get_props(ggml_backend_dev_t device,
                           struct ggml_backend_dev_props *props)
{
    memset(props, 0, sizeof(*props));
    props->name = ggml_backend_dev_name(device);
    props->description = ggml_backend_dev_description(device);
    props->type = ggml_backend_dev_type(device);
    ggml_backend_dev_memory(device, &props->memory_free, &props->memory_total);
    if (device->iface->get_props)
        device->iface->get_props(device, props);
}

ggml_backend_reg_t
ggml_backend_dev_backend_reg(ggml_backend_dev_t device)
{
    return device->reg;
}

ggml_backend_t
ggml_backend_dev_init(ggml_backend_dev_t device, const char *params)
{
    return device->iface->init_backend(device, params);
}

ggml_backend_buffer_type_t
ggml_backend_dev_buffer_type(ggml_backend_dev_t device)
{
    return device->iface->get_buffer_type(device);
}

ggml_backend_buffer_type_t
ggml_backend_dev_host_buffer_type(ggml_backend_dev_t device)
{
    return device->iface->get_host_buffer_type
               ? device->iface->get_host_buffer_type(device)
               : NULL;
}

ggml_backend_buffer_t
ggml_backend_dev_buffer_from_host_ptr(ggml_backend_dev_t device, void *ptr,
                                      size_t size, size_t max_tensor_size)
{
    return device->iface->buffer_from_host_ptr
               ? device->iface->buffer_from_host_ptr(device, ptr, size,
                                                     max_tensor_size)
               : NULL;
}

static bool
is_gpu(ggml_backend_dev_t device)
{
    enum ggml_backend_dev_type type = ggml_backend_dev_type(device);

    return type == GGML_BACKEND_DEVICE_TYPE_GPU ||
           type == GGML_BACKEND_DEVICE_TYPE_IGPU;
}

/* Modules of others know the ops of ggml.h alone. */
bool
ggml_backend_dev_supports_op(ggml_backend_dev_t device,
                             const struct ggml_tensor *op)
{
    return !(tensor_is_private(op) && is_gpu(device)) &&
           device->iface->supports_op(device, op);
}

bool
ggml_backend_dev_supports_buft(ggml_backend_dev_t device,
                               ggml_backend_buffer_type_t buft)
{
    return device->iface->supports_buft(device, buft);
}

bool
ggml_backend_dev_offload_op(ggml_backend_dev_t device,
                            const struct ggml_tensor *op)
{
    return device->iface->offload_op && device->iface->offload_op(device, op);
}

const char *
ggml_backend_reg_name(ggml_backend_reg_t reg)
{
    return reg->iface->get_name(reg);
}

size_t
ggml_backend_reg_dev_count(ggml_backend_reg_t reg)
{
    return reg->iface->get_device_count(reg);
}

ggml_backend_dev_t
ggml_backend_reg_dev_get(ggml_backend_reg_t reg, size_t index)
{
    GGML_ASSERT(index < ggml_backend_reg_dev_count(reg));
    return reg->iface->get_device(reg, index);
}

void *
ggml_backend_reg_get_proc_address(ggml_backend_reg_t reg, const char *name)
{
    return reg && reg->iface->get_proc_address
               ? reg->iface->get_proc_address(reg, name)
               : NULL;
}
