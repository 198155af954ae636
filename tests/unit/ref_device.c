/* ref_device.c - the device "REF" */
#include "ref_device.h"

#include <ggml-cpu.h>
#include <stdlib.h>
#include <string.h>

#include "backend/impl.h"

/* -- Memory: the host's, but only this device may look at it -- */

static void
free_buffer(ggml_backend_buffer_t buffer)
{
    free(buffer->context);
    free(buffer);
}

static void *
get_base(ggml_backend_buffer_t buffer)
{
    return buffer->context;
}

static void
memset_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
              uint8_t value, size_t offset, size_t size)
{
    (void)buffer;
    memset((char *)tensor->data + offset, value, size);
}

static void
set_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
           const void *data, size_t offset, size_t size)
{
    (void)buffer;
    memcpy((char *)tensor->data + offset, data, size);
}

static void
get_tensor(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
           void *data, size_t offset, size_t size)
{
    (void)buffer;
    memcpy(data, (const char *)tensor->data + offset, size);
}

static void
clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    memset(buffer->context, value, buffer->size);
}

static const struct ggml_backend_buffer_i buffer_table = {
    .free_buffer = free_buffer,
    .get_base = get_base,
    .memset_tensor = memset_tensor,
    .set_tensor = set_tensor,
    .get_tensor = get_tensor,
    .clear = clear,
};

static const char *
name_of_buft(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "REF";
}

static size_t
alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return 64;
}

static ggml_backend_buffer_t
alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    struct ggml_backend_buffer *b = calloc(1, sizeof(*b));

    GGML_ASSERT(b);
    b->iface = &buffer_table;
    b->buft = buft;
    b->size = size;
    b->context = aligned_alloc(64, (size + 63) / 64 * 64);
    GGML_ASSERT(b->context);
    memset(b->context, 0xff, size); /* a float of that is NaN */
    return b;
}

static const struct ggml_backend_buffer_type_i buft_table = {
    .get_name = name_of_buft,
    .alloc_buffer = alloc_buffer,
    .get_alignment = alignment,
};

static struct ggml_backend_device device;

static ggml_backend_buffer_type_t
buffer_type(ggml_backend_dev_t dev)
{
    static struct ggml_backend_buffer_type type = { .iface = &buft_table };

    type.device = dev;
    return &type;
}

/* -- The back end: one of the CPU's, told to use the reference -- */

static const char *
backend_name(ggml_backend_t backend)
{
    (void)backend;
    return "REF";
}

static void
backend_free(ggml_backend_t backend)
{
    ggml_backend_free(backend->context);
    free(backend);
}

static enum ggml_status
graph_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    return ggml_backend_graph_compute(backend->context, graph);
}

static const struct ggml_backend_i backend_table = {
    .get_name = backend_name,
    .free = backend_free,
    .graph_compute = graph_compute,
};

static ggml_backend_t
init_backend(ggml_backend_dev_t dev, const char *params)
{
    static ggml_guid guid = "gg reference 01";
    struct ggml_backend *b = calloc(1, sizeof(*b));

    (void)params;
    GGML_ASSERT(b);
    b->iface = &backend_table;
    b->guid = &guid;
    b->device = dev;
    b->context = ggml_backend_cpu_init();
    ggml_backend_cpu_set_use_ref(b->context, true);
    return b;
}

/* -- The device -- */

static const char *
device_name(ggml_backend_dev_t dev)
{
    (void)dev;
    return "REF";
}

static void
memory(ggml_backend_dev_t dev, size_t *free_, size_t *total)
{
    (void)dev;
    *free_ = *total = 0;
}

static enum ggml_backend_dev_type
device_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return GGML_BACKEND_DEVICE_TYPE_ACCEL;
}

static bool
supports_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    (void)dev;
    return ggml_backend_dev_supports_op(
        ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0), op);
}

static bool
supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft)
{
    return buft == buffer_type(dev);
}

static const struct ggml_backend_device_i device_table = {
    .get_name = device_name,
    .get_description = device_name,
    .get_memory = memory,
    .get_type = device_type,
    .init_backend = init_backend,
    .get_buffer_type = buffer_type,
    .supports_op = supports_op,
    .supports_buft = supports_buft,
};

static const char *
reg_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return "REF";
}

static size_t
device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return 1;
}

static ggml_backend_dev_t
get_device(ggml_backend_reg_t reg, size_t index)
{
    (void)index;
    device.iface = &device_table;
    device.reg = reg;
    return &device;
}

static const struct ggml_backend_reg_i reg_table = {
    .get_name = reg_name,
    .get_device_count = device_count,
    .get_device = get_device,
};

ggml_backend_reg_t
ref_device_reg(void)
{
    static struct ggml_backend_reg reg = { .api_version = BACKEND_API_VERSION,
                                           .iface = &reg_table };

    return &reg;
}
