/* data.c - reading, writing and copying what tensors in buffers hold */
#include <string.h>

#include "backend/buffer.h"
#include "backend/impl.h"
#include "core/mem.h"
#include "tensor/graph.h"

/* The buffer of a tensor whose bytes [offset, offset + size) exist. */
static ggml_backend_buffer_t
checked(const struct ggml_tensor *t, size_t offset, size_t size)
{
    ggml_backend_buffer_t buffer = backend_buffer_of(t);
    size_t total = ggml_nbytes(t);

    GGML_ASSERT(buffer && t->data);
    GGML_ASSERT(offset <= total && size <= total - offset);
    return buffer;
}

void
ggml_backend_tensor_set(struct ggml_tensor *tensor, const void *data,
                        size_t offset, size_t size)
{
    ggml_backend_buffer_t buffer;

    if (!size)
        return;
    buffer = checked(tensor, offset, size);
    buffer->iface->set_tensor(buffer, tensor, data, offset, size);
}

void
ggml_backend_tensor_get(const struct ggml_tensor *tensor, void *data,
                        size_t offset, size_t size)
{
    ggml_backend_buffer_t buffer;

    if (!size)
        return;
    buffer = checked(tensor, offset, size);
    buffer->iface->get_tensor(buffer, tensor, data, offset, size);
}

void
ggml_backend_tensor_memset(struct ggml_tensor *tensor, uint8_t value,
                           size_t offset, size_t size)
{
    ggml_backend_buffer_t buffer;

    if (!size)
        return;
    buffer = checked(tensor, offset, size);
    buffer->iface->memset_tensor(buffer, tensor, value, offset, size);
}

void
ggml_backend_tensor_set_async(ggml_backend_t backend,
                              struct ggml_tensor *tensor, const void *data,
                              size_t offset, size_t size)
{
    if (!size)
        return;
    checked(tensor, offset, size);
    if (backend->iface->set_tensor_async) {
        backend->iface->set_tensor_async(backend, tensor, data, offset, size);
        return;
    }
    ggml_backend_synchronize(backend);
    ggml_backend_tensor_set(tensor, data, offset, size);
}

void
ggml_backend_tensor_get_async(ggml_backend_t backend,
                              const struct ggml_tensor *tensor, void *data,
                              size_t offset, size_t size)
{
    if (!size)
        return;
    checked(tensor, offset, size);
    if (backend->iface->get_tensor_async) {
        backend->iface->get_tensor_async(backend, tensor, data, offset, size);
        return;
    }
    ggml_backend_synchronize(backend);
    ggml_backend_tensor_get(tensor, data, offset, size);
}

void
ggml_backend_tensor_set_2d(struct ggml_tensor *tensor, const void *data,
                           size_t offset, size_t size, size_t n_copies,
                           size_t stride_tensor, size_t stride_data)
{
    const char *from = data;

    for (size_t i = 0; i < n_copies; i++)
        ggml_backend_tensor_set(tensor, from + i * stride_data,
                                offset + i * stride_tensor, size);
}

void
ggml_backend_tensor_get_2d(const struct ggml_tensor *tensor, void *data,
                           size_t offset, size_t size, size_t n_copies,
                           size_t stride_tensor, size_t stride_data)
{
    char *to = data;

    for (size_t i = 0; i < n_copies; i++)
        ggml_backend_tensor_get(tensor, to + i * stride_data,
                                offset + i * stride_tensor, size);
}

void
ggml_backend_tensor_set_2d_async(ggml_backend_t backend,
                                 struct ggml_tensor *tensor, const void *data,
                                 size_t offset, size_t size, size_t n_copies,
                                 size_t stride_tensor, size_t stride_data)
{
    const char *from = data;

    for (size_t i = 0; i < n_copies; i++)
        ggml_backend_tensor_set_async(backend, tensor, from + i * stride_data,
                                      offset + i * stride_tensor, size);
}

