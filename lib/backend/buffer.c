/* buffer.c - buffer types and buffers, and putting tensors into them */
#include "backend/buffer.h"

#include "backend/impl.h"
#include "core/mem.h"

const char *
ggml_backend_buft_name(ggml_backend_buffer_type_t buft)
{
    return buft->iface->get_name(buft);
}

/* A buffer of no bytes, so that callers need not treat them apart. */
static void
free_empty(ggml_backend_buffer_t buffer)
{
    mem_free(buffer);
}

static ggml_backend_buffer_t
new_empty(ggml_backend_buffer_type_t buft)
{
    static const struct ggml_backend_buffer_i empty = { .free_buffer =
                                                            free_empty };
    ggml_backend_buffer_t buffer = mem_zalloc(sizeof(*buffer));

    if (buffer) {
        buffer->iface = &empty;
        buffer->buft = buft;
    }
    return buffer;
}

ggml_backend_buffer_t
ggml_backend_buft_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    return size ? buft->iface->alloc_buffer(buft, size) : new_empty(buft);
}

size_t
ggml_backend_buft_get_alignment(ggml_backend_buffer_type_t buft)
{
    return buft->iface->get_alignment(buft);
}

size_t
ggml_backend_buft_get_max_size(ggml_backend_buffer_type_t buft)
{
    return buft->iface->get_max_size ? buft->iface->get_max_size(buft)
                                     : SIZE_MAX;
}

size_t
ggml_backend_buft_get_alloc_size(ggml_backend_buffer_type_t buft,
                                 const struct ggml_tensor *tensor)
{
    size_t needed = ggml_nbytes(tensor), size;

    if (!buft->iface->get_alloc_size)
        return needed;
    size = buft->iface->get_alloc_size(buft, tensor);
    GGML_ASSERT(size >= needed);
    return size;
}

bool
ggml_backend_buft_is_host(ggml_backend_buffer_type_t buft)
{
    return buft->iface->is_host && buft->iface->is_host(buft);
}

ggml_backend_dev_t
ggml_backend_buft_get_device(ggml_backend_buffer_type_t buft)
{
    return buft->device;
}

const char *
ggml_backend_buffer_name(ggml_backend_buffer_t buffer)
{
    return ggml_backend_buft_name(buffer->buft);
}

void
ggml_backend_buffer_free(ggml_backend_buffer_t buffer)
{
    if (buffer)
        buffer->iface->free_buffer(buffer);
}

void *
ggml_backend_buffer_get_base(ggml_backend_buffer_t buffer)
{
    return buffer->size && buffer->iface->get_base
               ? buffer->iface->get_base(buffer)
               : NULL;
}

size_t
ggml_backend_buffer_get_size(ggml_backend_buffer_t buffer)
{
    return buffer->size;
}

enum ggml_status
ggml_backend_buffer_init_tensor(ggml_backend_buffer_t buffer,
                                struct ggml_tensor *tensor)
{
    return buffer->iface->init_tensor
               ? buffer->iface->init_tensor(buffer, tensor)
               : GGML_STATUS_SUCCESS;
}

size_t
ggml_backend_buffer_get_alignment(ggml_backend_buffer_t buffer)
{
    return ggml_backend_buft_get_alignment(buffer->buft);
}

size_t
ggml_backend_buffer_get_max_size(ggml_backend_buffer_t buffer)
{
    return ggml_backend_buft_get_max_size(buffer->buft);
}

size_t
ggml_backend_buffer_get_alloc_size(ggml_backend_buffer_t buffer,
                                   const struct ggml_tensor *tensor)
{
    return ggml_backend_buft_get_alloc_size(buffer->buft, tensor);
}

void
ggml_backend_buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    if (buffer->size)
        buffer->iface->clear(buffer, value);
}

bool
ggml_backend_buffer_is_host(ggml_backend_buffer_t buffer)
{
    return ggml_backend_buft_is_host(buffer->buft);
}

enum ggml_backend_buffer_usage
ggml_backend_buffer_get_usage(ggml_backend_buffer_t buffer)
{
    return buffer->usage;
}

ggml_backend_buffer_type_t
ggml_backend_buffer_get_type(ggml_backend_buffer_t buffer)
{
    return buffer->buft;
}

void
ggml_backend_buffer_reset(ggml_backend_buffer_t buffer)
{
    if (buffer->iface->reset)
        buffer->iface->reset(buffer);
}

enum ggml_status
ggml_backend_tensor_alloc(ggml_backend_buffer_t buffer,
                          struct ggml_tensor *tensor, void *addr)
{
    char *base = ggml_backend_buffer_get_base(buffer);
    size_t size = ggml_backend_buffer_get_alloc_size(buffer, tensor);
    size_t start = (size_t)((char *)addr - base);

    GGML_ASSERT(!tensor->buffer && !tensor->data && !tensor->view_src);
    GGML_ASSERT(start <= buffer->size && size <= buffer->size - start);
    tensor->buffer = buffer;
    tensor->data = addr;
    return ggml_backend_buffer_init_tensor(buffer, tensor);
}

enum ggml_status
ggml_backend_view_init(struct ggml_tensor *tensor)
{
    GGML_ASSERT(!tensor->buffer && tensor->view_src);
    GGML_ASSERT(tensor->view_src->buffer && tensor->view_src->data);
    tensor->buffer = tensor->view_src->buffer;
    tensor->data = (char *)tensor->view_src->data + tensor->view_offs;
    return ggml_backend_buffer_init_tensor(tensor->buffer, tensor);
}

/* -- Several as one -- */
struct multi_buffer {
    struct ggml_backend_buffer base;
    size_t n;
    ggml_backend_buffer_t part[];
};

static void
free_multi(ggml_backend_buffer_t buffer)
{
    struct multi_buffer *m = (struct multi_buffer *)buffer;

    for (size_t i = 0; i < m->n; i++)
        ggml_backend_buffer_free(m->part[i]);
    mem_free(m);
}

static void
clear_multi(ggml_backend_buffer_t buffer, uint8_t value)
{
    struct multi_buffer *m = (struct multi_buffer *)buffer;

    for (size_t i = 0; i < m->n; i++)
        ggml_backend_buffer_clear(m->part[i], value);
}

static const struct ggml_backend_buffer_i multi_iface = {
    .free_buffer = free_multi,
    .clear = clear_multi,
};

ggml_backend_buffer_t
backend_multi_buffer(ggml_backend_buffer_t *buffers, size_t n)
{
    struct multi_buffer *m = mem_zalloc(sizeof(*m) + n * sizeof(*buffers));

    if (!m)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        m->base.size += buffers[i]->size;
        m->part[i] = buffers[i];
    }
    m->base.iface = &multi_iface;
    m->base.buft = buffers[0]->buft;
    m->n = n;
    return &m->base;
}

void
ggml_backend_buffer_set_usage(ggml_backend_buffer_t buffer,
                              enum ggml_backend_buffer_usage usage)
{
    struct multi_buffer *m = (struct multi_buffer *)buffer;

    buffer->usage = usage;
    if (buffer->iface == &multi_iface)
        for (size_t i = 0; i < m->n; i++)
            ggml_backend_buffer_set_usage(m->part[i], usage);
}
