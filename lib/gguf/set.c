/* set.c - filling a context that is to be written
 *
 * The public setters return nothing: where memory runs out the context
 * remembers it, gguf_out_of_memory() says so, and no writer writes anything. */
#include "gguf/context.h"

#include "core/check.h"
#include "core/mem.h"
#include "quant/types.h"

/* From here on keys and names are searched one by one. */
static void
drop_index(struct gguf_context *ctx)
{
    ctx->indexed = false;
    hash_map_clear(&ctx->keys);
    hash_map_clear(&ctx->names);
}

bool
gguf_lay_out(struct gguf_context *ctx)
{
    size_t offset = 0;
    bool fits = true;

    for (size_t i = 0; i < ctx->n_tensors && fits; i++) {
        struct gguf_tensor *t = &ctx->tensors[i];

        t->offset = offset;
        fits = check_add(offset, t->size, &offset) &&
               check_align(offset, ctx->alignment, &offset);
    }
    return fits;
}

static void
lay_out_tensors(struct gguf_context *ctx)
{
    if (!gguf_lay_out(ctx))
        GGML_ABORT("tensors of more bytes than can be counted");
}

static void
set_alignment(struct gguf_context *ctx, size_t alignment)
{
    ctx->alignment = alignment;
    lay_out_tensors(ctx);
}

int64_t
gguf_remove_key(struct gguf_context *ctx, const char *key)
{
    int64_t i = gguf_find_key(ctx, key);
    struct gguf_kv *kv;

    if (i < 0)
        return -1;
    if (strcmp(key, GGUF_KEY_GENERAL_ALIGNMENT) == 0)
        set_alignment(ctx, GGUF_DEFAULT_ALIGNMENT);
    kv = &ctx->kv[i];
    drop_index(ctx);
    mem_free(kv->key);
    mem_free(kv->owned);
    ctx->n_kv--;
    memmove(kv, kv + 1, (ctx->n_kv - (size_t)i) * sizeof(*kv));
    return i;
}

/* The pair for `key`, new, at the back; takes over `owned` in any case. NULL:
 * no memory. */
static struct gguf_kv *
new_kv(struct gguf_context *ctx, const char *key, enum gguf_type type,
       void *owned)
{
    size_t len = strlen(key);
    struct gguf_kv kv = { .key_len = len, .type = type, .n = 1 };

    GGML_ASSERT(len >= 1 && len <= GGUF_MAX_KEY);
    GGML_ASSERT(strcmp(key, GGUF_KEY_GENERAL_ALIGNMENT) != 0 ||
                type == GGUF_TYPE_UINT32);
    kv.key = mem_strndup(key, len);
    kv.owned = owned;
    gguf_remove_key(ctx, key);
    drop_index(ctx);
    if (!kv.key ||
        !mem_grow(&ctx->kv, &ctx->cap_kv, ctx->n_kv + 1, sizeof(kv))) {
        mem_free(kv.key);
        mem_free(owned);
        ctx->no_memory = true;
        return NULL;
    }
    ctx->kv[ctx->n_kv] = kv;
    return &ctx->kv[ctx->n_kv++];
}

#define SETTER(name, ctype, gtype)                                             \
    void gguf_set_val_##name(struct gguf_context *ctx, const char *key,        \
                             ctype val)                                        \
    {                                                                          \
        struct gguf_kv *kv = new_kv(ctx, key, gtype, NULL);                    \
        if (kv)                                                                \
            memcpy(&kv->scalar, &val, sizeof(val));                            \
    }
SETTER(u8, uint8_t, GGUF_TYPE_UINT8)
SETTER(i8, int8_t, GGUF_TYPE_INT8)
SETTER(u16, uint16_t, GGUF_TYPE_UINT16)
SETTER(i16, int16_t, GGUF_TYPE_INT16)
SETTER(i32, int32_t, GGUF_TYPE_INT32)
SETTER(f32, float, GGUF_TYPE_FLOAT32)
SETTER(u64, uint64_t, GGUF_TYPE_UINT64)
SETTER(i64, int64_t, GGUF_TYPE_INT64)
SETTER(f64, double, GGUF_TYPE_FLOAT64)
SETTER(bool, bool, GGUF_TYPE_BOOL)

