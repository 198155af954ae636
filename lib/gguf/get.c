/* get.c - typed values for the other modules: checked, and named where wrong */
#include "gguf/context.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/escape.h"

static enum gg_status
about_key(const struct gguf_context *ctx, const char *key,
          enum gg_status status, struct gg_error *err)
{
    char shown[128];

    escape_bytes(shown, sizeof(shown), key, strlen(key));
    error_prefix(err, status, "%s", shown);
    return gguf_in_file(ctx, status, err);
}

enum gg_status
gguf_bad_value(const struct gguf_context *ctx, const char *key,
               struct gg_error *err, const char *fmt, ...)
{
    va_list ap;

    if (err) {
        va_start(ap, fmt);
        vsnprintf(err->message, sizeof(err->message), fmt, ap);
        va_end(ap);
    }
    return about_key(ctx, key, GG_ERR_FORMAT, err);
}

static enum gg_status
missing(const struct gguf_context *ctx, const char *key, struct gg_error *err)
{
    return gguf_bad_value(ctx, key, err,
                          "the file has no such key, which a "
                          "model must have: convert it again, or add "
                          "the key with gg-convert");
}

static enum gg_status
wrong_type(const struct gguf_context *ctx, const char *key,
           const struct gguf_kv *kv, const char *wanted, struct gg_error *err)
{
    return gguf_bad_value(ctx, key, err, "%s%s found where %s is needed",
                          kv->is_array ? "an array of " : "",
                          gguf_type_name(kv->type), wanted);
}

static const struct gguf_kv *
find_kv(const struct gguf_context *ctx, const char *key)
{
    int64_t i = gguf_find_key(ctx, key);

    return i < 0 ? NULL : &ctx->kv[i];
}

/* The single integer's value: its sign, and the distance from zero. */
static bool
integer(const struct gguf_kv *kv, bool *negative, uint64_t *magnitude)
{
    uint64_t u;
    int64_t i;

    if (kv->is_array || gguf_type_bytes(kv->type) == 0)
        return false;
    u = gguf_kv_bits(kv);
    *negative = false;
    *magnitude = u;
    switch (kv->type) {
    case GGUF_TYPE_UINT8:
    case GGUF_TYPE_UINT16:
    case GGUF_TYPE_UINT32:
    case GGUF_TYPE_UINT64:
        return true;
    case GGUF_TYPE_INT8:
        i = (int8_t)u;
        break;
    case GGUF_TYPE_INT16:
        i = (int16_t)u;
        break;
    case GGUF_TYPE_INT32:
        i = (int32_t)u;
        break;
    case GGUF_TYPE_INT64:
        i = (int64_t)u;
        break;
    default:
        return false;
    }
    *negative = i < 0;
    *magnitude = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    return true;
}

/* An integer from -`below` to `above`. */
static enum gg_status
get_integer(const struct gguf_context *ctx, const char *key,
            const struct gguf_kv *kv, uint64_t below, uint64_t above,
            bool *negative, uint64_t *magnitude, struct gg_error *err)
{
    if (!integer(kv, negative, magnitude))
        return wrong_type(ctx, key, kv, "an integer", err);
    if (*magnitude > (*negative ? below : above))
        return gguf_bad_value(ctx, key, err, "%s%" PRIu64 " is out of range",
                              *negative ? "-" : "", *magnitude);
    return GG_OK;
}

static enum gg_status
read_u64(const struct gguf_context *ctx, const char *key,
         const struct gguf_kv *kv, uint64_t *out, struct gg_error *err)
{
    bool negative;
    uint64_t n;
    enum gg_status st =
        get_integer(ctx, key, kv, 0, UINT64_MAX, &negative, &n, err);

    if (st == GG_OK)
        *out = n;
    return st;
}

static enum gg_status
read_u32(const struct gguf_context *ctx, const char *key,
         const struct gguf_kv *kv, uint32_t *out, struct gg_error *err)
{
    bool negative;
    uint64_t n;
    enum gg_status st =
        get_integer(ctx, key, kv, 0, UINT32_MAX, &negative, &n, err);

    if (st == GG_OK)
        *out = (uint32_t)n;
    return st;
}

static enum gg_status
read_i32(const struct gguf_context *ctx, const char *key,
         const struct gguf_kv *kv, int32_t *out, struct gg_error *err)
{
    bool negative;
    uint64_t n;
    enum gg_status st = get_integer(ctx, key, kv, UINT64_C(1) << 31, INT32_MAX,
                                    &negative, &n, err);

    if (st == GG_OK)
        *out = (int32_t)(negative ? -(int64_t)n : (int64_t)n);
    return st;
}

