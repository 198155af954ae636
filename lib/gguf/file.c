/* file.c - a GGUF file, or all shards of one, mapped while it is open */
#include "gguf/shards.h"

#include "core/mem.h"

static bool
is_swapped(const struct file_map *map)
{
    uint32_t version = 0;

    if (map->size >= 8 && memcmp(map->data, GGUF_MAGIC, 4) == 0)
        memcpy(&version, (const char *)map->data + 4, sizeof(version));
    return gguf_is_swapped(version);
}

/* One of the other byte order is read into memory, where its numbers become the
 * machine's. */
static enum gg_status
take_file(const char *path, unsigned flags, struct file_map *map,
          struct gg_error *err)
{
    enum gg_status st;

    if (flags & GGUF_OPEN_READ)
        return file_read(path, map, err);
    st = file_map(path, map, err);
    if (st != GG_OK || !is_swapped(map))
        return st;
    file_unmap(map);
    return file_read(path, map, err);
}

static bool
is_aligned(const struct gguf_context *ctx)
{
    for (size_t i = 0; i < ctx->n_tensors; i++)
        if ((uintptr_t)ctx->tensors[i].data % GGUF_MIN_ALIGNMENT)
            return false;
    return true;
}

/* Copies the data of each tensor to where it is aligned. */
static void
place_data(const struct gguf_context *from, const struct gguf_context *to,
           uint8_t *p)
{
    for (size_t i = 0; i < to->n_tensors; i++) {
        p += -(uintptr_t)p % GGUF_DEFAULT_ALIGNMENT;
        if (to->tensors[i].size)
            memcpy(p, from->tensors[i].data, to->tensors[i].size);
        to->tensors[i].data = p;
        p += to->tensors[i].size;
    }
}

/* The file is copied to memory, with what its context points to. */
static enum gg_status
align_data(const char *path, struct file_map *map, struct gguf_context **ctx,
           struct gg_error *err)
{
    struct gguf_context *old = *ctx, *copy = NULL;
    size_t size = old->data_offset;
    struct file_map made = { 0 };
    enum gg_status st;

    for (size_t i = 0; i < old->n_tensors; i++)
        size += old->tensors[i].size + GGUF_DEFAULT_ALIGNMENT;
    st = file_map_memory(size, &made, err);
    if (st != GG_OK)
        return st;
    memcpy(made.data, map->data, old->data_offset);
    st = gguf_parse_some(made.data, old->data_offset, path,
                         GGUF_PARSE_BARE | GGUF_PARSE_SWAPPED, &copy, err);
    if (st == GG_OK)
        place_data(old, copy, (uint8_t *)made.data + old->data_offset);
    if (st != GG_OK) {
        file_unmap(&made);
        return st;
    }
    gguf_free(old);
    file_unmap(map);
    *map = made;
    *ctx = copy;
    return GG_OK;
}

static enum gg_status
open_one(const char *path, unsigned flags, struct file_map *map,
         struct gguf_context **out, struct gg_error *err)
{
    enum gg_status st = take_file(path, flags, map, err);

    if (st == GG_OK)
        st = gguf_parse_some(map->data, map->size, path,
                             map->filed ? 0 : GGUF_PARSE_SWAPPED, out, err);
    if (st == GG_OK && !(flags & GGUF_OPEN_KEYS) && !is_aligned(*out))
        st = align_data(path, map, out, err);
    if (st == GG_OK && flags & GGUF_OPEN_LOCK)
        st = file_lock(map, path, err);
    if (st == GG_OK)
        gguf_swap_data(*out);
    return st;
}

/* Its tensors go to the first one's context, which then describes all. */
static enum gg_status
open_next(const char *path, unsigned flags, const struct gguf_shards *of,
          struct gguf_file *file, struct gg_error *err)
{
    uint32_t no = (uint32_t)file->n_maps;
    char *name = gguf_shard_path(path, of, no);
    struct gguf_context *next = NULL;
    enum gg_status st = name ? GG_OK : error_nomem(err);

    if (st == GG_OK)
        st = open_one(name, flags, &file->maps[file->n_maps++], &next, err);
    if (st == GG_OK)
        st = gguf_join(file->gguf, next, no, of, err);
    gguf_free(next);
    mem_free(name);
    return st;
}

static bool
grow_maps(struct gguf_file *file, size_t n)
{
    struct file_map *maps = mem_array(n, sizeof(*maps));

    if (!maps)
        return false;
    memcpy(maps, file->maps, file->n_maps * sizeof(*maps));
    mem_free(file->maps);
    file->maps = maps;
    return true;
}

static enum gg_status
open_others(unsigned flags, struct gguf_file *file, struct gg_error *err)
{
    struct gguf_shards of;
    enum gg_status st = gguf_get_shards(file->gguf, &of, err);
    char *path = NULL;

    if (st != GG_OK || of.count == 1)
        return st;
    st = gguf_find_name(file->gguf, &of, &path, err);
    if (st == GG_OK && !grow_maps(file, of.count))
        st = error_nomem(err);
    while (st == GG_OK && file->n_maps < of.count)
        st = open_next(path, flags, &of, file, err);
    mem_free(path);
    return st == GG_OK ? gguf_join_end(file->gguf, &of, err) : st;
}

enum gg_status
gguf_file_open(const char *path, unsigned flags, struct gguf_file *out,
               struct gg_error *err)
{
    enum gg_status st;

    *out = (struct gguf_file){ .maps = mem_array(1, sizeof(*out->maps)) };
    if (!out->maps)
        return error_nomem(err);
    out->n_maps = 1;
    out->locked = flags & GGUF_OPEN_LOCK;
    st = open_one(path, flags, out->maps, &out->gguf, err);
    if (st == GG_OK)
        st = gguf_check_first(out->gguf, err);
    if (st == GG_OK && flags & GGUF_OPEN_ALL)
        st = open_others(flags, out, err);
    if (st != GG_OK)
        gguf_file_close(out);
    return st;
}

enum gg_status
gguf_file_take(struct gguf_file *to, struct gguf_file *from, gguf_take_fn named,
               const void *data, struct gg_error *err)
{
    size_t n = to->n_maps;

    if (!grow_maps(to, n + from->n_maps))
        return error_nomem(err);
    memcpy(to->maps + n, from->maps, from->n_maps * sizeof(*to->maps));
    to->n_maps = n + from->n_maps;
    from->n_maps = 0;
    return gguf_take_tensors(to->gguf, from->gguf, (uint32_t)n, named, data,
                             err);
}

void
gguf_file_close(struct gguf_file *file)
{
    gguf_free(file->gguf);
    for (size_t i = 0; i < file->n_maps; i++)
        file_unmap(&file->maps[i]);
    mem_free(file->maps);
    mem_free(file->note);
    *file = (struct gguf_file){ 0 };
}
