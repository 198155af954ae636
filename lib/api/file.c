/* file.c - a model file of any format */
#include "api/file.h"

#include "convert/convert.h"
#include "core/mem.h"

struct gg_file {
    struct gguf_file file;
    const char *format;
};

static enum gg_status
is_gguf(const char *path, bool *out, struct gg_error *err)
{
    struct file_map map;
    enum gg_status st = file_map(path, &map, err);

    if (st != GG_OK)
        return st;
    *out = map.size >= 4 && memcmp(map.data, GGUF_MAGIC, 4) == 0;
    file_unmap(&map);
    return GG_OK;
}

enum gg_status
api_open(const char *path, unsigned flags, struct gguf_file *out,
         const char **format, struct gg_error *err)
{
    const char *name = "GGUF";
    bool gguf = false;
    enum gg_status st = is_gguf(path, &gguf, err);

    if (st == GG_OK)
        st = gguf ? gguf_file_open(path, flags, out, err)
                  : convert_open(path, flags, out, &name, err);
    if (st == GG_OK && format)
        *format = name;
    return st;
}

enum gg_status
gg_file_open(const char *path, struct gg_file **out, struct gg_error *err)
{
    struct gg_file *f = mem_zalloc(sizeof(*f));
    enum gg_status st = f ? GG_OK : error_nomem(err);

    if (st == GG_OK)
        st = api_open(path, GGUF_OPEN_ALL, &f->file, &f->format, err);
    if (st == GG_OK)
        *out = f;
    else
        mem_free(f);
    return st;
}

void
gg_file_close(struct gg_file *file)
{
    if (!file)
        return;
    gguf_file_close(&file->file);
    mem_free(file);
}

const struct gguf_context *
gg_file_gguf(const struct gg_file *file)
{
    return file->file.gguf;
}

const char *
gg_file_format(const struct gg_file *file)
{
    return file->format;
}

const void *
gg_file_data(const struct gg_file *file, int64_t tensor)
{
    return gguf_tensor(file->file.gguf, tensor)->data;
}
