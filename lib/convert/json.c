/* json.c - JSON of hostile origin, by Jansson */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/json.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/escape.h"
#include "core/file.h"
#include "core/stranger.h"

enum {
    MAX_TEXT = 1 << 28, /* far above any vocabulary; Jansson counts in int */
    MAX_DEPTH = 256,    /* of arrays and objects: Jansson recurses */
};

/* ---- files --------------------------------------------------------------- */

/* The end of the string that begins in front of p, or `end`. */
static const char *
end_of_string(const char *p, const char *end)
{
    while (p < end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    return p < end ? p : end;
}

static bool
is_deep(const char *p, const char *end)
{
    int depth = 0;

    for (; p < end && depth <= MAX_DEPTH; p++)
        if (*p == '"')
            p = end_of_string(p + 1, end);
        else if (*p == '[' || *p == '{')
            depth++;
        else if (*p == ']' || *p == '}')
            depth--;
    return depth > MAX_DEPTH;
}

/* What Jansson says quotes the text, which may hold anything. */
static enum gg_status
bad_syntax(const char *path, const void *text, size_t size,
           const json_error_t *e, struct gg_error *err)
{
    char shown[4 * JSON_ERROR_TEXT_LENGTH + 1];
    const char *name = stranger_name(text, size);

    escape_bytes(shown, sizeof(shown), e->text, strlen(e->text));
    if (name && name != stranger_name("{", 1))
        error_set(err, GG_ERR_FORMAT, "not JSON, but %s", name);
    else
        error_set(err, GG_ERR_FORMAT, "line %d: not JSON: %s", e->line, shown);
    return error_prefix(err, GG_ERR_FORMAT, "%s", path);
}

/* Where Jansson has no memory it loses bytes of a text, or reads on beyond its
 * end. So that it never hears of it, a failure leaves its parser by a jump, and
 * what it has made by then is lost. */
static pthread_once_t watching = PTHREAD_ONCE_INIT;
static json_malloc_t allocate; /* whose they were before; they stay that */
static _Thread_local jmp_buf *way_out;

static void *
watched_malloc(size_t size)
{
    void *p = allocate(size);

    if (!p && way_out)
        longjmp(*way_out, 1);
    return p;
}

static void
watch_allocations(void)
{
    json_free_t release;

    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(watched_malloc, release);
}

/* NULL: a syntax error, or *no_memory. */
static json_t *
load(const void *text, size_t size, json_error_t *error, bool *no_memory)
{
    jmp_buf here;
    json_t *value;

    pthread_once(&watching, watch_allocations);
    *no_memory = setjmp(here) != 0;
    if (*no_memory) {
        way_out = NULL;
        return NULL;
    }
    way_out = &here;
    value =
        json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, error);
    way_out = NULL;
    return value;
}

static enum gg_status
parse(const char *path, const void *text, size_t size, bool list, json_t **out,
      struct gg_error *err)
{
    json_error_t error;
    bool no_memory;

    *out = NULL;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text = (const char *)text + 3; /* an editor's mark */
        size -= 3;
    }
    if (is_deep(text, (const char *)text + size)) {
        error_set(err, GG_ERR_FORMAT, "nested more than %d deep", MAX_DEPTH);
        return error_prefix(err, GG_ERR_FORMAT, "%s", path);
    }
    *out = load(text, size, &error, &no_memory);
    if (no_memory)
        return error_nomem(err);
    if (!*out)
        return bad_syntax(path, text, size, &error, err);
    if (list ? json_is_array(*out) : json_is_object(*out))
        return GG_OK;
    json_decref(*out);
    *out = NULL;
    error_set(err, GG_ERR_FORMAT, "is no %s of JSON", list ? "list" : "object");
    return error_prefix(err, GG_ERR_FORMAT, "%s", path);
}

enum gg_status
json_parse(const char *path, const void *text, size_t size, json_t **out,
           struct gg_error *err)
{
    return parse(path, text, size, false, out, err);
}

static enum gg_status
read_file(const char *path, bool required, bool list, json_t **out,
          struct gg_error *err)
{
    struct file_map map;
    enum gg_status st;

    *out = NULL;
    if (!required && access(path, F_OK) && errno == ENOENT)
        return GG_OK;
    st = file_map(path, &map, err);
    if (st != GG_OK)
        return st;
    if (map.size <= MAX_TEXT) {
        st = parse(path, map.data, map.size, list, out, err);
    } else {
        st = error_set(err, GG_ERR_FORMAT, "%zu bytes of JSON", map.size);
        error_prefix(err, st, "%s", path);
    }
    file_unmap(&map);
    return st;
}

