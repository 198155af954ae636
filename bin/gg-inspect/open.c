/* open.c - the file, or all files of a model that was split
 *
 * GGUF files are read, not mapped: their metadata can be looked into where the
 * data is not there. */
#include <config.h>

#include "common/cli.h"
#include "common/gguf.h"
#include "gg-inspect/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first of several; a later one is shown alone. */
static bool
has_others(const struct gguf_context *ctx)
{
    return meta_range(ctx, "split.count").max > 1 &&
           gguf_find_key(ctx, "split.no") >= 0 &&
           meta_range(ctx, "split.no").max == 0;
}

static struct gguf_context *
open_gguf(const char *path, bool alone)
{
    struct gg_error err;
    struct gguf_context *ctx = gguf_metadata(path, false, &err), *all = NULL;

    if (!ctx)
        cli_die("%s", err.message);
    if (!alone && has_others(ctx)) {
        all = gguf_metadata(path, true, &err);
        if (!all)
            cli_warn("%s; only the first file is shown", err.message);
    }
    if (all)
        gguf_free(ctx);
    return all ? all : ctx;
}

/* What is neither a regular file nor a folder is left to open_gguf() to
 * refuse. */
static bool
is_gguf(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char magic[4];
    struct stat st;
    bool is;

    if (fd < 0)
        cli_die("%s: %s", path, strerror(errno));
    is = fstat(fd, &st) || !S_ISREG(st.st_mode) ||
         pread(fd, magic, 4, 0) < 4 || memcmp(magic, GGUF_MAGIC, 4) == 0;
    if (S_ISDIR(st.st_mode))
        is = false;
    close(fd);
    return is;
}

/* What readers need to take turns. */
static void
prepare(struct inspected *f)
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
    struct gg_error err;

    *out = (struct inspected){ .path = path };
    if (is_gguf(path)) {
        out->own = open_gguf(path, alone);
        out->gguf = out->own;
    } else if (gg_file_open(path, &out->file, &err) == GG_OK) {
        out->gguf = gg_file_gguf(out->file);
    } else {
        cli_die("%s", err.message);
    }
    prepare(out);
}

void
inspect_close(struct inspected *f)
{
    pthread_cond_destroy(&f->freed);
    pthread_mutex_destroy(&f->lock);
    gguf_free(f->own);
    gg_file_close(f->file);
}