static enum gg_status
read_f64(const struct gguf_context *ctx, const char *key,
         const struct gguf_kv *kv, double *out, struct gg_error *err)
{
    double d = 0;
    float f = 0;

    if (!kv->is_array && kv->type == GGUF_TYPE_FLOAT32) {
        memcpy(&f, &kv->scalar, sizeof(f));
        d = (double)f;
    } else if (!kv->is_array && kv->type == GGUF_TYPE_FLOAT64)
        memcpy(&d, &kv->scalar, sizeof(d));
    else
        return wrong_type(ctx, key, kv, "a float", err);
    if (!isfinite(d))
        return gguf_bad_value(ctx, key, err, "not a finite number");
    *out = d;
    return GG_OK;
}

static enum gg_status
read_f32(const struct gguf_context *ctx, const char *key,
         const struct gguf_kv *kv, float *out, struct gg_error *err)
{
    double d;
    enum gg_status st = read_f64(ctx, key, kv, &d, err);

    if (st == GG_OK && !isfinite((float)d))
        return gguf_bad_value(ctx, key, err, "not a finite number");
    if (st == GG_OK)
        *out = (float)d;
    return st;
}

static enum gg_status
read_bool(const struct gguf_context *ctx, const char *key,
          const struct gguf_kv *kv, bool *out, struct gg_error *err)
{
    if (kv->is_array || kv->type != GGUF_TYPE_BOOL)
        return wrong_type(ctx, key, kv, "a bool", err);
    *out = kv->scalar != 0;
    return GG_OK;
}

static enum gg_status
read_str(const struct gguf_context *ctx, const char *key,
         const struct gguf_kv *kv, struct gguf_str *out, struct gg_error *err)
{
    if (kv->is_array || kv->type != GGUF_TYPE_STRING)
        return wrong_type(ctx, key, kv, "a string", err);
    *out = kv->strings[0];
    return GG_OK;
}

#define GETTER(name, ctype)                                                    \
    enum gg_status gguf_get_##name(const struct gguf_context *ctx,             \
                                   const char *key, ctype *out,                \
                                   struct gg_error *err)                       \
    {                                                                          \
        const struct gguf_kv *kv = find_kv(ctx, key);                          \
        return kv ? read_##name(ctx, key, kv, out, err)                        \
                  : missing(ctx, key, err);                                    \
    }                                                                          \
    enum gg_status gguf_opt_##name(const struct gguf_context *ctx,             \
                                   const char *key, ctype *out,                \
                                   struct gg_error *err)                       \
    {                                                                          \
        const struct gguf_kv *kv = find_kv(ctx, key);                          \
        return kv ? read_##name(ctx, key, kv, out, err) : GG_OK;               \
    }
GETTER(u64, uint64_t)
GETTER(u32, uint32_t)
GETTER(i32, int32_t)
GETTER(f32, float)
GETTER(f64, double)
GETTER(bool, bool)
GETTER(str, struct gguf_str)

static enum gg_status
read_array(const struct gguf_context *ctx, const char *key,
           const struct gguf_kv *kv, enum gguf_type type,
           struct gguf_array *out, struct gg_error *err)
{
    char wanted[32];

    snprintf(wanted, sizeof(wanted), "an array of %s", gguf_type_name(type));
    if (!kv->is_array || kv->type != type)
        return wrong_type(ctx, key, kv, wanted, err);
    *out = (struct gguf_array){ kv->type, kv->n, kv->data, kv->strings };
    return GG_OK;
}

enum gg_status
gguf_opt_array(const struct gguf_context *ctx, const char *key,
               enum gguf_type type, struct gguf_array *out,
               struct gg_error *err)
{
    const struct gguf_kv *kv = find_kv(ctx, key);

    return kv ? read_array(ctx, key, kv, type, out, err) : GG_OK;
}

enum gg_status
gguf_get_array(const struct gguf_context *ctx, const char *key,
               enum gguf_type type, struct gguf_array *out,
               struct gg_error *err)
{
    const struct gguf_kv *kv = find_kv(ctx, key);

    return kv ? read_array(ctx, key, kv, type, out, err)
              : missing(ctx, key, err);
}

enum gg_status
gguf_get_array_n(const struct gguf_context *ctx, const char *key,
                 enum gguf_type type, size_t n, struct gguf_array *out,
                 struct gg_error *err)
{
    struct gguf_array a;
    enum gg_status st = gguf_get_array(ctx, key, type, &a, err);

    if (st == GG_OK && a.n != n)
        st = gguf_bad_value(ctx, key, err,
                            "%zu elements found where %zu are needed", a.n, n);
    if (st == GG_OK)
        *out = a;
    return st;
}
