/* value.c - values of a GGUF file as text */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The escaped text; lives until the next call. */
static const char *
escaped(const char *s, size_t len)
{
    static char *buf;
    static size_t cap;

    if (len >= cap / 4)
        buf = cli_alloc(buf, cap = 4 * (len + 256), 1);
    return gg_escape(buf, cap, s, len);
}

/* Bytes of the first `columns` characters. */
static size_t
prefix(const char *text, size_t columns)
{
    size_t i = 0;

    for (; text[i]; i++) {
        bool starts = ((unsigned char)text[i] & 0xc0) != 0x80;

        if (starts && columns-- == 0)
            break;
    }
    return i;
}

void
value_put_escaped(FILE *f, const char *s, size_t len, size_t max)
{
    const char *text = escaped(s, len);
    size_t n = max ? prefix(text, max) : strlen(text);

    fwrite(text, 1, n, f);
    if (text[n])
        fputs("...", f);
}

void
value_put_quoted(FILE *f, const char *s, size_t len, size_t max)
{
    const char *text = escaped(s, len);
    size_t n = max ? prefix(text, max) : strlen(text);

    fputc('"', f);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            fputc('\\', f);
        fputc(text[i], f);
    }
    fputs(text[n] ? "...\"" : "\"", f);
}

size_t
value_width(const char *s, size_t len)
{
    const char *text = escaped(s, len);
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

const char *
value_float(char buf[32], double x, bool is_f32)
{
    int digits = is_f32 ? 6 : 15, most = is_f32 ? 9 : 17;

    if (!isfinite(x))
        return strcpy(buf, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
    for (; digits <= most; digits++) {
        snprintf(buf, 32, "%.*g", digits, x);
        if (is_f32 ? strtof(buf, NULL) == (float)x : strtod(buf, NULL) == x)
            break;
    }
    return buf;
}

static uint64_t
unsigned_at(enum gguf_type type, const void *p)
{
    uint16_t b;
    uint32_t c;
    uint64_t d;

    switch (type) {
    case GGUF_TYPE_UINT16:
        return memcpy(&b, p, sizeof(b)), b;
    case GGUF_TYPE_UINT32:
        return memcpy(&c, p, sizeof(c)), c;
    case GGUF_TYPE_UINT64:
        return memcpy(&d, p, sizeof(d)), d;
    default:
        return *(const uint8_t *)p;
    }
}

static int64_t
signed_at(enum gguf_type type, const void *p)
{
    int8_t a;
    int16_t b;
    int32_t c;
    int64_t d;

    switch (type) {
    case GGUF_TYPE_INT8:
        return memcpy(&a, p, sizeof(a)), a;
    case GGUF_TYPE_INT16:
        return memcpy(&b, p, sizeof(b)), b;
    case GGUF_TYPE_INT32:
        return memcpy(&c, p, sizeof(c)), c;
    default:
        return memcpy(&d, p, sizeof(d)), d;
    }
}

size_t
value_size(enum gguf_type type)
{
    switch (type) {
    case GGUF_TYPE_UINT16:
    case GGUF_TYPE_INT16:
        return 2;
    case GGUF_TYPE_UINT32:
    case GGUF_TYPE_INT32:
    case GGUF_TYPE_FLOAT32:
        return 4;
    case GGUF_TYPE_UINT64:
    case GGUF_TYPE_INT64:
    case GGUF_TYPE_FLOAT64:
        return 8;
    default:
        return 1;
    }
}

const char *
value_number(char buf[32], enum gguf_type type, const void *p)
{
    float f;
    double d;

    switch (type) {
    case GGUF_TYPE_BOOL:
        return strcpy(buf, *(const uint8_t *)p ? "true" : "false");
    case GGUF_TYPE_FLOAT32:
        memcpy(&f, p, sizeof(f));
        return value_float(buf, f, true);
    case GGUF_TYPE_FLOAT64:
        memcpy(&d, p, sizeof(d));
        return value_float(buf, d, false);
    case GGUF_TYPE_INT8:
    case GGUF_TYPE_INT16:
    case GGUF_TYPE_INT32:
    case GGUF_TYPE_INT64:
        snprintf(buf, 32, "%" PRId64, signed_at(type, p));
        return buf;
    default:
        snprintf(buf, 32, "%" PRIu64, unsigned_at(type, p));
        return buf;
    }
}

static bool
is_array(const struct gguf_context *ctx, int64_t key)
{
    return gguf_get_kv_type(ctx, key) == GGUF_TYPE_ARRAY;
}

enum gguf_type
value_element_type(const struct gguf_context *ctx, int64_t key)
{
    return is_array(ctx, key) ? gguf_get_arr_type(ctx, key)
                              : gguf_get_kv_type(ctx, key);
}

size_t
value_count(const struct gguf_context *ctx, int64_t key)
{
    return is_array(ctx, key) ? gguf_get_arr_n(ctx, key) : 1;
}

const void *
value_at(const struct gguf_context *ctx, int64_t key, size_t i)
{
    if (!is_array(ctx, key))
        return gguf_get_val_data(ctx, key);
    return (const char *)gguf_get_arr_data(ctx, key) +
           i * value_size(gguf_get_arr_type(ctx, key));
}

const char *
value_string(const struct gguf_context *ctx, int64_t key, size_t i, size_t *len)
{
    if (is_array(ctx, key)) {
        *len = gguf_get_arr_str_len(ctx, key, i);
        return gguf_get_arr_str(ctx, key, i);
    }
    *len = gguf_get_val_str_len(ctx, key);
    return gguf_get_val_str(ctx, key);
}

const char *
value_type(char buf[48], const struct gguf_context *ctx, int64_t key)
{
    const char *name = gguf_type_name(value_element_type(ctx, key));

    if (is_array(ctx, key))
        snprintf(buf, 48, "%s[%zu]", name, value_count(ctx, key));
    else
        snprintf(buf, 48, "%s", name);
    return buf;
}

const char *
value_thousands(char buf[32], uint64_t n)
{
    static const char *const units[] = { "", " k", " M", " B", " T", " P" };
    double x = (double)n;
    size_t i = 0;

    for (; x >= 999.5 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
        x /= 1000;
    snprintf(buf, 32, "%.*f%s",
             i == 0 || x >= 99.95 ? 0
             : x >= 9.995         ? 1
                                  : 2,
             x, units[i]);
    return buf;
}

const char *
value_bytes(char buf[32], uint64_t n)
{
    static const char *const units[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
    double x = (double)n / 1000;
    size_t i = 0;

    if (n < 1000) {
        snprintf(buf, 32, "%" PRIu64 " bytes", n);
        return buf;
    }
    for (; x >= 999.95 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
        x /= 1000;
    snprintf(buf, 32, "%.1f %s", x, units[i]);
    return buf;
}
