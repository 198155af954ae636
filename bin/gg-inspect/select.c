/* select.c - which tensors are looked at, and in which order */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/inspect.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
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

/* A tensor with what decides its place; a field that does not is the same in
 * all of them. */
struct sorted_tensor {
    int64_t id;
    const char *text;
    size_t size;
};

static int
compare_tensors(const void *a, const void *b)
{
    const struct sorted_tensor *x = a, *y = b;
    int order = strcmp(x->text, y->text);

    if (order)
        return order;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static struct sorted_tensor
sorted_tensor(const struct gguf_context *ctx, int64_t id,
              enum inspect_order order)
{
    struct sorted_tensor t = { .id = id, .text = "" };

    if (order == ORDER_NAME)
        t.text = gguf_get_tensor_name(ctx, id);
    else if (order == ORDER_TYPE)
        t.text = ggml_type_name(gguf_get_tensor_type(ctx, id));
    else if (order == ORDER_SIZE)
        t.size = gguf_get_tensor_size(ctx, id);
    return t;
}

int64_t *
select_sorted(const struct gguf_context *ctx, enum inspect_order order)
{
    size_t n = (size_t)gguf_get_n_tensors(ctx);
    struct sorted_tensor *all = cli_alloc(NULL, n, sizeof(*all));
    int64_t *out = cli_alloc(NULL, n, sizeof(*out));

    for (size_t i = 0; i < n; i++)
        all[i] = sorted_tensor(ctx, (int64_t)i, order);
    if (n)
        qsort(all, n, sizeof(*all), compare_tensors);
    for (size_t i = 0; i < n; i++)
        out[i] = all[i].id;
    free(all);
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
