/* backend.c - a back end: a stream on a device, copies and events */
#include "cuda/backend.h"

#include <stdlib.h>
#include <string.h>

static struct cuda *
cuda_of(ggml_backend_t backend)
{
    return (struct cuda *)backend;
}

static const char *
backend_name(ggml_backend_t backend)
{
    return cuda_of(backend)->device->name;
}

static void
backend_free(ggml_backend_t backend)
{
    struct cuda *cuda = cuda_of(backend);

    cuda_use(cuda->device->number);
    if (cuda->ctx.stream)
        cuda_stream_wait(cuda->ctx.stream);
    cuda_graphs_clear(cuda);
    cuda_profile_clear(&cuda->profile);
    cuda_blas_free(cuda->blas);
    cuda_pool_clear(&cuda->pool);
    cuda_pool_clear(&cuda->activations.pool);
    cuda_host_free(cuda->host);
    cuda_event_free(cuda->point);
    cuda_stream_free(cuda->ctx.stream);
    free(cuda->nodes);
    free(cuda->uses);
    free(cuda);
}

/* ---- data --------------------------------------------------------------- */

static void
copy_async(struct cuda *cuda, void *to, const void *from, size_t size)
{
    enum cuda_status st = cuda_use(cuda->device->number);

    if (st == CUDA_OK)
        st = cuda_copy(to, from, size, cuda->ctx.stream);
    cuda_check(cuda->device, st, "copying");
}

static void
set_tensor_async(ggml_backend_t backend, struct ggml_tensor *tensor,
                 const void *data, size_t offset, size_t size)
{
    copy_async(cuda_of(backend), (char *)tensor->data + offset, data, size);
}

static void
get_tensor_async(ggml_backend_t backend, const struct ggml_tensor *tensor,
                 void *data, size_t offset, size_t size)
{
    copy_async(cuda_of(backend), data, (const char *)tensor->data + offset,
               size);
}

static ggml_backend_buffer_t
buffer_of(const struct ggml_tensor *t)
{
    return t->view_src ? t->view_src->buffer : t->buffer;
}

/* Later work on `to` waits for the current work on `from`. */
static bool
wait_for_stream(struct cuda *to, struct cuda *from)
{
    static const char what[] = "copying between streams";
    enum cuda_status st;

    if (from == to)
        return true;
    st = cuda_use(from->device->number);
    if (st == CUDA_OK)
        st = cuda_event_record(from->point, from->ctx.stream);
    if (!cuda_check(from->device, st, what))
        return false;
    st = cuda_use(to->device->number);
    if (st == CUDA_OK)
        st = cuda_stream_wait_event(to->ctx.stream, from->point);
    return cuda_check(to->device, st, what);
}

/* The copy waits for the source's stream, whose later work waits for the copy,
 * as it may overwrite the source. */
static bool
copy_from_stream(struct cuda *from, struct cuda *to,
                 const struct ggml_tensor *src, struct ggml_tensor *dst)
{
    enum cuda_status st;

    if (!cuda_device_reaches(from->device, to->device) ||
        !wait_for_stream(to, from))
        return false;
    st = cuda_use(to->device->number);
    if (st == CUDA_OK)
        st = cuda_copy_peer(dst->data, to->device->number, src->data,
                            from->device->number, ggml_nbytes(src),
                            to->ctx.stream);
    return cuda_check(to->device, st, "copying between devices") &&
           wait_for_stream(from, to);
}

static bool
copy_tensor_async(ggml_backend_t backend_src, ggml_backend_t backend_dst,
                  const struct ggml_tensor *src, struct ggml_tensor *dst)
{
    ggml_backend_buffer_t from = buffer_of(src);
    struct cuda *to = cuda_of(backend_dst);

    if (cuda_buffer_device(buffer_of(dst)) != to->device)
        return false;
    if (cuda_is_backend(backend_src) &&
        cuda_buffer_device(from) == cuda_of(backend_src)->device)
        return copy_from_stream(cuda_of(backend_src), to, src, dst);
    /* Pageable memory is copied at once; the CPU has finished its work. */
    if (!from || !ggml_backend_buffer_is_host(from) ||
        from->buft->iface == &cuda_pinned_table)
        return false;
    copy_async(to, dst->data, src->data, ggml_nbytes(src));
    return true;
}

