/* remote.c - a back end whose memory the program cannot read */
#define _DEFAULT_SOURCE
#include "remote.h"

#include <ggml-cpu.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/buffer.h"
#include "backend/impl.h"
#include "tensor/graph.h"

struct remote remote;

/* -- Buffers -- */
struct memory {
    struct ggml_backend_buffer base;
    char *range; /* what tensors point to */
    char *bytes; /* what they mean */
};

static char *
bytes_of(const struct ggml_tensor *t)
{
    struct memory *m = (struct memory *)backend_buffer_of(t);

    GGML_ASSERT(m && m->base.buft == remote_buffer_type());
    return m->bytes + ((char *)t->data - m->range);
}

static void
free_buffer(ggml_backend_buffer_t buffer)
{
    struct memory *m = (struct memory *)buffer;

    munmap(m->range, buffer->size);
    free(m->bytes);
    free(m);
    remote.n_buffers--;
}

static void *
get_base(ggml_backend_buffer_t buffer)
{
    return ((struct memory *)buffer)->range;
}

static enum ggml_status
init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    (void)buffer;
    (void)tensor;
    remote.n_init++;
    return GGML_STATUS_SUCCESS;
}

static void
memset_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
              uint8_t value, size_t offset, size_t size)
{
    (void)buffer;
    memset(bytes_of(tensor) + offset, value, size);
}

static void
set_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
           const void *data, size_t offset, size_t size)
{
    (void)buffer;
    memcpy(bytes_of(tensor) + offset, data, size);
    remote.n_set++;
}

static void
get_tensor(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
           void *data, size_t offset, size_t size)
{
    (void)buffer;
    memcpy(data, bytes_of(tensor) + offset, size);
    remote.n_get++;
}

static bool
copy_tensor(ggml_backend_buffer_t buffer, const struct ggml_tensor *src,
            struct ggml_tensor *dst)
{
    ggml_backend_buffer_t from = backend_buffer_of(src);

    (void)buffer;
    if (from->buft != remote_buffer_type())
        return false;
    memcpy(bytes_of(dst), bytes_of(src), ggml_nbytes(src));
    remote.n_copy++;
    return true;
}

static void
clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    memset(((struct memory *)buffer)->bytes, value, buffer->size);
    remote.n_clear++;
}

static const struct ggml_backend_buffer_i buffer_iface = {
    .free_buffer = free_buffer,
    .get_base = get_base,
    .init_tensor = init_tensor,
    .memset_tensor = memset_tensor,
    .set_tensor = set_tensor,
    .get_tensor = get_tensor,
    .copy_tensor = copy_tensor,
    .clear = clear,
};

static const char *
name_of_buft(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "Remote";
}

static ggml_backend_buffer_t
alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    struct memory *m = calloc(1, sizeof(*m));

    m->base.iface = &buffer_iface;
    m->base.buft = buft;
    m->base.size = size;
    m->range = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    GGML_ASSERT(m->range != MAP_FAILED);
    m->bytes = aligned_alloc(256, (size + 255) / 256 * 256);
    memset(m->bytes, 0xff, size); /* a float of that is NaN */
    remote.n_buffers++;
    return &m->base;
}

static size_t
alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return 256;
}

static size_t
alloc_size(ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    (void)buft;
    return ggml_nbytes(tensor) + 100;
}

static const struct ggml_backend_buffer_type_i buft_iface = {
    .get_name = name_of_buft,
    .alloc_buffer = alloc_buffer,
    .get_alignment = alignment,
    .get_alloc_size = alloc_size,
};

/* -- The back end -- */
struct stream {
    struct ggml_backend base;
    ggml_backend_t cpu;
};

static const char *
backend_name(ggml_backend_t backend)
{
    (void)backend;
    return "Remote";
}

static void
backend_free(ggml_backend_t backend)
{
    ggml_backend_free(((struct stream *)backend)->cpu);
    free(backend);
}

static void
synchronize(ggml_backend_t backend)
{
    (void)backend;
    remote.n_sync++;
}