enum gg_status
json_read(const char *path, bool required, json_t **out, struct gg_error *err)
{
    return read_file(path, required, false, out, err);
}

enum gg_status
json_read_list(const char *path, json_t **out, struct gg_error *err)
{
    return read_file(path, false, true, out, err);
}

/* ---- values -------------------------------------------------------------- */

void
json_bad(struct json_keys *k, enum gg_status status, const char *fmt, ...)
{
    char text[256], shown[4 * sizeof(text)];
    va_list args;

    if (k->status != GG_OK)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    escape_bytes(shown, sizeof(shown), text, strlen(text));
    k->status = error_set(k->err, status, "%s", shown);
    error_prefix(k->err, status, "%s", k->path);
}

const json_t *
json_find(const struct json_keys *k, const char *names)
{
    char name[64];

    while (k->object) {
        size_t n = strcspn(names, "|");
        const json_t *value;

        snprintf(name, sizeof(name), "%.*s", (int)n, names);
        value = json_object_get(k->object, name);
        if (value && !json_is_null(value))
            return value;
        if (!names[n])
            break;
        names += n + 1;
    }
    return NULL;
}

static const json_t *
must_find(struct json_keys *k, const char *names, bool required)
{
    const json_t *value = k->status == GG_OK ? json_find(k, names) : NULL;

    if (!value && required)
        json_bad(k, GG_ERR_FORMAT, "%s: is missing", names);
    return value;
}

int64_t
json_int(struct json_keys *k, const char *names, int64_t min, int64_t max,
         int64_t other)
{
    const json_t *value = must_find(k, names, other < min);
    double real;
    int64_t v;

    if (!value)
        return k->status == GG_OK ? other : min;
    real = json_number_value(value);
    v = json_is_integer(value) ? json_integer_value(value) : 0;
    if (json_is_real(value) && real == floor(real) && fabs(real) < 0x1p53)
        v = (int64_t)real; /* "2048.0", as some programs write it */
    else if (!json_is_integer(value))
        json_bad(k, GG_ERR_FORMAT, "%s: is no integer", names);
    if (v < min || v > max)
        json_bad(k, GG_ERR_FORMAT, "%s: %lld is not in %lld..%lld", names,
                 (long long)v, (long long)min, (long long)max);
    return k->status == GG_OK ? v : min;
}

double
json_number(struct json_keys *k, const char *names, double min, double max,
            double other)
{
    const json_t *value = must_find(k, names, other < min);
    double v = json_number_value(value);

    if (!value)
        return k->status == GG_OK ? other : min;
    if (!json_is_number(value))
        json_bad(k, GG_ERR_FORMAT, "%s: is no number", names);
    else if (!(v >= min && v <= max))
        json_bad(k, GG_ERR_FORMAT, "%s: %g is not in %g..%g", names, v, min,
                 max);
    return k->status == GG_OK ? v : min;
}

bool
json_bool(struct json_keys *k, const char *names, bool other)
{
    const json_t *value = must_find(k, names, false);

    if (value && !json_is_boolean(value))
        json_bad(k, GG_ERR_FORMAT, "%s: is neither true nor false", names);
    return json_is_boolean(value) ? json_is_true(value) : other;
}

const char *
json_text(struct json_keys *k, const char *names, const char *other)
{
    const json_t *value = must_find(k, names, false);
    const char *s = json_string_value(value);

    if (value && !s)
        json_bad(k, GG_ERR_FORMAT, "%s: is no text", names);
    else if (s && strlen(s) != json_string_length(value))
        json_bad(k, GG_ERR_FORMAT, "%s: has a NUL in it", names);
    return s && k->status == GG_OK ? s : other;
}

const json_t *
json_object_of(struct json_keys *k, const char *names)
{
    const json_t *value = must_find(k, names, false);

    if (value && !json_is_object(value))
        json_bad(k, GG_ERR_FORMAT, "%s: is no object", names);
    return json_is_object(value) ? value : NULL;
}

const json_t *
json_array_of(struct json_keys *k, const char *names)
{
    const json_t *value = must_find(k, names, false);

    if (value && !json_is_array(value))
        json_bad(k, GG_ERR_FORMAT, "%s: is no array", names);
    return json_is_array(value) ? value : NULL;
}

#endif