void
gguf_set_val_u32(struct gguf_context *ctx, const char *key, uint32_t val)
{
    struct gguf_kv *kv = new_kv(ctx, key, GGUF_TYPE_UINT32, NULL);

    if (kv)
        memcpy(&kv->scalar, &val, sizeof(val));
    if (strcmp(key, GGUF_KEY_GENERAL_ALIGNMENT) != 0)
        return;
    GGML_ASSERT(check_power_of_two(val) && val >= GGUF_MIN_ALIGNMENT &&
                val <= GGUF_MAX_ALIGNMENT);
    set_alignment(ctx, val);
}

static void
set_strings(struct gguf_context *ctx, const char *key, bool is_array,
            const struct gguf_str *from, size_t n)
{
    struct gguf_str *strings = gguf_copy_strings(from, n);
    struct gguf_kv *kv;

    if (!strings) {
        ctx->no_memory = true;
        return;
    }
    kv = new_kv(ctx, key, GGUF_TYPE_STRING, strings);
    if (!kv)
        return;
    kv->is_array = is_array;
    kv->n = n;
    kv->strings = strings;
}

void
gguf_set_bytes(struct gguf_context *ctx, const char *key, const char *s,
               size_t n)
{
    set_strings(ctx, key, false, &(struct gguf_str){ s, n }, 1);
}

void
gguf_set_val_str(struct gguf_context *ctx, const char *key, const char *val)
{
    gguf_set_bytes(ctx, key, val, strlen(val));
}

void
gguf_set_strings(struct gguf_context *ctx, const char *key,
                 const struct gguf_str *strings, size_t n)
{
    set_strings(ctx, key, true, strings, n);
}

void
gguf_set_arr_str(struct gguf_context *ctx, const char *key, const char **data,
                 size_t n)
{
    struct gguf_str *from = mem_array(n, sizeof(*from));

    for (size_t i = 0; from && i < n; i++)
        from[i] = (struct gguf_str){ data[i], strlen(data[i]) };
    if (from)
        set_strings(ctx, key, true, from, n);
    else
        ctx->no_memory = true;
    mem_free(from);
}

void
gguf_set_arr_data(struct gguf_context *ctx, const char *key,
                  enum gguf_type type, const void *data, size_t n)
{
    size_t size = 0;
    void *copy;
    struct gguf_kv *kv;

    GGML_ASSERT(gguf_type_bytes(type) > 0);
    copy =
        check_mul(n, gguf_type_bytes(type), &size) ? mem_dup(data, size) : NULL;
    if (!copy) {
        ctx->no_memory = true;
        return;
    }
    kv = new_kv(ctx, key, type, copy);
    if (!kv)
        return;
    kv->is_array = true;
    kv->n = n;
    kv->data = copy;
}

void
gguf_copy_kv(struct gguf_context *ctx, const struct gguf_context *src,
             int64_t key_id)
{
    const struct gguf_kv *from;
    struct gguf_kv *kv;
    uint32_t v;

    GGML_ASSERT(key_id >= 0 && (uint64_t)key_id < src->n_kv);
    from = &src->kv[key_id];
    if (from->type == GGUF_TYPE_STRING) {
        set_strings(ctx, from->key, from->is_array, from->strings, from->n);
    } else if (from->is_array) {
        gguf_set_arr_data(ctx, from->key, from->type, from->data, from->n);
    } else if (from->type == GGUF_TYPE_UINT32) {
        v = (uint32_t)gguf_kv_bits(from);
        if (v && v < GGUF_MIN_ALIGNMENT && /* as a file may have it */
            strcmp(from->key, GGUF_KEY_GENERAL_ALIGNMENT) == 0)
            v = GGUF_MIN_ALIGNMENT;
        gguf_set_val_u32(ctx, from->key, v);
    } else {
        kv = new_kv(ctx, from->key, from->type, NULL);
        if (kv)
            kv->scalar = from->scalar;
    }
}