/* Lets the CPU see the node and its sources where their bytes are. */
static enum ggml_status
compute_node(ggml_backend_t cpu, struct ggml_cgraph *g, int i)
{
    struct ggml_tensor *t[GGML_MAX_SRC + 1], *node = g->nodes[i];
    struct ggml_cgraph one = tensor_graph_slice(g, i, i + 1);
    void *data[GGML_MAX_SRC + 1];
    enum ggml_status st;
    int n = 0;

    t[n++] = node;
    for (int j = 0; j < GGML_MAX_SRC; j++) {
        bool seen = !node->src[j];

        for (int k = 0; k < n; k++)
            seen |= t[k] == node->src[j];
        if (!seen)
            t[n++] = node->src[j];
    }
    for (int k = 0; k < n; k++) {
        data[k] = t[k]->data;
        t[k]->data = bytes_of(t[k]);
    }
    st = ggml_backend_graph_compute(cpu, &one);
    for (int k = 0; k < n; k++)
        t[k]->data = data[k];
    remote.n_computed++;
    return st;
}

static enum ggml_status
graph_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    enum ggml_status st = GGML_STATUS_SUCCESS;

    for (int i = 0; i < graph->n_nodes && st == GGML_STATUS_SUCCESS; i++)
        switch (graph->nodes[i]->op) {
        case GGML_OP_NONE:
        case GGML_OP_VIEW:
        case GGML_OP_RESHAPE:
        case GGML_OP_PERMUTE:
        case GGML_OP_TRANSPOSE:
            break;
        default:
            st = compute_node(((struct stream *)backend)->cpu, graph, i);
        }
    return st;
}

static const struct ggml_backend_i backend_iface = {
    .get_name = backend_name,
    .free = backend_free,
    .synchronize = synchronize,
    .graph_compute = graph_compute,
};

/* -- The device -- */

static const char *
device_name(ggml_backend_dev_t device)
{
    (void)device;
    return "Remote0";
}

static void
memory(ggml_backend_dev_t device, size_t *free_, size_t *total)
{
    (void)device;
    *free_ = 1000;
    *total = 2000;
}

static enum ggml_backend_dev_type
device_type(ggml_backend_dev_t device)
{
    (void)device;
    return GGML_BACKEND_DEVICE_TYPE_ACCEL;
}

static ggml_backend_buffer_type_t
device_buft(ggml_backend_dev_t device)
{
    (void)device;
    return remote_buffer_type();
}

static bool
supports_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    ggml_backend_dev_t cpu =
        ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);

    (void)device;
    return (!remote.supports || remote.supports(op)) &&
           ggml_backend_dev_supports_op(cpu, op);
}

static bool
supports_buft(ggml_backend_dev_t device, ggml_backend_buffer_type_t buft)
{
    (void)device;
    return buft == remote_buffer_type();
}

static bool
offload_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    (void)device;
    (void)op;
    return remote.wants_offload;
}

static ggml_backend_t
device_init(ggml_backend_dev_t device, const char *params)
{
    struct stream *s = calloc(1, sizeof(*s));
    static ggml_guid guid = "remote test dev";

    (void)params;
    s->base.iface = &backend_iface;
    s->base.guid = &guid;
    s->base.device = device;
    s->cpu = ggml_backend_cpu_init();
    return &s->base;
}

static const struct ggml_backend_device_i device_iface = {
    .get_name = device_name,
    .get_description = device_name,
    .get_memory = memory,
    .get_type = device_type,
    .init_backend = device_init,
    .get_buffer_type = device_buft,
    .supports_op = supports_op,
    .supports_buft = supports_buft,
    .offload_op = offload_op,
};

static const char *
reg_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return "Remote";
}

static size_t
device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return 1;
}

static struct ggml_backend_device device = { .iface = &device_iface };

static ggml_backend_dev_t
get_device(ggml_backend_reg_t reg, size_t index)
{
    (void)index;
    device.reg = reg;
    return &device;
}

static const struct ggml_backend_reg_i reg_iface = {
    .get_name = reg_name,
    .get_device_count = device_count,
    .get_device = get_device,
};

ggml_backend_reg_t
remote_reg(void)
{
    static struct ggml_backend_reg reg = { .api_version = BACKEND_API_VERSION,
                                           .iface = &reg_iface };

    return &reg;
}

ggml_backend_buffer_type_t
remote_buffer_type(void)
{
    static struct ggml_backend_buffer_type type = { .iface = &buft_iface,
                                                    .device = &device };

    return &type;
}

ggml_backend_t
remote_init(void)
{
    ggml_backend_register(remote_reg());
    return ggml_backend_init_by_name("remote0", NULL);
}
