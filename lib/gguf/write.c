/* write.c - turns a context into the bytes of a GGUF file */
#include "gguf/context.h"

#include "core/log.h"
#include "core/mem.h"
#include "quant/order.h"

/* Where bytes go: to a stream, to memory, or nowhere, only to be counted. */
struct sink {
    bool swap; /* the file has the other byte order */
    FILE *stream;
    uint8_t *memory;
    size_t n;
};

static bool
is_swapped(const struct gguf_context *ctx)
{
    return ctx->order != GGUF_MACHINE_ORDER;
}

static void
write_bytes(struct sink *s, const void *data, size_t size)
{
    if (s->stream && size)
        fwrite(data, 1, size, s->stream); /* the caller asks ferror() */
    if (s->memory && size)
        memcpy(s->memory + s->n, data, size);
    s->n += size;
}

static void
put_u32(struct sink *s, uint32_t v)
{
    v = s->swap ? __builtin_bswap32(v) : v;
    write_bytes(s, &v, sizeof(v));
}

static void
put_u64(struct sink *s, uint64_t v)
{
    v = s->swap ? __builtin_bswap64(v) : v;
    write_bytes(s, &v, sizeof(v));
}

/* Whole numbers, or blocks of a type, in the order of the file. */
static void
put_swapped(struct sink *s, const void *data, size_t size, size_t each,
            void (*swap)(int type, void *piece, size_t size), int type)
{
    uint8_t piece[4096];
    size_t most = sizeof(piece) / each * each;

    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < most ? size - at : most;
        memcpy(piece, (const uint8_t *)data + at, n);
        swap(type, piece, n);
        write_bytes(s, piece, n);
    }
}

static void
swap_numbers(int type, void *piece, size_t size)
{
    size_t each = gguf_type_bytes((enum gguf_type)type);

    core_swap_array(piece, size / each, each);
}

static void
put_numbers(struct sink *s, const struct gguf_kv *kv)
{
    size_t each = gguf_type_bytes(kv->type);

    if (s->swap)
        put_swapped(s, gguf_kv_data(kv), kv->n * each, each, swap_numbers,
                    (int)kv->type);
    else
        write_bytes(s, gguf_kv_data(kv), kv->n * each);
}

static void
put_string(struct sink *s, const char *bytes, size_t n)
{
    put_u64(s, n);
    write_bytes(s, bytes, n);
}

static void
put_zeros(struct sink *s, size_t n)
{
    static const uint8_t zeros[4096];

    while (n) {
        size_t part = n < sizeof(zeros) ? n : sizeof(zeros);

        write_bytes(s, zeros, part);
        n -= part;
    }
}

/* The bytes that are missing from n to the next boundary. */
static size_t
pad_to(size_t n, size_t alignment)
{
    return (alignment - n % alignment) % alignment;
}

static void
put_kv(struct sink *s, const struct gguf_kv *kv)
{
    put_string(s, kv->key, kv->key_len);
    if (kv->is_array)
        put_u32(s, GGUF_TYPE_ARRAY);
    put_u32(s, kv->type);
    if (kv->is_array)
        put_u64(s, kv->n);
    if (kv->type != GGUF_TYPE_STRING)
        put_numbers(s, kv);
    else
        for (size_t i = 0; i < kv->n; i++)
            put_string(s, kv->strings[i].s, kv->strings[i].n);
}

static void
put_tensor(struct sink *s, const struct gguf_tensor *t)
{
    put_string(s, t->name, strlen(t->name));
    put_u32(s, (uint32_t)t->n_dims);
    for (int i = 0; i < t->n_dims; i++)
        put_u64(s, (uint64_t)t->ne[i]);
    put_u32(s, t->type);
    put_u64(s, t->offset);
}

