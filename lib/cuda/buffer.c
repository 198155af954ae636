/* buffer.c - memory of the device, and pinned memory of the host */
#include <stdlib.h>
#include <string.h>

#include "cuda/backend.h"

/* ---- memory of the device ----------------------------------------------- */

static struct cuda_device *
device_of(ggml_backend_buffer_t buffer)
{
    return (struct cuda_device *)buffer->buft->device;
}

struct cuda_device *
cuda_buffer_device(ggml_backend_buffer_t buffer)
{
    return buffer && buffer->buft->iface == &cuda_memory_table
               ? device_of(buffer)
               : NULL;
}

/* Copies on a stream of the device's own, and waits for it. */
static void
transfer(struct cuda_device *d, void *to, const void *from, size_t size)
{
    enum cuda_status st;

    pthread_mutex_lock(&d->lock);
    st = cuda_use(d->number);
    if (st == CUDA_OK)
        st = cuda_copy(to, from, size, d->transfers);
    if (st == CUDA_OK)
        st = cuda_stream_wait(d->transfers);
    pthread_mutex_unlock(&d->lock);
    cuda_check(d, st, "copying");
}

static void
fill_memory(struct cuda_device *d, void *p, uint8_t value, size_t size)
{
    enum cuda_status st;

    pthread_mutex_lock(&d->lock);
    st = cuda_use(d->number);
    if (st == CUDA_OK)
        st = cuda_fill(p, value, size, d->transfers);
    if (st == CUDA_OK)
        st = cuda_stream_wait(d->transfers);
    pthread_mutex_unlock(&d->lock);
    cuda_check(d, st, "filling memory");
}

static void
free_memory(ggml_backend_buffer_t buffer)
{
    cuda_use(device_of(buffer)->number);
    cuda_free(buffer->context);
    free(buffer);
}

static void *
get_base(ggml_backend_buffer_t buffer)
{
    return buffer->context;
}

static void
memset_memory(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
              uint8_t value, size_t offset, size_t size)
{
    fill_memory(device_of(buffer), (char *)tensor->data + offset, value, size);
}

static void
set_memory(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
           const void *data, size_t offset, size_t size)
{
    transfer(device_of(buffer), (char *)tensor->data + offset, data, size);
}

static void
get_memory(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
           void *data, size_t offset, size_t size)
{
    transfer(device_of(buffer), data, (const char *)tensor->data + offset,
             size);
}

static bool
copy_memory(ggml_backend_buffer_t buffer, const struct ggml_tensor *src,
            struct ggml_tensor *dst)
{
    ggml_backend_buffer_t from =
        src->view_src ? src->view_src->buffer : src->buffer;
    struct cuda_device *d = device_of(buffer);
    struct cuda_device *other = cuda_buffer_device(from);
    enum cuda_status st;

    if (!other || !cuda_device_reaches(other, d))
        return false;
    pthread_mutex_lock(&d->lock);
    st = cuda_use(d->number);
    if (st == CUDA_OK)
        st = cuda_copy_peer(dst->data, d->number, src->data, other->number,
                            ggml_nbytes(src), d->transfers);
    if (st == CUDA_OK)
        st = cuda_stream_wait(d->transfers);
    pthread_mutex_unlock(&d->lock);
    return cuda_check(d, st, "copying between devices");
}

static void
clear_memory(ggml_backend_buffer_t buffer, uint8_t value)
{
    fill_memory(device_of(buffer), buffer->context, value, buffer->size);
}

static const struct ggml_backend_buffer_i memory_buffer = {
    .free_buffer = free_memory,
    .get_base = get_base,
    .memset_tensor = memset_memory,
    .set_tensor = set_memory,
    .get_tensor = get_memory,
    .copy_tensor = copy_memory,
    .clear = clear_memory,
};

static const char *
memory_name(ggml_backend_buffer_type_t buft)
{
    return ((struct cuda_device *)buft->device)->name;
}

static ggml_backend_buffer_t
new_buffer(ggml_backend_buffer_type_t buft, void *p, size_t size,
           const struct ggml_backend_buffer_i *iface)
{
    ggml_backend_buffer_t buffer = calloc(1, sizeof(*buffer));

    if (buffer) {
        buffer->iface = iface;
        buffer->buft = buft;
        buffer->context = p;
        buffer->size = size;
    }
    return buffer;
}

/* Out of memory is no failure of the device. Kernels read the whole aligned 16
 * bytes that contain a block's last byte, hence the padding. */
static ggml_backend_buffer_t
alloc_memory(ggml_backend_buffer_type_t buft, size_t size)
{
    struct cuda_device *d = (struct cuda_device *)buft->device;
    ggml_backend_buffer_t buffer;
    enum cuda_status st = cuda_use(d->number);
    void *p = NULL;

    if (st == CUDA_OK)
        st = cuda_malloc(cuda_round_up(size), &p);
    if (st == CUDA_NOMEM || !cuda_check(d, st, "getting memory"))
        return NULL;
    buffer = new_buffer(buft, p, size, &memory_buffer);
    if (!buffer)
        cuda_free(p);
    return buffer;
}

static size_t
alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return CUDA_ALIGNMENT;
}

const struct ggml_backend_buffer_type_i cuda_memory_table = {
    .get_name = memory_name,
    .alloc_buffer = alloc_memory,
    .get_alignment = alignment,
};

/* ---- pinned memory of the host ------------------------------------------ */

static void
free_pinned(ggml_backend_buffer_t buffer)
{
    cuda_host_free(buffer->context);
    free(buffer);
}

static void
memset_pinned(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
              uint8_t value, size_t offset, size_t size)
{
    (void)buffer;
    memset((char *)tensor->data + offset, value, size);
}

static void
set_pinned(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
           const void *data, size_t offset, size_t size)
{
    (void)buffer;
    memmove((char *)tensor->data + offset, data, size);
}

static void
get_pinned(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
           void *data, size_t offset, size_t size)
{
    (void)buffer;
    memmove(data, (const char *)tensor->data + offset, size);
}

static void
clear_pinned(ggml_backend_buffer_t buffer, uint8_t value)
{
    memset(buffer->context, value, buffer->size);
}

static const struct ggml_backend_buffer_i pinned_buffer = {
    .free_buffer = free_pinned,
    .get_base = get_base,
    .memset_tensor = memset_pinned,
    .set_tensor = set_pinned,
    .get_tensor = get_pinned,
    .clear = clear_pinned,
};

static const char *
pinned_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "CUDA_Host";
}

static ggml_backend_buffer_t
alloc_pinned(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer;
    void *p;

    if (cuda_use(((struct cuda_device *)buft->device)->number) != CUDA_OK ||
        cuda_host_malloc(size, &p) != CUDA_OK)
        return NULL;
    buffer = new_buffer(buft, p, size, &pinned_buffer);
    if (!buffer)
        cuda_host_free(p);
    return buffer;
}

static bool
pinned_is_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return true;
}

const struct ggml_backend_buffer_type_i cuda_pinned_table = {
    .get_name = pinned_name,
    .alloc_buffer = alloc_pinned,
    .get_alignment = alignment,
    .is_host = pinned_is_host,
};
