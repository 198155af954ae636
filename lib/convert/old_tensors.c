/* old_tensors.c - takes the tensors of a ggml, ggmf or ggjt file by name */
#include "convert/old.h"

struct old_tensor *
convert_old_find(const struct old_file *f, const char *name)
{
    uint32_t i;

    return hash_map_find(&f->names, name, strlen(name), &i) ? &f->tensors[i]
                                                            : NULL;
}

enum gg_status
convert_old_take(struct old_file *f, const struct old_name *names, size_t n,
                 uint32_t layer, struct gg_error *err)
{
    char from[GGML_MAX_NAME], to[GGML_MAX_NAME];
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < n && st == GG_OK; i++) {
        struct convert_tensor data = { 0 };
        struct old_tensor *t;

        convert_name(from, names[i].from, layer);
        convert_name(to, names[i].to, layer);
        t = convert_old_find(f, from);
        if (!t && names[i].optional)
            continue;
        if (!t)
            return convert_bad(f->out, err, "%s: the file has no such tensor",
                               from);
        t->used = true;
        data.blocks = t->blocks;
        data.data = t->data;
        st = convert_add(f->out, to, t->ne, &data, err);
    }
    return st;
}
