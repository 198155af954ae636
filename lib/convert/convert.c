/* convert.c - opens a file of an older format */
#include "convert/convert.h"

#include "convert/model.h"
#include "core/mem.h"
#include "core/order.h"
#include "core/magic.h"

static const struct {
    bool (*is)(const struct file_map *map, const char **name);
    enum gg_status (*read)(struct convert_model *m, struct gg_error *err);
} formats[] = {
    { convert_is_old, convert_read_old },
    { convert_is_llama2c, convert_read_llama2c },
};

enum {
    N_FORMATS = sizeof(formats) / sizeof(formats[0])
};

static enum gg_status
not_a_model(const char *path, const struct file_map *map, struct gg_error *err)
{
    const char *name = magic_name(map->data, map->size);
    enum gg_status st;

    if (name)
        st = error_set(err, GG_ERR_UNSUPPORTED, "no model file, but %s", name);
    else if (map->size < 4)
        st = error_set(err, GG_ERR_FORMAT, "not a model: %zu bytes", map->size);
    else
        st = error_set(err, GG_ERR_FORMAT,
                       "not a model file of a format that is known here");
    return error_prefix(err, st, "%s", path);
}

/* Keys, tokens and tensors of the mapped file; *memory gets the data of the
 * tensors if they do not stay in it. */
static enum gg_status
read_model(struct convert_model *m, unsigned flags, struct file_map *memory,
           const char **format, struct gg_error *err)
{
    enum gg_status st = GG_ERR_FORMAT;
    size_t i = 0;

    while (i < N_FORMATS && !formats[i].is(m->map, format))
        i++;
    if (i == N_FORMATS)
        return not_a_model(m->path, m->map, err);
    st = formats[i].read(m, err);
    if (st == GG_OK)
        st = gguf_finish(m->gguf, m->path, err);
    /* They are little-endian. */
    if (st == GG_OK && (m->rewrites || CORE_BIG_ENDIAN) &&
        flags & GGUF_OPEN_ALL)
        st = convert_rewrite(m, memory, err);
    return st;
}

static enum gg_status
open_map(const char *path, unsigned flags, struct file_map *map,
         struct gguf_context **out, const char **format, struct gg_error *err)
{
    struct convert_model m = { .path = path, .map = map };
    struct file_map memory = { 0 };
    enum gg_status st;

    m.gguf = gguf_init_empty();
    st =
        m.gguf ? read_model(&m, flags, &memory, format, err) : error_nomem(err);
    mem_free(m.tensors);
    if (st == GG_OK) {
        *out = m.gguf;
    } else {
        gguf_free(m.gguf);
    }
    if (memory.data) { /* the file itself is not needed any more */
        file_unmap(map);
        *map = memory;
    }
    return st;
}

enum gg_status
convert_open(const char *path, unsigned flags, struct gguf_file *out,
             const char **format, struct gg_error *err)
{
    struct gguf_file file = { .maps = mem_array(1, sizeof(*file.maps)) };
    enum gg_status st;

    if (!file.maps)
        return error_nomem(err);
    *out = (struct gguf_file){ 0 };
    file.n_maps = 1;
    st = flags & GGUF_OPEN_READ ? file_read(path, file.maps, err)
                                : file_map(path, file.maps, err);
    if (st == GG_OK)
        st = open_map(path, flags, file.maps, &file.gguf, format, err);
    if (st == GG_OK && flags & GGUF_OPEN_LOCK)
        st = file_lock(file.maps, path, err);
    if (st == GG_OK)
        *out = file;
    else
        gguf_file_close(&file);
    return st;
}
