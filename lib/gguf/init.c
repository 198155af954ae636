/* init.c - the public ways to open a GGUF file: contexts that own all */
#include <config.h>

#include "gguf/context.h"

#include <sys/stat.h>

#include "core/check.h"
#include "core/log.h"
#include "core/mem.h"

/* Bytes from the start of the data section to the end of the last tensor. */
static size_t
extent(const struct gguf_context *ctx)
{
    size_t end = 0;

    for (size_t i = 0; i < ctx->n_tensors; i++) {
        const struct gguf_tensor *t = &ctx->tensors[i];

        if (t->offset + t->size > end)
            end = (size_t)t->offset + t->size;
    }
    return end;
}

/* A pool that holds the tensors of the file and perhaps one more with the
 * data of all of them. */
static bool
pool_size(const struct gguf_context *ctx, bool with_data, size_t *out)
{
    size_t n = ctx->n_tensors + with_data, size, data = 0;

    if (with_data && !check_align(extent(ctx), GGML_MEM_ALIGN, &data))
        return false;
    return check_mul(n, ggml_tensor_overhead(), &size) &&
           check_add(size, data, out);
}

/* A tensor that holds a copy of the data section. */
static const char *
copy_data(struct ggml_context *pool, const struct gguf_context *ctx,
          const void *file)
{
    size_t size = extent(ctx);
    struct ggml_tensor *all =
        ggml_new_tensor_1d(pool, GGML_TYPE_I8, (int64_t)size);

    if (!all)
        return NULL;
    ggml_set_name(all, "GGUF tensor data");
    if (size)
        memcpy(all->data, (const char *)file + ctx->data_offset, size);
    return all->data;
}

static bool
make_tensors(struct ggml_context *pool, const struct gguf_context *ctx,
             const char *data)
{
    for (size_t i = 0; i < ctx->n_tensors; i++) {
        const struct gguf_tensor *t = &ctx->tensors[i];
        struct ggml_tensor *made =
            ggml_new_tensor(pool, t->type, t->n_dims, t->ne);

        if (!made)
            return false;
        ggml_set_name(made, t->name);
        if (data)
            made->data = (char *)(uintptr_t)data + t->offset;
    }
    return true;
}

/* Makes *params.ctx, with the data unless no_alloc. */
static enum gg_status
load(struct gguf_context *ctx, const void *file, struct gguf_init_params params,
     struct gg_error *err)
{
    bool with_data = !params.no_alloc && ctx->n_tensors > 0;
    struct ggml_init_params init = { .no_alloc = !with_data };
    struct ggml_context *pool = NULL;
    const char *data = NULL;
    bool done = false;

    if (pool_size(ctx, with_data, &init.mem_size))
        pool = ggml_init(init);
    if (pool && with_data)
        data = copy_data(pool, ctx, file);
    if (pool && (data || !with_data)) {
        ggml_set_no_alloc(pool, true);
        done = make_tensors(pool, ctx, data);
        ggml_set_no_alloc(pool, params.no_alloc);
    }
    if (!done) {
        ggml_free(pool);
        return error_nomem(err);
    }
    for (size_t i = 0; i < ctx->n_tensors; i++)
        if (data)
            ctx->tensors[i].data = data + ctx->tensors[i].offset;
    *params.ctx = pool;
    return GG_OK;
}

static enum gg_status
own_all(struct gguf_context *ctx, struct gg_error *err)
{
    for (size_t i = 0; i < ctx->n_tensors; i++)
        ctx->tensors[i].data = NULL; /* it lies in a mapping */
    return gguf_make_self_contained(ctx, err);
}

/* From the whole file in memory, which is not needed any more afterwards. */
static enum gg_status
init(const void *file, size_t size, const char *name,
     struct gguf_init_params params, struct gguf_context **out,
     struct gg_error *err)
{
    bool bare = params.no_alloc || !params.ctx;
    struct gguf_context *ctx = NULL;
    enum gg_status st = gguf_parse_some(file, size, name, bare, &ctx, err);

    if (st == GG_OK)
        st = own_all(ctx, err);
    if (st == GG_OK && params.ctx)
        st = load(ctx, file, params, err);
    if (st == GG_OK)
        *out = ctx;
    else
        gguf_free(ctx);
    return st;
}

