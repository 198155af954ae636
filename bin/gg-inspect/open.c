/* open.c - the file, or all files of a model that was split */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/summary.h"

#include <string.h>

/* The library's last word is the reason why a file was not opened. */
static void
keep_message(enum ggml_log_level level, const char *text, void *data)
{
    struct gg_error *err = data;

    (void)level;
    snprintf(err->message, sizeof(err->message), "%.*s",
             (int)strcspn(text, "\n"), text);
}

/* The first of several; a later one is shown alone. */
static bool
has_others(const struct gguf_context *ctx)
{
    return meta_range(ctx, "split.count").max > 1 &&
           gguf_find_key(ctx, "split.no") >= 0 &&
           meta_range(ctx, "split.no").max == 0;
}

struct gguf_context *
inspect_open(const char *path, bool alone)
{
    struct gguf_init_params params = { .no_alloc = true };
    struct gg_error err = { "out of memory" };
    struct gguf_context *ctx, *all = NULL;

    ggml_log_set(keep_message, &err);
    ctx = gguf_init_from_file(path, params);
    if (ctx && !alone && has_others(ctx)) {
        all = gguf_init_from_shards(path);
        if (!all)
            cli_warn("%s; only the first file is shown", err.message);
    }
    ggml_log_set(NULL, NULL);
    if (!ctx)
        cli_die("%s", err.message);
    if (all)
        gguf_free(ctx);
    return all ? all : ctx;
}