static void
trim(struct cuda *cuda)
{
    cuda_pool_trim(&cuda->pool);
    cuda_pool_trim(&cuda->activations.pool);
}

static void
synchronize(ggml_backend_t backend)
{
    struct cuda *cuda = cuda_of(backend);
    enum cuda_status st = cuda_use(cuda->device->number);

    if (st == CUDA_OK)
        st = cuda_stream_wait(cuda->ctx.stream);
    if (cuda_check(cuda->device, st, "computing"))
        trim(cuda);
}

static const char *
get_error(ggml_backend_t backend)
{
    return cuda_device_error(cuda_of(backend)->device);
}

/* ---- events ------------------------------------------------------------- */

static void
event_record(ggml_backend_t backend, ggml_backend_event_t event)
{
    struct cuda *cuda = cuda_of(backend);

    cuda_check(cuda->device,
               cuda_event_record(event->context, cuda->ctx.stream),
               "recording an event");
}

static void
event_wait(ggml_backend_t backend, ggml_backend_event_t event)
{
    struct cuda *cuda = cuda_of(backend);

    cuda_check(cuda->device,
               cuda_stream_wait_event(cuda->ctx.stream, event->context),
               "waiting for an event");
}

/* ---- services for kernels ----------------------------------------------- */

void *
cuda_scratch(struct cuda_ctx *c, size_t size)
{
    void *p = cuda_pool_take(&cuda_of_ctx(c)->pool, size);

    if (!p)
        c->failed = true;
    return p;
}

void
cuda_gemm(struct cuda_ctx *c, const struct cuda_gemm *g)
{
    struct cuda *cuda = cuda_of_ctx(c);
    enum cuda_status st = CUDA_OK;

    if (!cuda->blas)
        st = cuda_blas_new(&cuda->blas);
    if (st == CUDA_OK)
        st = cuda_blas_gemm(cuda->blas, c->stream, g);
    if (!cuda_check(cuda->device, st, "cuBLAS"))
        c->failed = true;
}

/* ---- creation ----------------------------------------------------------- */

static const struct ggml_backend_i backend_table = {
    .get_name = backend_name,
    .free = backend_free,
    .set_tensor_async = set_tensor_async,
    .get_tensor_async = get_tensor_async,
    .copy_tensor_async = copy_tensor_async,
    .synchronize = synchronize,
    .graph_compute = cuda_graph_compute,
    .event_record = event_record,
    .event_wait = event_wait,
    .get_error = get_error,
};

static ggml_guid guid = { 'g', 'g', ' ', 'c', 'u', 'd', 'a', ' ',
                          'b', 'a', 'c', 'k', 'e', 'n', 'd', '1' };

bool
cuda_is_backend(ggml_backend_t backend)
{
    return backend && backend->iface == &backend_table;
}

ggml_backend_t
cuda_backend_new(struct cuda_device *device)
{
    const struct cuda_properties *p = &device->properties;
    struct cuda *cuda = calloc(1, sizeof(*cuda));
    const char *graphs = getenv("GG_CUDA_GRAPHS");
    enum cuda_status st;

    if (!cuda)
        return NULL;
    cuda->base = (struct ggml_backend){
        .iface = &backend_table,
        .guid = &guid,
        .device = &device->base,
    };
    cuda->device = device;
    cuda->no_capture = graphs && !strcmp(graphs, "0");
    cuda->ctx = (struct cuda_ctx){
        .device = device->number,
        .arch = p->arch,
        .n_sm = p->n_sm,
        .max_shared = p->max_shared,
        .dequantized_bytes = CUDA_DEQUANTIZED_BYTES,
    };
    st = cuda_use(device->number);
    if (st == CUDA_OK)
        st = cuda_stream_new(&cuda->ctx.stream);
    if (st == CUDA_OK)
        st = cuda_event_new(&cuda->point);
    if (cuda_check(device, st, "starting"))
        return &cuda->base;
    backend_free(&cuda->base);
    return NULL;
}