void
ggml_backend_tensor_get_2d_async(ggml_backend_t backend,
                                 const struct ggml_tensor *tensor, void *data,
                                 size_t offset, size_t size, size_t n_copies,
                                 size_t stride_tensor, size_t stride_data)
{
    char *to = data;

    for (size_t i = 0; i < n_copies; i++)
        ggml_backend_tensor_get_async(backend, tensor, to + i * stride_data,
                                      offset + i * stride_tensor, size);
}

static bool
same_layout(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->type == b->type && ggml_are_same_shape(a, b) &&
           ggml_are_same_stride(a, b);
}

/* Neither side can be read by the program, and they cannot talk. */
static void
copy_through_host(const struct ggml_tensor *src, struct ggml_tensor *dst)
{
    size_t size = ggml_nbytes(src);
    void *data = mem_alloc(size);

    GGML_ASSERT(data);
    ggml_backend_tensor_get(src, data, 0, size);
    ggml_backend_tensor_set(dst, data, 0, size);
    mem_free(data);
}

void
ggml_backend_tensor_copy(const struct ggml_tensor *src, struct ggml_tensor *dst)
{
    size_t size = ggml_nbytes(src);
    ggml_backend_buffer_t from, to;

    GGML_ASSERT(same_layout(src, dst));
    if (src == dst || !size)
        return;
    from = checked(src, 0, size);
    to = checked(dst, 0, size);
    if (ggml_backend_buffer_is_host(from))
        ggml_backend_tensor_set(dst, src->data, 0, size);
    else if (ggml_backend_buffer_is_host(to))
        ggml_backend_tensor_get(src, dst->data, 0, size);
    else if (!to->iface->copy_tensor || !to->iface->copy_tensor(to, src, dst))
        copy_through_host(src, dst);
}

void
ggml_backend_tensor_copy_async(ggml_backend_t backend_src,
                               ggml_backend_t backend_dst,
                               const struct ggml_tensor *src,
                               struct ggml_tensor *dst)
{
    const struct ggml_backend_i *iface = backend_dst->iface;

    GGML_ASSERT(same_layout(src, dst));
    if (src == dst)
        return;
    if (iface->copy_tensor_async &&
        iface->copy_tensor_async(backend_src, backend_dst, src, dst))
        return;
    ggml_backend_synchronize(backend_src);
    ggml_backend_synchronize(backend_dst);
    ggml_backend_tensor_copy(src, dst);
}

struct ggml_tensor *
ggml_set_zero(struct ggml_tensor *tensor)
{
    size_t size = ggml_nbytes(tensor);

    if (!size)
        return tensor;
    if (backend_buffer_of(tensor)) {
        ggml_backend_tensor_memset(tensor, 0, 0, size);
    } else {
        GGML_ASSERT(tensor->data);
        memset(tensor->data, 0, size);
    }
    return tensor;
}

static void
reset_grad(const struct ggml_tensor *node, struct ggml_tensor *acc)
{
    const float one = 1;

    ggml_set_zero(acc);
    if (!(node->flags & GGML_TENSOR_FLAG_LOSS))
        return;
    GGML_ASSERT(acc->type == GGML_TYPE_F32 && ggml_is_scalar(acc));
    if (backend_buffer_of(acc))
        ggml_backend_tensor_set(acc, &one, 0, sizeof(one));
    else
        *(float *)acc->data = one;
}

void
ggml_graph_reset(struct ggml_cgraph *cgraph)
{
    if (!cgraph)
        return;
    GGML_ASSERT(cgraph->grads);
    for (int i = 0; i < cgraph->n_nodes; i++) {
        struct ggml_tensor *node = cgraph->nodes[i];
        struct ggml_tensor *acc = ggml_graph_get_grad_acc(cgraph, node);

        if (node->op == GGML_OP_OPT_STEP_ADAMW) {
            ggml_set_zero(node->src[2]);
            ggml_set_zero(node->src[3]);
        }
        if (acc)
            reset_grad(node, acc);
    }
}
