/* select.c - which tensors are looked at */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/inspect.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

static bool
fits(const struct gguf_context *ctx, int64_t tensor, const char *pattern)
{
    return !pattern ||
           fnmatch(pattern, gguf_get_tensor_name(ctx, tensor), 0) == 0;
}

int64_t *
select_tensors(const struct inspected *f, const struct inspect_options *o,
               int64_t *n)
{
    int64_t all = gguf_get_n_tensors(f->gguf), count = 0;
    int64_t *out = cli_alloc(NULL, (size_t)all, sizeof(*out));
    int64_t exact = o->tensor ? gguf_find_tensor(f->gguf, o->tensor) : -1;
    char shown[256];

    if (exact >= 0)
        out[count++] = exact;
    for (int64_t i = 0; i < all && exact < 0; i++)
        if (fits(f->gguf, i, o->tensor))
            out[count++] = i;
    if (count == 0 && o->tensor)
        cli_die("%s: %s: the file has no such tensor", f->path,
                gg_escape(shown, sizeof(shown), o->tensor, strlen(o->tensor)));
    *n = count;
    return out;
}

const char *
select_shape(char buf[96], const struct gguf_context *ctx, int64_t tensor)
{
    const int64_t *ne = gguf_get_tensor_ne(ctx, tensor);
    int n = 0;

    for (int i = 0; i < totals_dims(ctx, tensor); i++)
        n += snprintf(buf + n, 96 - (size_t)n, "%s%" PRId64, i ? "x" : "",
                      ne[i]);
    return buf;
}
