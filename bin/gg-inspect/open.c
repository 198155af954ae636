/* open.c - the file, or all files of a model that was split
 *
 * GGUF files are read, not mapped: their metadata can be looked into where the
 * data is not there. */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/model_summary.h"

#include <string.h>

/* The first of several; a later one is shown alone. */
static bool
has_others(const struct gguf_context *ctx)
{
    return meta_range(ctx, "split.count").max > 1 &&
           gguf_find_key(ctx, "split.no") >= 0 &&
           meta_range(ctx, "split.no").max == 0;
}

static struct gg_file *
open_file(const char *path, bool alone)
{
    struct gg_file *file, *all = NULL;
    struct gg_error err;

    cli_check(gg_file_open_metadata(path, GG_FILE_ALONE, &file, &err), &err);
    if (alone || strcmp(gg_file_format(file), "GGUF") != 0 ||
        !has_others(gg_file_gguf(file)))
        return file;
    if (gg_file_open_metadata(path, 0, &all, &err) != GG_OK) {
        cli_warn("%s; only the first file is shown", err.message);
        return file;
    }
    gg_file_close(file);
    return all;
}

/* Prepares all that readers need to take turns. */
static void
prepare_file(struct inspected *f)
{
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->freed, NULL);
    for (int64_t i = 0; i < gguf_get_n_tensors(f->gguf); i++)
        if (gguf_get_tensor_size(f->gguf, i) > f->largest)
            f->largest = gguf_get_tensor_size(f->gguf, i);
}

void
inspect_open(const char *path, bool alone, struct inspected *out)
{
    *out = (struct inspected){ .path = path };
    out->file = open_file(path, alone);
    out->gguf = gg_file_gguf(out->file);
    out->is_read = strcmp(gg_file_format(out->file), "GGUF") == 0;
    prepare_file(out);
}

void
inspect_close(struct inspected *f)
{
    pthread_cond_destroy(&f->freed);
    pthread_mutex_destroy(&f->lock);
    gg_file_close(f->file);
}
