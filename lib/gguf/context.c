/* context.c - the life of a GGUF context, and what it holds by value */
#include "gguf/context.h"

#include "core/check.h"
#include "core/mem.h"

struct gguf_context *
gguf_init_empty(void)
{
    struct gguf_context *ctx = mem_zalloc(sizeof(*ctx));

    if (!ctx)
        return NULL;
    ctx->version = GGUF_VERSION;
    ctx->order = GGUF_MACHINE_ORDER;
    ctx->alignment = GGUF_DEFAULT_ALIGNMENT;
    ctx->self_contained = true;
    return ctx;
}

void
gguf_free(struct gguf_context *ctx)
{
    if (!ctx)
        return;
    for (size_t i = 0; i < ctx->n_kv; i++) {
        mem_free(ctx->kv[i].key);
        mem_free(ctx->kv[i].owned);
    }
    for (size_t i = 0; i < ctx->n_tensors; i++)
        mem_free((void *)(uintptr_t)ctx->tensors[i].name);
    for (size_t i = 0; i < ctx->n_shards; i++)
        mem_free(ctx->shards[i].name);
    hash_map_clear(&ctx->keys);
    hash_map_clear(&ctx->names);
    mem_free(ctx->kv);
    mem_free(ctx->tensors);
    mem_free(ctx->shards);
    mem_free(ctx->name);
    mem_free(ctx);
}

/* The table of n strings, then their bytes, each with its NUL. */
static bool
strings_size(const struct gguf_str *from, size_t n, size_t *out)
{
    size_t size;

    if (!check_mul(n, sizeof(*from), &size))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!check_add(size, from[i].n, &size) || !check_add(size, 1, &size))
            return false;
    *out = size;
    return true;
}

struct gguf_str *
gguf_copy_strings(const struct gguf_str *from, size_t n)
{
    size_t size;
    struct gguf_str *to;
    char *bytes;

    to = strings_size(from, n, &size) ? mem_zalloc(size) : NULL;
    if (!to)
        return NULL;
    bytes = (char *)(to + n);
    for (size_t i = 0; i < n; i++) {
        to[i] = (struct gguf_str){ bytes, from[i].n };
        if (from[i].n)
            memcpy(bytes, from[i].s, from[i].n);
        bytes += from[i].n + 1; /* zeroed: the NUL is there */
    }
    return to;
}

static bool
own_array(struct gguf_kv *kv)
{
    void *copy;

    if (kv->type == GGUF_TYPE_STRING)
        copy = gguf_copy_strings(kv->strings, kv->n);
    else
        copy = mem_dup(kv->data, kv->n * gguf_type_bytes(kv->type));
    if (!copy)
        return false;
    mem_free(kv->owned);
    kv->owned = copy;
    kv->strings = kv->type == GGUF_TYPE_STRING ? copy : NULL;
    kv->data = kv->type == GGUF_TYPE_STRING ? NULL : copy;
    return true;
}

enum gg_status
gguf_make_self_contained(struct gguf_context *ctx, struct gg_error *err)
{
    for (size_t i = 0; i < ctx->n_kv; i++)
        if (ctx->kv[i].is_array && !own_array(&ctx->kv[i]))
            return error_nomem(err);
    ctx->self_contained = true;
    return GG_OK;
}
