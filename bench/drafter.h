/* drafter.h - files that draft for another model */
#ifndef BENCH_DRAFTER_H
#define BENCH_DRAFTER_H

#include <gg.h>
#include <gguf.h>

/* Whether a file is a drafter, which is opened as a part of the model. */
static inline bool
bench_is_drafter(const char *path)
{
    struct gg_file *file;
    const struct gguf_context *gguf;
    int64_t i;
    bool drafts;

    if (gg_file_open_metadata(path, 0, &file, NULL) != GG_OK)
        return false;
    gguf = gg_file_gguf(file);
    i = gguf_find_key(gguf, "general.architecture");
    drafts = i >= 0 && gguf_get_kv_type(gguf, i) == GGUF_TYPE_STRING &&
             gg_model_drafts(gguf_get_val_str(gguf, i));
    gg_file_close(file);
    return drafts;
}

#endif
