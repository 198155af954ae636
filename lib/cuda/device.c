/* device.c - the devices that were found */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/backend.h"

static struct cuda_device devices[CUDA_MAX_DEVICES];
static int n_devices;

/* ---- a device ----------------------------------------------------------- */

static struct cuda_device *
device_of(ggml_backend_dev_t device)
{
    return (struct cuda_device *)device;
}

static const char *
device_name(ggml_backend_dev_t device)
{
    return device_of(device)->name;
}

static const char *
device_description(ggml_backend_dev_t device)
{
    return device_of(device)->properties.name;
}

static void
device_memory(ggml_backend_dev_t device, size_t *free, size_t *total)
{
    *free = *total = 0;
    if (cuda_use(device_of(device)->number) == CUDA_OK)
        cuda_memory(free, total);
}

static enum ggml_backend_dev_type
device_type(ggml_backend_dev_t device)
{
    return device_of(device)->properties.integrated
               ? GGML_BACKEND_DEVICE_TYPE_IGPU
               : GGML_BACKEND_DEVICE_TYPE_GPU;
}

static void
device_props(ggml_backend_dev_t device, struct ggml_backend_dev_props *props)
{
    props->device_id = device_of(device)->properties.bus_id;
    props->caps.async = true;
    props->caps.host_buffer = true;
    props->caps.events = true;
}

/* Once for a device, when it is needed first. */
static bool
start_transfers(struct cuda_device *d)
{
    enum cuda_status st = CUDA_OK;

    pthread_mutex_lock(&d->lock);
    if (!d->transfers) {
        st = cuda_use(d->number);
        if (st == CUDA_OK)
            st = cuda_stream_new(&d->transfers);
    }
    pthread_mutex_unlock(&d->lock);
    return cuda_check(d, st, "starting");
}

static ggml_backend_t
device_init(ggml_backend_dev_t device, const char *params)
{
    (void)params;
    return start_transfers(device_of(device))
               ? cuda_backend_new(device_of(device))
               : NULL;
}

/* Buffers are copied to and from on the device's stream. */
static ggml_backend_buffer_type_t
device_buffer_type(ggml_backend_dev_t device)
{
    start_transfers(device_of(device));
    return &device_of(device)->memory;
}

static ggml_backend_buffer_type_t
device_host_buffer_type(ggml_backend_dev_t device)
{
    return &device_of(device)->pinned;
}

static bool
is_view(const struct ggml_tensor *op)
{
    return op->op == GGML_OP_NONE || op->op == GGML_OP_RESHAPE ||
           op->op == GGML_OP_VIEW || op->op == GGML_OP_PERMUTE ||
           op->op == GGML_OP_TRANSPOSE;
}

static bool
supports_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    const struct cuda_op *slot;

    (void)device;
    if (is_view(op))
        return true;
    if ((unsigned)op->op >= GGML_OP_COUNT) /* tensor/sparse.h */
        return false;
    slot = &cuda_ops[op->op];
    return slot->run && (!slot->supports || slot->supports(op));
}

static bool
supports_buft(ggml_backend_dev_t device, ggml_backend_buffer_type_t buft)
{
    return buft == &device_of(device)->memory;
}

/* Weights cross the bus once for many rows. */
static bool
offload_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    enum {
        MIN_ROWS = 32
    };

    (void)device;
    if (op->op == GGML_OP_MUL_MAT)
        return op->ne[1] >= MIN_ROWS;
    return op->op == GGML_OP_MUL_MAT_ID && op->ne[2] >= MIN_ROWS;
}

static ggml_backend_event_t
event_new(ggml_backend_dev_t device)
{
    struct ggml_backend_event *event = calloc(1, sizeof(*event));
    struct cuda_device *d = device_of(device);
    enum cuda_status st = cuda_use(d->number);

    if (!event)
        return NULL;
    event->device = device;
    if (st == CUDA_OK)
        st = cuda_event_new(&event->context);
    if (cuda_check(d, st, "making an event"))
        return event;
    free(event);
    return NULL;
}

static void
event_free(ggml_backend_dev_t device, ggml_backend_event_t event)
{
    (void)device;
    cuda_event_free(event->context);
    free(event);
}

static void
event_synchronize(ggml_backend_dev_t device, ggml_backend_event_t event)
{
    cuda_check(device_of(device), cuda_event_wait(event->context),
               "waiting for an event");
}

static const struct ggml_backend_device_i device_table = {
    .get_name = device_name,
    .get_description = device_description,
    .get_memory = device_memory,
    .get_type = device_type,
    .get_props = device_props,
    .init_backend = device_init,
    .get_buffer_type = device_buffer_type,
    .get_host_buffer_type = device_host_buffer_type,
    .supports_op = supports_op,
    .supports_buft = supports_buft,
    .offload_op = offload_op,
    .event_new = event_new,
    .event_free = event_free,
    .event_synchronize = event_synchronize,
};

/* ---- all of them -------------------------------------------------------- */

static bool
add_device(ggml_backend_reg_t reg, int number)
{
    struct cuda_device *d = &devices[n_devices];

    if (cuda_properties(number, &d->properties) != CUDA_OK)
        return false;
    d->base = (struct ggml_backend_device){ &device_table, reg, NULL };
    d->memory =
        (struct ggml_backend_buffer_type){ &cuda_memory_table, &d->base, NULL };
    d->pinned =
        (struct ggml_backend_buffer_type){ &cuda_pinned_table, &d->base, NULL };
    d->number = number;
    snprintf(d->name, sizeof(d->name), "CUDA%d", number);
    pthread_mutex_init(&d->lock, NULL);
    n_devices++;
    return true;
}

enum cuda_status
cuda_devices_find(ggml_backend_reg_t reg)
{
    int n = 0;
    enum cuda_status st = cuda_count(&n);

    for (int i = 0; st == CUDA_OK && i < n && i < CUDA_MAX_DEVICES; i++)
        add_device(reg, i);
    return st == CUDA_OK && n == 0 ? CUDA_NO_DEVICE : st;
}

int
cuda_devices_count(void)
{
    return n_devices;
}

struct cuda_device *
cuda_devices_at(int i)
{
    return &devices[i];
}