static struct gguf_context *
report(struct gguf_context *ctx, enum gg_status st, const struct gg_error *err)
{
    if (st == GG_OK)
        return ctx;
    log_say(GGML_LOG_LEVEL_ERROR, "%s\n", err->message);
    return NULL;
}

struct gguf_context *
gguf_init_from_buffer(const void *data, size_t size,
                      struct gguf_init_params params)
{
    struct gguf_context *ctx = NULL;
    struct gg_error err;
    enum gg_status st = init(data, size, NULL, params, &ctx, &err);

    return report(ctx, st, &err);
}

struct gguf_context *
gguf_init_from_file(const char *fname, struct gguf_init_params params)
{
    struct gguf_context *ctx = NULL;
    struct file_map map;
    struct gg_error err;
    enum gg_status st = file_map(fname, &map, &err);

    if (st == GG_OK) {
        st = init(map.data, map.size, fname, params, &ctx, &err);
        file_unmap(&map);
    }
    return report(ctx, st, &err);
}

struct gguf_context *
gguf_init_from_shards(const char *fname)
{
    struct gguf_context *ctx = NULL;
    struct gguf_file file;
    struct gg_error err;
    enum gg_status st = gguf_file_open(fname, GGUF_OPEN_ALL, &file, &err);

    if (st == GG_OK)
        st = own_all(file.gguf, &err);
    if (st == GG_OK) {
        ctx = file.gguf;
        file.gguf = NULL;
    }
    gguf_file_close(&file);
    return report(ctx, st, &err);
}

/* Calls back until `limit` bytes are there, or a read comes up short. */
static enum gg_status
read_all(gguf_reader_callback_t callback, void *userdata, size_t chunk,
         uint64_t limit, uint8_t **data, size_t *size, struct gg_error *err)
{
    size_t cap = 0, n = 0, got, want;

    do {
        want = limit - n < 65536 ? (size_t)(limit - n) : 65536;
        if (n > want) /* the next read doubles what is there */
            want = limit - n < n ? (size_t)(limit - n) : n;
        if (chunk && want > chunk)
            want = chunk;
        if (!mem_grow(data, &cap, n + want, 1))
            return error_nomem(err);
        got = want ? callback(userdata, *data + n, n, want) : 0;
        n += got < want ? got : want;
    } while (want && got >= want);
    *size = n;
    return GG_OK;
}

struct gguf_context *
gguf_init_from_callback(gguf_reader_callback_t callback, void *userdata,
                        size_t max_chunk_read, uint64_t max_expected_size,
                        struct gguf_init_params params)
{
    struct gguf_context *ctx = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    struct gg_error err;
    enum gg_status st = read_all(callback, userdata, max_chunk_read,
                                 max_expected_size, &data, &size, &err);

    if (st == GG_OK)
        st = init(data, size, NULL, params, &ctx, &err);
    mem_free(data);
    return report(ctx, st, &err);
}

/* In the order of a stream. */
static size_t
read_stream(void *stream, void *output, uint64_t offset, size_t len)
{
    (void)offset;
    return fread(output, 1, len, stream);
}

/* What remains of a regular file is mapped; the stream then stands behind
 * what was read, as if it had been. */
static struct gguf_context *
init_from_map(FILE *file, off_t at, struct gguf_init_params params)
{
    struct gguf_context *ctx = NULL;
    struct file_map map;
    struct gg_error err;
    enum gg_status st = file_map_fd(fileno(file), "stream", &map, &err);
    size_t begin = (size_t)at, read;

    if (st != GG_OK)
        return report(NULL, st, &err);
    begin = begin < map.size ? begin : map.size;
    st = init((const char *)map.data + begin, map.size - begin, NULL, params,
              &ctx, &err);
    if (st == GG_OK) {
        read = begin + ctx->data_offset;
        if (params.ctx && !params.no_alloc)
            read += extent(ctx);
        fseeko(file, (off_t)(read < map.size ? read : map.size), SEEK_SET);
    }
    file_unmap(&map);
    return report(ctx, st, &err);
}

struct gguf_context *
gguf_init_from_file_ptr(FILE *file, struct gguf_init_params params)
{
    struct stat st;
    off_t at = fflush(file) == 0 ? ftello(file) : -1;

    if (at >= 0 && fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode))
        return init_from_map(file, at, params);
    return gguf_init_from_callback(read_stream, file, 0, SIZE_MAX / 2, params);
}
