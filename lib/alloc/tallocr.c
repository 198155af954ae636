/* tallocr.c - tensors one after another in a buffer */
#include <ggml-alloc.h>
#include <ggml-backend.h>

#include "backend/buffer.h"
#include "backend/impl.h"
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

/* -- Several tensors -- */

struct tensors {
    struct ggml_tensor **array;
    int n;
};

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
next_range(const struct tensors *of, ggml_backend_buffer_type_t buft, int *next)
{
    size_t max = ggml_backend_buft_get_max_size(buft), total = 0, sum;

    for (; *next < of->n; ++*next) {
        size_t size = size_in(buft, of->array[*next]);

        GGML_ASSERT(check_add(total, size, &sum));
        if (total && sum > max)
            break;
        total = sum;
    }
    return total;
}

size_t
ggml_backend_buft_get_alloc_size_n(ggml_backend_buffer_type_t buft,
                                   struct ggml_tensor **tensors, int n_tensors)
{
    const struct tensors of = { tensors, n_tensors };
    size_t total = 0;

    if (buft->iface->get_alloc_size_n)
        return buft->iface->get_alloc_size_n(buft, tensors, n_tensors);
    for (int i = 0; i < n_tensors;)
        total += next_range(&of, buft, &i);
    return total;
}

static bool
fill_buffer(const struct tensors *of, ggml_backend_buffer_t buffer, int i,
            int end)
{
    struct ggml_tallocr talloc = ggml_tallocr_new(buffer);
    enum ggml_status st = GGML_STATUS_SUCCESS;

    for (; i < end && st == GGML_STATUS_SUCCESS; i++) {
        struct ggml_tensor *t = of->array[i];

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
add_range(const struct tensors *of, ggml_backend_buffer_type_t buft, int *next,
          struct buffers *all)
{
    int first = *next;
    size_t size = next_range(of, buft, next);
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
    return fill_buffer(of, buffer, first, *next);
}

/* Tensors must not point into buffers that are gone. */
static void
undo(const struct tensors *of, struct buffers *all)
{
    for (int j = 0; j < of->n; j++)
        for (size_t i = 0; i < all->n; i++)
            if (of->array[j]->buffer == all->array[i]) {
                of->array[j]->buffer = NULL;
                of->array[j]->data = NULL;
            }
    for (size_t i = 0; i < all->n; i++)
        ggml_backend_buffer_free(all->array[i]);
    all->n = 0;
}

/* Several buffers, each as large as may be, as one. */
static ggml_backend_buffer_t
alloc_ranges(const struct tensors *of, ggml_backend_buffer_type_t buft)
{
    ggml_backend_buffer_t result = NULL;
    struct buffers all = { 0 };
    bool done = true;

    for (int i = 0; i < of->n && done;)
        done = add_range(of, buft, &i, &all);
    if (done)
        result =
            all.n == 1 ? all.array[0] : backend_multi_buffer(all.array, all.n);
    if (!result)
        undo(of, &all);
    mem_free(all.array);
    return result;
}

ggml_backend_buffer_t
ggml_backend_buft_alloc_buffer_n(ggml_backend_buffer_type_t buft,
                                 struct ggml_tensor **tensors, int n_tensors)
{
    const struct tensors of = { tensors, n_tensors };

    if (buft->iface->alloc_buffer_n)
        return buft->iface->alloc_buffer_n(buft, tensors, n_tensors);
    if (!ggml_backend_buft_get_alloc_size_n(buft, tensors, n_tensors))
        return NULL;
    return alloc_ranges(&of, buft);
}

/* -- All tensors of a context -- */

/* False: no memory. */
static bool
collect(struct ggml_context *ctx, struct tensors *out)
{
    struct ggml_tensor *t;
    int n = 0;

    for (t = ggml_get_first_tensor(ctx); t; t = ggml_get_next_tensor(ctx, t))
        n++;
    *out = (struct tensors){ mem_array((size_t)n, sizeof(*out->array)), 0 };
    if (!out->array)
        return false;
    for (t = ggml_get_first_tensor(ctx); t; t = ggml_get_next_tensor(ctx, t))
        out->array[out->n++] = t;
    return true;
}

size_t
ggml_backend_alloc_ctx_tensors_from_buft_size(struct ggml_context *ctx,
                                              ggml_backend_buffer_type_t buft)
{
    struct tensors of;
    size_t total = 0;

    if (collect(ctx, &of))
        total = ggml_backend_buft_get_alloc_size_n(buft, of.array, of.n);
    mem_free(of.array);
    return total;
}

ggml_backend_buffer_t
ggml_backend_alloc_ctx_tensors_from_buft(struct ggml_context *ctx,
                                         ggml_backend_buffer_type_t buft)
{
    ggml_backend_buffer_t result = NULL;
    struct tensors of;

    GGML_ASSERT(ggml_get_no_alloc(ctx));
    if (collect(ctx, &of))
        result = ggml_backend_buft_alloc_buffer_n(buft, of.array, of.n);
    mem_free(of.array);
    return result;
}

ggml_backend_buffer_t
ggml_backend_alloc_ctx_tensors(struct ggml_context *ctx, ggml_backend_t backend)
{
    return ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_get_default_buffer_type(backend));
}
