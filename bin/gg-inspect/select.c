/* select.c - which tensors are looked at */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/inspect.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

bool
select_fits(const struct inspected *f, const struct inspect_options *o,
            int64_t tensor)
{
    const char *name = gguf_get_tensor_name(f->gguf, tensor);

    return !o->tensor || strcmp(o->tensor, name) == 0 ||
           fnmatch(o->tensor, name, 0) == 0;
}

int64_t *
select_all(const struct inspected *f, const struct inspect_options *o,
           int64_t *n)
{
    int64_t all = gguf_get_n_tensors(f->gguf), count = 0;
    int64_t *out = cli_alloc(NULL, (size_t)all, sizeof(*out));

    for (int64_t i = 0; i < all; i++)
        if (select_fits(f, o, i))
            out[count++] = i;
    *n = count;
    return out;
}

int64_t *
select_tensors(const struct inspected *f, const struct inspect_options *o,
               int64_t *n)
{
    int64_t *out = select_all(f, o, n);
    char shown[256];

    if (*n == 0 && o->tensor)
        cli_die("%s: %s: the file has no such tensor", f->path,
                gg_escape(shown, sizeof(shown), o->tensor, strlen(o->tensor)));
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