void
gguf_set_kv(struct gguf_context *ctx, const struct gguf_context *src)
{
    ctx->no_memory |= src->no_memory;
    for (size_t i = 0; i < src->n_kv; i++)
        gguf_copy_kv(ctx, src, (int64_t)i);
}

static void
set_size(struct gguf_tensor *t)
{
    const struct ggml_type_traits *traits = quant_traits(t->type);
    size_t size;

    GGML_ASSERT(traits && traits->blck_size > 0 &&
                t->ne[0] % traits->blck_size == 0);
    size = (size_t)(t->ne[0] / traits->blck_size);
    for (int i = 1; i < GGML_MAX_DIMS; i++)
        GGML_ASSERT(check_mul(size, (uint64_t)t->ne[i], &size));
    GGML_ASSERT(check_mul(size, traits->type_size, &t->size));
}

/* The dimensions that count: 1 to 4. */
static int
count_dims(const int64_t ne[GGML_MAX_DIMS])
{
    int n = GGML_MAX_DIMS;

    while (n > 1 && ne[n - 1] == 1)
        n--;
    return n;
}

void
gguf_add_tensor(struct gguf_context *ctx, const struct ggml_tensor *tensor)
{
    struct gguf_tensor t = { .type = tensor->type, .data = tensor->data };

    GGML_ASSERT(tensor->name[0] != '\0');
    if (gguf_find_tensor(ctx, tensor->name) >= 0)
        GGML_ABORT("two tensors are called %s", tensor->name);
    memcpy(t.ne, tensor->ne, sizeof(t.ne));
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        GGML_ASSERT(t.ne[i] >= 0);
    t.n_dims = count_dims(t.ne);
    set_size(&t);
    drop_index(ctx);
    t.name = mem_strndup(tensor->name, strlen(tensor->name));
    if (!t.name || !mem_grow(&ctx->tensors, &ctx->cap_tensors,
                             ctx->n_tensors + 1, sizeof(t))) {
        mem_free((void *)(uintptr_t)t.name);
        ctx->no_memory = true;
        return;
    }
    ctx->tensors[ctx->n_tensors++] = t;
    lay_out_tensors(ctx);
}

/* NULL: there was no memory to add it. */
static struct gguf_tensor *
must_find(struct gguf_context *ctx, const char *name)
{
    int64_t i = gguf_find_tensor(ctx, name);

    if (i < 0 && !ctx->no_memory)
        GGML_ABORT("no tensor is called %s", name);
    return i < 0 ? NULL : &ctx->tensors[i];
}

void
gguf_set_tensor_type(struct gguf_context *ctx, const char *name,
                     enum ggml_type type)
{
    struct gguf_tensor *t = must_find(ctx, name);

    if (!t)
        return;
    t->type = type;
    set_size(t);
    lay_out_tensors(ctx);
}

void
gguf_set_tensor_data(struct gguf_context *ctx, const char *name,
                     const void *data)
{
    struct gguf_tensor *t = must_find(ctx, name);

    if (t)
        t->data = data;
}

bool
gguf_out_of_memory(const struct gguf_context *ctx)
{
    return ctx->no_memory;
}

enum gg_status
gguf_finish(struct gguf_context *ctx, const char *name, struct gg_error *err)
{
    ctx->name = mem_strndup(name, strlen(name));
    if (ctx->no_memory || !ctx->name || !hash_map_init(&ctx->keys, ctx->n_kv) ||
        !hash_map_init(&ctx->names, ctx->n_tensors))
        return error_nomem(err);
    for (uint32_t i = 0; i < ctx->n_kv; i++)
        hash_map_add(&ctx->keys, ctx->kv[i].key, ctx->kv[i].key_len, i);
    for (uint32_t i = 0; i < ctx->n_tensors; i++)
        hash_map_add(&ctx->names, ctx->tensors[i].name,
                     strlen(ctx->tensors[i].name), i);
    ctx->indexed = true;
    return GG_OK;
}
