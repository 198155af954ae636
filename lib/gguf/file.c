/* file.c - a GGUF file that is mapped while it is open */
#include "gguf/reader.h"

enum gg_status
gguf_file_open(const char *path, struct gguf_file *out, struct gg_error *err)
{
    enum gg_status st;

    *out = (struct gguf_file){ 0 };
    st = file_map(path, &out->map, err);
    if (st == GG_OK)
        st = gguf_parse(out->map.data, out->map.size, path, &out->gguf, err);
    if (st != GG_OK)
        gguf_file_close(out);
    return st;
}

void
gguf_file_close(struct gguf_file *file)
{
    gguf_free(file->gguf);
    file_unmap(&file->map);
    file->gguf = NULL;
}
