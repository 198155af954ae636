/* metadata.c - values of keys, whatever their type is */
#include <config.h>

#include "gg-inspect/metadata.h"

#include <math.h>

/* An integer that is not negative. */
static bool
to_integer(enum gguf_type type, const void *p, uint64_t *out)
{
    char text[32];
    unsigned long long v;
    char end;

    if (type == GGUF_TYPE_STRING || type == GGUF_TYPE_FLOAT32 ||
        type == GGUF_TYPE_FLOAT64 || type == GGUF_TYPE_BOOL)
        return false;
    if (sscanf(value_number(text, type, p), "%llu%c", &v, &end) != 1 ||
        text[0] == '-')
        return false;
    *out = v;
    return true;
}

struct range
meta_range(const struct gguf_context *ctx, const char *key)
{
    int64_t id = gguf_find_key(ctx, key);
    size_t n = id < 0 ? 0 : value_count(ctx, id);
    struct range r = { UINT64_MAX, 0 };

    if (n && value_element_type(ctx, id) == GGUF_TYPE_STRING)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t v;

        if (!to_integer(value_element_type(ctx, id), value_at(ctx, id, i), &v))
            return (struct range){ 0, 0 };
        r.min = v < r.min ? v : r.min;
        r.max = v > r.max ? v : r.max;
    }
    return r.max ? r : (struct range){ 0, 0 };
}

double
meta_float(const struct gguf_context *ctx, const char *key)
{
    int64_t id = gguf_find_key(ctx, key);
    double x = 0;

    if (id >= 0 && gguf_get_kv_type(ctx, id) == GGUF_TYPE_FLOAT32)
        x = (double)gguf_get_val_f32(ctx, id);
    else if (id >= 0 && gguf_get_kv_type(ctx, id) == GGUF_TYPE_FLOAT64)
        x = gguf_get_val_f64(ctx, id);
    return isfinite(x) ? x : 0;
}

struct text
meta_text(const struct gguf_context *ctx, const char *key)
{
    int64_t id = gguf_find_key(ctx, key);
    struct text t = { NULL, 0 };

    if (id >= 0 && gguf_get_kv_type(ctx, id) == GGUF_TYPE_STRING)
        t.s = value_string(ctx, id, 0, &t.len);
    return t;
}

size_t
meta_count(const struct gguf_context *ctx, const char *key)
{
    int64_t id = gguf_find_key(ctx, key);

    return id >= 0 && gguf_get_kv_type(ctx, id) == GGUF_TYPE_ARRAY
               ? value_count(ctx, id)
               : 0;
}
