/* tallocr.c - tensors one after another in a buffer */
#include <ggml-alloc.h>
#include <ggml-backend.h>

#include "backend/buffer.h"
#include "core/check.h"
#include "core/log.h"
#include "core/mem.h"

struct ggml_tallocr
ggml_tallocr_new(ggml_backend_buffer_t buffer)
{
    struct ggml_tallocr t = {
        .buffer = buffer,
        .base = ggml_backend_buffer_get_base(buffer),
        .alignment = ggml_backend_buffer_get_alignment(buffer),
    };

    /* Memory of the caller's may start anywhere. */
    t.offset = -(uintptr_t)t.base & (t.alignment - 1);
    return t;
}

enum ggml_status
ggml_tallocr_alloc(struct ggml_tallocr *talloc, struct ggml_tensor *tensor)
{
    size_t room = ggml_backend_buffer_get_size(talloc->buffer), end;
    size_t size = ggml_backend_buffer_get_alloc_size(talloc->buffer, tensor);
    char *at = (char *)talloc->base + talloc->offset;

    if (!check_align(size, talloc->alignment, &size) ||
        !check_add(talloc->offset, size, &end) || end > room)
        GGML_ABORT("a buffer of %zu bytes has no room for %zu more (%s)", room,
                   size, tensor->name);
    talloc->offset = end;
    return ggml_backend_tensor_alloc(talloc->buffer, tensor, at);
}

/* -- All tensors of a context -- */

static size_t
size_in(ggml_backend_buffer_type_t buft, const struct ggml_tensor *t)
{
    size_t align = ggml_backend_buft_get_alignment(buft), size;

    if (t->data || t->view_src)
        return 0;
    GGML_ASSERT(
        check_align(ggml_backend_buft_get_alloc_size(buft, t), align, &size));
    return size;
}

/* The tensors from *next on that fit into one buffer: its size; moves *next
 * after them. */
static size_t
next_range(struct ggml_context *ctx, ggml_backend_buffer_type_t buft,
           struct ggml_tensor **next)
{
    size_t max = ggml_backend_buft_get_max_size(buft), total = 0, sum;

    for (; *next; *next = ggml_get_next_tensor(ctx, *next)) {
        size_t size = size_in(buft, *next);

        GGML_ASSERT(check_add(total, size, &sum));
        if (total && sum > max)
            break;
        total = sum;
    }
    return total;
}

size_t
ggml_backend_alloc_ctx_tensors_from_buft_size(struct ggml_context *ctx,
                                              ggml_backend_buffer_type_t buft)
{
    struct ggml_tensor *t = ggml_get_first_tensor(ctx);
    size_t total = 0;

    while (t)
        total += next_range(ctx, buft, &t);
    return total;
}

static bool
fill_buffer(struct ggml_context *ctx, ggml_backend_buffer_t buffer,
            struct ggml_tensor *t, struct ggml_tensor *end)
{
    struct ggml_tallocr talloc = ggml_tallocr_new(buffer);
    enum ggml_status st = GGML_STATUS_SUCCESS;

    for (; t != end && st == GGML_STATUS_SUCCESS;
         t = ggml_get_next_tensor(ctx, t)) {
        if (t->view_src && !t->buffer && t->view_src->buffer)
            st = ggml_backend_view_init(t);
        else if (!t->view_src && !t->data)
            st = ggml_tallocr_alloc(&talloc, t);
    }
    return st == GGML_STATUS_SUCCESS;
}

struct buffers {
    ggml_backend_buffer_t *array;
    size_t n, cap;
};

static bool
add_range(struct ggml_context *ctx, ggml_backend_buffer_type_t buft,
          struct ggml_tensor **next, struct buffers *all)
{
    struct ggml_tensor *first = *next;
    size_t size = next_range(ctx, buft, next);
    ggml_backend_buffer_t buffer;

    if (!mem_grow(&all->array, &all->cap, all->n + 1, sizeof(buffer)))
        return false;
    buffer = ggml_backend_buft_alloc_buffer(buft, size);
    if (!buffer) {
        log_say(GGML_LOG_LEVEL_ERROR, "no buffer of %zu bytes in %s\n", size,
                ggml_backend_buft_name(buft));
        return false;
    }
    all->array[all->n++] = buffer;
    return fill_buffer(ctx, buffer, first, *next);
}

/* Tensors must not point into buffers that are gone. */
static void
undo(struct ggml_context *ctx, struct buffers *all)
{
    struct ggml_tensor *t = ggml_get_first_tensor(ctx);

    for (; t; t = ggml_get_next_tensor(ctx, t))
        for (size_t i = 0; i < all->n; i++)
            if (t->buffer == all->array[i]) {
                t->buffer = NULL;
                t->data = NULL;
            }
    for (size_t i = 0; i < all->n; i++)
        ggml_backend_buffer_free(all->array[i]);
    all->n = 0;
}

ggml_backend_buffer_t
ggml_backend_alloc_ctx_tensors_from_buft(struct ggml_context *ctx,
                                         ggml_backend_buffer_type_t buft)
{
    struct ggml_tensor *t = ggml_get_first_tensor(ctx);
    ggml_backend_buffer_t result = NULL;
    struct buffers all = { 0 };
    bool done = true;

    GGML_ASSERT(ggml_get_no_alloc(ctx));
    if (!ggml_backend_alloc_ctx_tensors_from_buft_size(ctx, buft))
        return NULL;
    while (t && done)
        done = add_range(ctx, buft, &t, &all);
    if (done)
        result =
            all.n == 1 ? all.array[0] : backend_multi_buffer(all.array, all.n);
    if (!result)
        undo(ctx, &all);
    mem_free(all.array);
    return result;
}

ggml_backend_buffer_t
ggml_backend_alloc_ctx_tensors(struct ggml_context *ctx, ggml_backend_t backend)
{
    return ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_get_default_buffer_type(backend));
}
