/* init.c - the public ways to open a GGUF file: contexts that own all */
#include <config.h>

#include "gguf/skim.h"

#include <inttypes.h>
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

        if (t->size && t->offset + t->size > end)
            end = (size_t)t->offset + t->size;
    }
    return end;
}

/* Fills the data section of a context, of which the pool wants `size` bytes. */
struct data {
    enum gg_status (*read)(const struct data *d, void *out, size_t size,
                           struct gg_error *err);
    const struct gguf_context *ctx;
    const void *file;           /* all of it in memory, or */
    struct gguf_source *source; /* what its metadata was read from */
};

static enum gg_status
copy_file(const struct data *d, void *out, size_t size, struct gg_error *err)
{
    (void)err;
    if (size)
        memcpy(out, (const char *)d->file + d->ctx->data_offset, size);
    return GG_OK;
}

/* The file may have less padding, where no data follows. */
static void
read_padding(struct gguf_source *source, const struct gguf_context *ctx)
{
    uint8_t padding[4096];

    while (source->at < ctx->data_offset) {
        uint64_t left = ctx->data_offset - source->at;
        size_t n = left < sizeof(padding) ? (size_t)left : sizeof(padding);

        if (gguf_source_read(source, padding, n) < n)
            return;
    }
}

static enum gg_status
read_data(const struct data *d, void *out, size_t size, struct gg_error *err)
{
    read_padding(d->source, d->ctx);
    if (gguf_source_read(d->source, out, size) < size)
        return error_set(err, GG_ERR_TRUNCATED, "file ends in its data");
    return GG_OK;
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

/* The first tensor of a pool with data: all of it, under upstream's name. */
static enum gg_status
load_data(struct ggml_context *pool, struct gguf_context *ctx,
          const struct data *d, struct gg_error *err)
{
    size_t size = extent(ctx);
    struct ggml_tensor *all =
        ggml_new_tensor_1d(pool, GGML_TYPE_I8, (int64_t)size);
    char *data = all->data ? all->data : (char *)all; /* NULL: no byte */
    enum gg_status st;

    ggml_set_name(all, "GGUF tensor data binary blob");
    for (size_t i = 0; i < ctx->n_tensors; i++) {
        struct gguf_tensor *t = &ctx->tensors[i];

        t->data = data + (t->size ? t->offset : 0);
    }
    st = d->read(d, data, size, err);
    if (st == GG_OK)
        gguf_swap_data(ctx);
    return st;
}

static void
make_tensors(struct ggml_context *pool, const struct gguf_context *ctx)
{
    for (size_t i = 0; i < ctx->n_tensors; i++) {
        const struct gguf_tensor *t = &ctx->tensors[i];
        struct ggml_tensor *made =
            ggml_new_tensor(pool, t->type, GGML_MAX_DIMS, t->ne);

        ggml_set_name(made, t->name);
        made->data = (void *)(uintptr_t)t->data;
    }
}

/* Makes *params.ctx, with the data unless no_alloc. */
static enum gg_status
load_file(struct gguf_context *ctx, const struct data *d,
          struct gguf_init_params params, struct gg_error *err)
{
    struct ggml_init_params init = { .no_alloc = params.no_alloc };
    struct ggml_context *pool = NULL;
    enum gg_status st = GG_OK;

    if (pool_size(ctx, !params.no_alloc, &init.mem_size))
        pool = ggml_init(init);
    if (!pool)
        return error_nomem(err);
    if (!params.no_alloc)
        st = load_data(pool, ctx, d, err);
    if (st != GG_OK) {
        ggml_free(pool);
        return st;
    }
    ggml_set_no_alloc(pool, true);
    make_tensors(pool, ctx);
    ggml_set_no_alloc(pool, params.no_alloc);
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

static enum gg_status
own_and_load(struct gguf_context *ctx, struct data *d,
             struct gguf_init_params params, struct gg_error *err)
{
    enum gg_status st = own_all(ctx, err);

    d->ctx = ctx;
    return st == GG_OK && params.ctx ? load_file(ctx, d, params, err) : st;
}

/* From the whole file in memory, which is not needed any more afterwards.
 * `bare`: how it is parsed where no data is read. */
static enum gg_status
init(const void *file, size_t size, const char *name, unsigned bare,
     struct gguf_init_params params, struct gguf_context **out,
     struct gg_error *err)
{
    bool reads = params.ctx && !params.no_alloc;
    unsigned flags = GGUF_PARSE_SWAPPED | (reads ? 0 : bare);
    struct data d = { .read = copy_file, .file = file };
    struct gguf_context *ctx = NULL;
    enum gg_status st = gguf_parse_some(file, size, name, flags, &ctx, err);

    if (st == GG_OK)
        st = own_and_load(ctx, &d, params, err);
    if (st == GG_OK)
        *out = ctx;
    else
        gguf_free(ctx);
    return st;
}

/* Called before the memory that it would take is requested. */
static enum gg_status
check_limit(const struct gguf_source *source, const struct gguf_context *ctx,
            struct gg_error *err)
{
    if (extent(ctx) == 0 || (ctx->data_offset <= source->limit &&
                             extent(ctx) <= source->limit - ctx->data_offset))
        return GG_OK;
    return error_set(err, GG_ERR_TRUNCATED, "data ends past end of file");
}

/* From what comes, byte after byte; no more is read than is wanted. */
static enum gg_status
init_source(struct gguf_source *source, struct gguf_init_params params,
            struct gguf_context **out, struct gg_error *err)
{
    struct data d = { .read = read_data, .source = source };
    struct gguf_context *ctx = NULL;
    uint8_t *metadata = NULL;
    size_t size;
    enum gg_status st = gguf_skim(source, &metadata, &size, err);

    if (st == GG_OK)
        st = gguf_parse_some(metadata, size, NULL,
                             GGUF_PARSE_CUT | GGUF_PARSE_SWAPPED, &ctx, err);
    if (st == GG_OK && params.ctx && !params.no_alloc)
        st = check_limit(source, ctx, err);
    if (st == GG_OK)
        st = own_and_load(ctx, &d, params, err);
    if (st == GG_OK)
        *out = ctx;
    else
        gguf_free(ctx);
    mem_free(metadata);
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
    enum gg_status st =
        init(data, size, NULL, GGUF_PARSE_CUT, params, &ctx, &err);

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
        st =
            init(map.data, map.size, fname, GGUF_PARSE_CUT, params, &ctx, &err);
        file_unmap(&map);
    }
    return report(ctx, st, &err);
}

enum gg_status
gguf_read_metadata(const char *path, bool all, struct gguf_context **out,
                   struct gg_error *err)
{
    static const struct gguf_init_params bare = { .no_alloc = true };
    struct gguf_file file = { 0 };
    struct file_map map;
    enum gg_status st;

    if (!all) {
        st = file_map(path, &map, err);
        if (st != GG_OK)
            return st;
        st = init(map.data, map.size, path, GGUF_PARSE_BARE, bare, out, err);
        file_unmap(&map);
        return st;
    }
    st = gguf_file_open(path, GGUF_OPEN_ALL, &file, err);
    if (st == GG_OK)
        st = own_all(file.gguf, err);
    if (st == GG_OK) {
        *out = file.gguf;
        file.gguf = NULL;
    }
    gguf_file_close(&file);
    return st;
}

struct gguf_context *
gguf_init_from_shards(const char *fname)
{
    struct gguf_context *ctx = NULL;
    struct gg_error err;
    enum gg_status st = gguf_read_metadata(fname, true, &ctx, &err);

    return report(ctx, st, &err);
}

struct gguf_context *
gguf_init_from_callback(gguf_reader_callback_t callback, void *userdata,
                        size_t max_chunk_read, uint64_t max_expected_size,
                        struct gguf_init_params params)
{
    struct gguf_context *ctx = NULL;
    struct gguf_source source = { callback, userdata, max_chunk_read,
                                  max_expected_size, 0 };
    struct gg_error err;
    enum gg_status st = init_source(&source, params, &ctx, &err);

    return report(ctx, st, &err);
}

/* In the order of a stream. */
static size_t
read_stream(void *stream, void *output, uint64_t offset, size_t len)
{
    (void)offset;
    return fread(output, 1, len, stream);
}

/* The rest of a regular file is mapped; the stream then stands after the part
 * that was used, as if it had been read. */
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
    st = init((const char *)map.data + begin, map.size - begin, NULL,
              GGUF_PARSE_CUT, params, &ctx, &err);
    if (st == GG_OK) {
        read = begin + ctx->data_offset;
        if (params.ctx && !params.no_alloc)
            read += extent(ctx);
        fseeko(file, (off_t)(read < map.size ? read : map.size), SEEK_SET);
    }
    file_unmap(&map);
    return report(ctx, st, &err);
}

/* A pipe stands after the padding afterwards, as a file does. */
static struct gguf_context *
init_from_pipe(FILE *file, struct gguf_init_params params)
{
    struct gguf_context *ctx = NULL;
    struct gguf_source source = { read_stream, file, 0, SIZE_MAX / 2, 0 };
    struct gg_error err;
    enum gg_status st = init_source(&source, params, &ctx, &err);

    if (st == GG_OK)
        read_padding(&source, ctx);
    return report(ctx, st, &err);
}

struct gguf_context *
gguf_init_from_file_ptr(FILE *file, struct gguf_init_params params)
{
    struct stat st;
    off_t at = fflush(file) == 0 ? ftello(file) : -1;

    if (at >= 0 && fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode))
        return init_from_map(file, at, params);
    return init_from_pipe(file, params);
}