static void
write_metadata(struct sink *s, const struct gguf_context *ctx)
{
    write_bytes(s, GGUF_MAGIC, 4);
    put_u32(s, ctx->version);
    put_u64(s, ctx->n_tensors);
    put_u64(s, ctx->n_kv);
    for (size_t i = 0; i < ctx->n_kv; i++)
        put_kv(s, &ctx->kv[i]);
    for (size_t i = 0; i < ctx->n_tensors; i++)
        put_tensor(s, &ctx->tensors[i]);
    put_zeros(s, pad_to(s->n, ctx->alignment));
}

static void
swap_blocks(int type, void *piece, size_t size)
{
    quant_swap_order((enum ggml_type)type, piece, size);
}

static void
put_tensor_data(struct sink *s, const struct gguf_tensor *t)
{
    if (s->swap)
        put_swapped(s, t->data, t->size, ggml_type_size(t->type), swap_blocks,
                    (int)t->type);
    else
        write_bytes(s, t->data, t->size);
}

/* Each at its offset, which in a context that was read from a file follows
 * no order. */
static enum gg_status
put_data(struct sink *s, const struct gguf_context *ctx, struct gg_error *err)
{
    const struct gguf_tensor **order = gguf_tensors_by_offset(ctx);
    size_t start = s->n;
    enum gg_status st = order ? GG_OK : error_nomem(err);

    for (size_t i = 0; i < ctx->n_tensors && st == GG_OK; i++) {
        const struct gguf_tensor *t = order[i];

        if (t->size == 0)
            continue;
        if (!t->data) {
            st = error_set(err, GG_ERR_ARG, "%s: the tensor has no data",
                           t->name);
            break;
        }
        put_zeros(s, t->offset - (s->n - start));
        put_tensor_data(s, t);
    }
    put_zeros(s, pad_to(s->n, ctx->alignment));
    mem_free(order);
    return st;
}

static enum gg_status
write_all(const struct gguf_context *ctx, FILE *stream, bool only_meta,
          struct gg_error *err)
{
    struct sink s = { .swap = is_swapped(ctx), .stream = stream };

    if (ctx->no_memory)
        return error_nomem(err);
    write_metadata(&s, ctx);
    return only_meta ? GG_OK : put_data(&s, ctx, err);
}

enum gg_status
gguf_save(const struct gguf_context *ctx, const char *path, bool only_meta,
          struct gg_error *err)
{
    struct file_out out;
    enum gg_status st = file_create(path, &out, err);

    if (st != GG_OK)
        return st;
    st = write_all(ctx, out.stream, only_meta, err);
    if (st != GG_OK) {
        file_discard(&out);
        return error_prefix(err, st, "%s", path);
    }
    return file_commit(&out, err);
}

bool
gguf_write_to_file(const struct gguf_context *ctx, const char *fname,
                   bool only_meta)
{
    struct gg_error err;
    enum gg_status st = gguf_save(ctx, fname, only_meta, &err);

    if (st != GG_OK)
        log_say(GGML_LOG_LEVEL_ERROR, "%s\n", err.message);
    return st == GG_OK;
}

bool
gguf_write_to_file_ptr(const struct gguf_context *ctx, FILE *file,
                       bool only_meta)
{
    struct gg_error err;
    enum gg_status st = write_all(ctx, file, only_meta, &err);

    if (st != GG_OK)
        log_say(GGML_LOG_LEVEL_ERROR, "%s\n", err.message);
    return st == GG_OK && fflush(file) == 0 && !ferror(file);
}

/* The metadata to memory, or only counted. A context that lacks what a setter
 * had no memory for has none. */
static size_t
meta(const struct gguf_context *ctx, void *memory)
{
    struct sink s = { .swap = is_swapped(ctx), .memory = memory };

    if (ctx->no_memory)
        log_say(GGML_LOG_LEVEL_ERROR, "out of memory\n");
    else
        write_metadata(&s, ctx);
    return s.n;
}

size_t
gguf_get_meta_size(const struct gguf_context *ctx)
{
    return meta(ctx, NULL);
}

void
gguf_get_meta_data(const struct gguf_context *ctx, void *data)
{
    meta(ctx, data);
}
