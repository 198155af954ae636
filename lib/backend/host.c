/* host.c - buffers in plain memory, of the library's or of the caller's */
#include <string.h>

#include "backend/impl.h"
#include "core/mem.h"
#include "core/numa.h"

enum {
    HOST_ALIGNMENT = 64,   /* a cache line */
    FOREIGN_ALIGNMENT = 32 /* what files and callers keep to */
};

static void
free_owned(ggml_backend_buffer_t buffer)
{
    mem_free(buffer->context);
    mem_free(buffer);
}

static void
free_foreign(ggml_backend_buffer_t buffer)
{
    mem_free(buffer);
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
    memmove((char *)tensor->data + offset, data, size);
}

static void
get_tensor(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
           void *data, size_t offset, size_t size)
{
    (void)buffer;
    memmove(data, (const char *)tensor->data + offset, size);
}

static void
clear_buffer(ggml_backend_buffer_t buffer, uint8_t value)
{
    memset(buffer->context, value, buffer->size);
}

static void
clear_owned(ggml_backend_buffer_t buffer, uint8_t value)
{
    if (value == 0)
        mem_zero(buffer->context, buffer->size);
    else
        clear_buffer(buffer, value);
}

static const struct ggml_backend_buffer_i owned_iface = {
    .free_buffer = free_owned,
    .get_base = get_base,
    .memset_tensor = memset_tensor,
    .set_tensor = set_tensor,
    .get_tensor = get_tensor,
    .clear = clear_owned,
};

static const struct ggml_backend_buffer_i foreign_iface = {
    .free_buffer = free_foreign,
    .get_base = get_base,
    .memset_tensor = memset_tensor,
    .set_tensor = set_tensor,
    .get_tensor = get_tensor,
    .clear = clear_buffer,
};

static ggml_backend_buffer_t
new_buffer(const struct ggml_backend_buffer_i *iface,
           ggml_backend_buffer_type_t buft, void *data, size_t size)
{
    ggml_backend_buffer_t buffer = mem_zalloc(sizeof(*buffer));

    if (!buffer)
        return NULL;
    buffer->iface = iface;
    buffer->buft = buft;
    buffer->context = data;
    buffer->size = size;
    return buffer;
}

static ggml_backend_buffer_t
alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    void *data = mem_aligned(HOST_ALIGNMENT, size);
    ggml_backend_buffer_t buffer =
        data ? new_buffer(&owned_iface, buft, data, size) : NULL;

    if (buffer)
        numa_interleave(data, size);
    else
        mem_free(data);
    return buffer;
}

static const char *
get_name(ggml_backend_buffer_type_t buft)
{
    return buft->context;
}

static size_t
get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return HOST_ALIGNMENT;
}

static bool
is_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return true;
}

static const struct ggml_backend_buffer_type_i host_type_iface = {
    .get_name = get_name,
    .alloc_buffer = alloc_buffer,
    .get_alignment = get_alignment,
    .is_host = is_host,
};

ggml_backend_buffer_type_t
ggml_backend_cpu_buffer_type(void)
{
    static char name[] = "CPU";
    static struct ggml_backend_buffer_type type = { .iface = &host_type_iface,
                                                    .context = name };

    return &type;
}

ggml_backend_buffer_t
ggml_backend_cpu_buffer_from_ptr(void *ptr, size_t size)
{
    static char name[] = "CPU_Mapped";
    static struct ggml_backend_buffer_type type = { .iface = &host_type_iface,
                                                    .context = name };

    GGML_ASSERT((uintptr_t)ptr % FOREIGN_ALIGNMENT == 0);
    return new_buffer(&foreign_iface, &type, ptr, size);
}
