/* context.c - the pool of objects, and walking over its tensors */
#include "tensor/context.h"

#include <assert.h>
#include <string.h>

#include "core/check.h"
#include "core/mem.h"
#include "tensor/tensor.h"

static_assert(sizeof(struct ggml_object) % GGML_MEM_ALIGN == 0,
              "objects keep the pool aligned");

size_t
ggml_tensor_overhead(void)
{
    return sizeof(struct ggml_object) + TENSOR_BYTES;
}

struct ggml_context *
ggml_init(struct ggml_init_params params)
{
    struct ggml_context *ctx = mem_zalloc(sizeof(*ctx));
    bool owned = !params.mem_buffer;
    size_t size = params.mem_size ? params.mem_size : GGML_MEM_ALIGN;
    void *mem = params.mem_buffer;

    GGML_ASSERT((uintptr_t)mem % GGML_MEM_ALIGN == 0);
    if (owned && check_align(size, GGML_MEM_ALIGN, &size))
        mem = mem_aligned(GGML_MEM_ALIGN, size);
    if (!ctx || !mem) {
        mem_free(ctx);
        mem_free(owned ? mem : NULL);
        return NULL;
    }
    ctx->mem = mem;
    ctx->mem_size = size;
    ctx->owned = owned;
    ctx->no_alloc = params.no_alloc;
    return ctx;
}

void
ggml_reset(struct ggml_context *ctx)
{
    if (ctx)
        ctx->first = ctx->last = NULL;
}

void
ggml_free(struct ggml_context *ctx)
{
    if (!ctx)
        return;
    if (ctx->owned)
        mem_free(ctx->mem);
    mem_free(ctx);
}

size_t
ggml_used_mem(const struct ggml_context *ctx)
{
    return ctx->last ? ctx->last->offs + ctx->last->size : 0;
}

void *
tensor_context_new_object(struct ggml_context *ctx, enum ggml_object_type type,
                          size_t size)
{
    size_t start = ggml_used_mem(ctx), end;
    struct ggml_object *object = (void *)(ctx->mem + start);

    if (!check_align(size, GGML_MEM_ALIGN, &size) ||
        !check_add(start + sizeof(*object), size, &end) || end > ctx->mem_size)
        GGML_ABORT("the context's pool of %zu bytes is full: %zu used, "
                   "%zu more needed",
                   ctx->mem_size, start, size + sizeof(*object));
    *object = (struct ggml_object){ .offs = start + sizeof(*object),
                                    .size = size,
                                    .type = type };
    if (ctx->last)
        ctx->last->next = object;
    else
        ctx->first = object;
    ctx->last = object;
    return object + 1;
}

void *
ggml_new_buffer(struct ggml_context *ctx, size_t nbytes)
{
    return tensor_context_new_object(ctx, GGML_OBJECT_TYPE_WORK_BUFFER, nbytes);
}

bool
ggml_get_no_alloc(struct ggml_context *ctx)
{
    return ctx->no_alloc;
}

void
ggml_set_no_alloc(struct ggml_context *ctx, bool no_alloc)
{
    ctx->no_alloc = no_alloc;
}

void *
ggml_get_mem_buffer(const struct ggml_context *ctx)
{
    return ctx->mem;
}

size_t
ggml_get_mem_size(const struct ggml_context *ctx)
{
    return ctx->mem_size;
}

static struct ggml_tensor *
tensor_from(struct ggml_object *object)
{
    while (object && object->type != GGML_OBJECT_TYPE_TENSOR)
        object = object->next;
    return object ? (struct ggml_tensor *)(void *)(object + 1) : NULL;
}

struct ggml_tensor *
ggml_get_first_tensor(const struct ggml_context *ctx)
{
    return tensor_from(ctx->first);
}

struct ggml_tensor *
ggml_get_next_tensor(const struct ggml_context *ctx, struct ggml_tensor *tensor)
{
    (void)ctx;
    return tensor_from(((struct ggml_object *)(void *)tensor - 1)->next);
}

struct ggml_tensor *
ggml_get_tensor(struct ggml_context *ctx, const char *name)
{
    struct ggml_tensor *t = ggml_get_first_tensor(ctx);

    while (t && strcmp(t->name, name) != 0)
        t = ggml_get_next_tensor(ctx, t);
    return t;
}

size_t
ggml_get_max_tensor_size(const struct ggml_context *ctx)
{
    struct ggml_tensor *t = ggml_get_first_tensor(ctx);
    size_t largest = 0;

    for (; t; t = ggml_get_next_tensor(ctx, t))
        if (ggml_nbytes(t) > largest)
            largest = ggml_nbytes(t);
    return largest;
}
