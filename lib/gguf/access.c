/* access.c - the public getters: what a context holds, by number */
#include "gguf/context.h"

static const struct gguf_kv *
kv_at(const struct gguf_context *ctx, int64_t i)
{
    GGML_ASSERT(i >= 0 && (uint64_t)i < ctx->n_kv);
    return &ctx->kv[i];
}

enum gguf_byte_order
gguf_get_byte_order(const struct gguf_context *ctx)
{
    return ctx->order;
}

uint32_t
gguf_get_version(const struct gguf_context *ctx)
{
    return ctx->version;
}

size_t
gguf_get_alignment(const struct gguf_context *ctx)
{
    return ctx->alignment;
}

size_t
gguf_get_data_offset(const struct gguf_context *ctx)
{
    return ctx->data_offset;
}

int64_t
gguf_get_n_kv(const struct gguf_context *ctx)
{
    return (int64_t)ctx->n_kv;
}

int64_t
gguf_find_key(const struct gguf_context *ctx, const char *key)
{
    size_t len = strlen(key);
    uint32_t found;

    if (ctx->indexed)
        return hash_map_find(&ctx->keys, key, len, &found) ? (int64_t)found
                                                           : -1;
    for (size_t i = 0; i < ctx->n_kv; i++)
        if (strcmp(ctx->kv[i].key, key) == 0)
            return (int64_t)i;
    return -1;
}

const char *
gguf_get_key(const struct gguf_context *ctx, int64_t key_id)
{
    return kv_at(ctx, key_id)->key;
}

enum gguf_type
gguf_get_kv_type(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gguf_kv *kv = kv_at(ctx, key_id);

    return kv->is_array ? GGUF_TYPE_ARRAY : kv->type;
}

enum gguf_type
gguf_get_arr_type(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gguf_kv *kv = kv_at(ctx, key_id);

    GGML_ASSERT(kv->is_array);
    return kv->type;
}

#define VALUE(name, ctype, gtype)                                              \
    ctype gguf_get_val_##name(const struct gguf_context *ctx, int64_t key_id)  \
    {                                                                          \
        const struct gguf_kv *kv = kv_at(ctx, key_id);                         \
        ctype v;                                                               \
        GGML_ASSERT(!kv->is_array && kv->type == gtype);                       \
        memcpy(&v, &kv->scalar, sizeof(v));                                    \
        return v;                                                              \
    }
VALUE(u8, uint8_t, GGUF_TYPE_UINT8)
VALUE(i8, int8_t, GGUF_TYPE_INT8)
VALUE(u16, uint16_t, GGUF_TYPE_UINT16)
VALUE(i16, int16_t, GGUF_TYPE_INT16)
VALUE(u32, uint32_t, GGUF_TYPE_UINT32)
VALUE(i32, int32_t, GGUF_TYPE_INT32)
VALUE(f32, float, GGUF_TYPE_FLOAT32)
VALUE(u64, uint64_t, GGUF_TYPE_UINT64)
VALUE(i64, int64_t, GGUF_TYPE_INT64)
VALUE(f64, double, GGUF_TYPE_FLOAT64)
VALUE(bool, bool, GGUF_TYPE_BOOL)

const char *
gguf_get_val_str(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gguf_kv *kv = kv_at(ctx, key_id);

    GGML_ASSERT(!kv->is_array && kv->type == GGUF_TYPE_STRING);
    return kv->strings[0].s;
}

size_t
gguf_get_val_str_len(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gguf_kv *kv = kv_at(ctx, key_id);

    GGML_ASSERT(!kv->is_array && kv->type == GGUF_TYPE_STRING);
    return kv->strings[0].n;
}

const void *
gguf_get_val_data(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gguf_kv *kv = kv_at(ctx, key_id);

    GGML_ASSERT(!kv->is_array && kv->type != GGUF_TYPE_STRING);
    return &kv->scalar;
}

size_t
gguf_get_arr_n(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gguf_kv *kv = kv_at(ctx, key_id);

    GGML_ASSERT(kv->is_array);
    return kv->n;
}

