/* backend.c - back ends: plans, computing, events */
#include "backend/impl.h"

ggml_guid_t
ggml_backend_guid(ggml_backend_t backend)
{
    return backend ? backend->guid : NULL;
}

const char *
ggml_backend_name(ggml_backend_t backend)
{
    return backend ? backend->iface->get_name(backend) : "NULL";
}

void
ggml_backend_free(ggml_backend_t backend)
{
    if (backend)
        backend->iface->free(backend);
}

ggml_backend_dev_t
ggml_backend_get_device(ggml_backend_t backend)
{
    return backend->device;
}

ggml_backend_buffer_type_t
ggml_backend_get_default_buffer_type(ggml_backend_t backend)
{
    return ggml_backend_dev_buffer_type(backend->device);
}

ggml_backend_buffer_t
ggml_backend_alloc_buffer(ggml_backend_t backend, size_t size)
{
    return ggml_backend_buft_alloc_buffer(
        ggml_backend_get_default_buffer_type(backend), size);
}

size_t
ggml_backend_get_alignment(ggml_backend_t backend)
{
    return ggml_backend_buft_get_alignment(
        ggml_backend_get_default_buffer_type(backend));
}

size_t
ggml_backend_get_max_size(ggml_backend_t backend)
{
    return ggml_backend_buft_get_max_size(
        ggml_backend_get_default_buffer_type(backend));
}

void
ggml_backend_synchronize(ggml_backend_t backend)
{
    if (backend->iface->synchronize)
        backend->iface->synchronize(backend);
}

ggml_backend_graph_plan_t
ggml_backend_graph_plan_create(ggml_backend_t backend,
                               struct ggml_cgraph *cgraph)
{
    GGML_ASSERT(backend->iface->graph_plan_create);
    return backend->iface->graph_plan_create(backend, cgraph);
}

void
ggml_backend_graph_plan_free(ggml_backend_t backend,
                             ggml_backend_graph_plan_t plan)
{
    GGML_ASSERT(backend->iface->graph_plan_free);
    backend->iface->graph_plan_free(backend, plan);
}

enum ggml_status
ggml_backend_graph_plan_compute(ggml_backend_t backend,
                                ggml_backend_graph_plan_t plan)
{
    GGML_ASSERT(backend->iface->graph_plan_compute);
    return backend->iface->graph_plan_compute(backend, plan);
}

enum ggml_status
ggml_backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    enum ggml_status st = ggml_backend_graph_compute_async(backend, cgraph);

    ggml_backend_synchronize(backend);
    return st;
}

enum ggml_status
ggml_backend_graph_compute_async(ggml_backend_t backend,
                                 struct ggml_cgraph *cgraph)
{
    return backend->iface->graph_compute(backend, cgraph);
}

bool
ggml_backend_supports_op(ggml_backend_t backend, const struct ggml_tensor *op)
{
    return ggml_backend_dev_supports_op(backend->device, op);
}

bool
ggml_backend_supports_buft(ggml_backend_t backend,
                           ggml_backend_buffer_type_t buft)
{
    return ggml_backend_dev_supports_buft(backend->device, buft);
}

bool
ggml_backend_offload_op(ggml_backend_t backend, const struct ggml_tensor *op)
{
    return ggml_backend_dev_offload_op(backend->device, op);
}

ggml_backend_event_t
ggml_backend_event_new(ggml_backend_dev_t device)
{
    return device && device->iface->event_new ? device->iface->event_new(device)
                                              : NULL;
}

void
ggml_backend_event_free(ggml_backend_event_t event)
{
    if (event)
        event->device->iface->event_free(event->device, event);
}

void
ggml_backend_event_record(ggml_backend_event_t event, ggml_backend_t backend)
{
    GGML_ASSERT(backend->iface->event_record);
    backend->iface->event_record(backend, event);
}

void
ggml_backend_event_synchronize(ggml_backend_event_t event)
{
    event->device->iface->event_synchronize(event->device, event);
}

void
ggml_backend_event_wait(ggml_backend_t backend, ggml_backend_event_t event)
{
    GGML_ASSERT(backend->iface->event_wait);
    backend->iface->event_wait(backend, event);
}