const void *
gguf_get_arr_data(const struct gguf_context *ctx, int64_t key_id)
{
    const struct gguf_kv *kv = kv_at(ctx, key_id);

    GGML_ASSERT(kv->is_array && kv->type != GGUF_TYPE_STRING);
    GGML_ASSERT(ctx->self_contained); /* else it is not aligned */
    return kv->data;
}

static const struct gguf_str *
string_at(const struct gguf_context *ctx, int64_t key_id, size_t i)
{
    const struct gguf_kv *kv = kv_at(ctx, key_id);

    GGML_ASSERT(kv->is_array && kv->type == GGUF_TYPE_STRING && i < kv->n);
    return &kv->strings[i];
}

const char *
gguf_get_arr_str(const struct gguf_context *ctx, int64_t key_id, size_t i)
{
    GGML_ASSERT(ctx->self_contained); /* else it has no NUL */
    return string_at(ctx, key_id, i)->s;
}

size_t
gguf_get_arr_str_len(const struct gguf_context *ctx, int64_t key_id, size_t i)
{
    return string_at(ctx, key_id, i)->n;
}

int64_t
gguf_get_n_tensors(const struct gguf_context *ctx)
{
    return (int64_t)ctx->n_tensors;
}

const struct gguf_tensor *
gguf_tensor(const struct gguf_context *ctx, int64_t i)
{
    GGML_ASSERT(i >= 0 && (uint64_t)i < ctx->n_tensors);
    return &ctx->tensors[i];
}

int64_t
gguf_find_tensor(const struct gguf_context *ctx, const char *name)
{
    size_t len = strlen(name);
    uint32_t found;

    if (ctx->indexed)
        return hash_map_find(&ctx->names, name, len, &found) ? (int64_t)found
                                                             : -1;
    for (size_t i = 0; i < ctx->n_tensors; i++)
        if (strcmp(ctx->tensors[i].name, name) == 0)
            return (int64_t)i;
    return -1;
}

const struct gguf_tensor *
gguf_tensor_named(const struct gguf_context *ctx, const char *name)
{
    int64_t i = gguf_find_tensor(ctx, name);

    return i < 0 ? NULL : &ctx->tensors[i];
}

size_t
gguf_get_tensor_offset(const struct gguf_context *ctx, int64_t tensor_id)
{
    return (size_t)gguf_tensor(ctx, tensor_id)->offset;
}

const char *
gguf_get_tensor_name(const struct gguf_context *ctx, int64_t tensor_id)
{
    return gguf_tensor(ctx, tensor_id)->name;
}

const int64_t *
gguf_get_tensor_ne(const struct gguf_context *ctx, int64_t tensor_id)
{
    return gguf_tensor(ctx, tensor_id)->ne;
}

enum ggml_type
gguf_get_tensor_type(const struct gguf_context *ctx, int64_t tensor_id)
{
    return gguf_tensor(ctx, tensor_id)->type;
}

size_t
gguf_get_tensor_size(const struct gguf_context *ctx, int64_t tensor_id)
{
    return gguf_tensor(ctx, tensor_id)->size;
}

int64_t
gguf_get_n_shards(const struct gguf_context *ctx)
{
    return ctx->n_shards ? (int64_t)ctx->n_shards : 1;
}

const char *
gguf_get_shard_name(const struct gguf_context *ctx, int64_t shard_id)
{
    GGML_ASSERT(shard_id >= 0 && shard_id < gguf_get_n_shards(ctx));
    return ctx->n_shards ? ctx->shards[shard_id].name : NULL;
}

int64_t
gguf_get_tensor_shard(const struct gguf_context *ctx, int64_t tensor_id)
{
    return gguf_tensor(ctx, tensor_id)->shard;
}

size_t
gguf_get_tensor_place(const struct gguf_context *ctx, int64_t tensor_id)
{
    const struct gguf_tensor *t = gguf_tensor(ctx, tensor_id);

    return ctx->n_shards ? (size_t)t->place
                         : ctx->data_offset + (size_t)t->offset;
}
