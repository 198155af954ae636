/* json.c - JSON of hostile origin, by Jansson */
#include <config.h>

#ifdef HAVE_JANSSON

#include "core/json.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/escape.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/magic.h"
#include "core/plant.h"

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

/* Whether the text is nested too deep; *line gets where. */
static bool
is_deep(const char *p, const char *end, int *line)
{
    int depth = 0;

    *line = 1;
    for (; p < end && depth <= MAX_DEPTH; p++) {
        *line += *p == '\n';
        if (*p == '"')
            p = end_of_string(p + 1, end);
        else if (*p == '[' || *p == '{')
            depth++;
        else if (*p == ']' || *p == '}')
            depth--;
    }
    return depth > MAX_DEPTH;
}

/* Messages of Jansson quote the text, which may hold anything. */
static enum gg_status
bad_syntax(const char *path, const void *text, size_t size,
           const json_error_t *e, struct gg_error *err)
{
    char shown[4 * JSON_ERROR_TEXT_LENGTH + 1];
    const char *name = magic_name(text, size);

    escape_bytes(shown, sizeof(shown), e->text, strlen(e->text));
    if (name && name != magic_name("{", 1))
        error_set(err, GG_ERR_FORMAT, "not JSON, but %s", name);
    else
        error_set(err, GG_ERR_FORMAT, "line %d: not JSON: %s", e->line, shown);
    return error_prefix(err, GG_ERR_FORMAT, "%s", path);
}

/* ---- no memory ----------------------------------------------------------- */

/* Where Jansson has no memory it loses bytes of a text, or reads on beyond its
 * end. So that it never hears of it, a failure leaves it by a jump to who waits
 * for it. What was allocated by then is lost, or freed, where it has a list. */
struct waiting {
    jmp_buf way_out;
    bool has_list;
    struct block *list;
};

/* Memory that is allocated in core_json_work() stands after one of these. */
struct block {
    _Alignas(max_align_t) struct block *next;
    struct block **back;
};

static pthread_once_t watching = PTHREAD_ONCE_INIT;
static json_malloc_t allocate; /* whose they were before; they stay that */
static json_free_t release;
static _Thread_local struct waiting *waiting;

static void *
not_null(void *p)
{
    if (!p && waiting)
        longjmp(waiting->way_out, 1);
    return p;
}

static void *
enlist(struct block *b)
{
    *b = (struct block){ waiting->list, &waiting->list };
    if (b->next)
        b->next->back = &b->next;
    waiting->list = b;
    return b + 1;
}

static struct block *
delist(void *p)
{
    struct block *b = (struct block *)p - 1;

    *b->back = b->next;
    if (b->next)
        b->next->back = b->back;
    return b;
}

void *
core_json_realloc(void *p, size_t size)
{
    struct block *b = p ? delist(p) : NULL, *larger = NULL;

    if (size <= SIZE_MAX - sizeof(*b))
        larger = mem_realloc(b, sizeof(*b) + size);
    if (!larger && b)
        (void)enlist(b);
    return enlist(not_null(larger));
}

void
core_json_free(void *p)
{
    if (p)
        mem_free(delist(p));
}

static void *
watched_malloc(size_t size)
{
    return waiting && waiting->has_list ? core_json_realloc(NULL, size)
                                        : not_null(allocate(size));
}

static void
watched_free(void *p)
{
    if (waiting && waiting->has_list)
        core_json_free(p);
    else
        release(p);
}

static void
watch_allocations(void)
{
    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(watched_malloc, watched_free);
}

/* False: there was no memory. */
static bool
wait_for(struct waiting *here, void (*work)(void *data), void *data)
{
    pthread_once(&watching, watch_allocations);
    if (setjmp(here->way_out))
        return false;
    waiting = here;
    work(data);
    return true;
}

enum gg_status
core_json_work(void (*work)(void *data), void *data, struct gg_error *err)
{
    struct waiting here = { .has_list = true };
    bool done = wait_for(&here, work, data);

    while (here.list)
        core_json_free(here.list + 1);
    waiting = NULL;
    return done ? GG_OK : error_nomem(err);
}

/* ---- texts --------------------------------------------------------------- */

struct text {
    const char *p;
    size_t size;
    json_t *value;
    json_error_t error;
};

static void
load_text(void *data)
{
    struct text *t = data;

    t->value = json_loadb(t->p, t->size,
                          JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &t->error);
}

/* Whether a number was refused. */
static bool
has_large(const json_error_t *e)
{
    return strstr(e->text, "too big") || strstr(e->text, "overflow");
}

json_t *
core_json_load(const char *text, size_t size, size_t flags, json_error_t *error)
{
    int line;

    gg_plant("JSON");
    if (!is_deep(text, text + size, &line)) {
        json_t *value = json_loadb(text, size, flags, error);

        if (!value && has_large(error))
            value = core_json_load_large(text, size, flags, error);
        return value;
    }
    memset(error, 0, sizeof(*error));
    error->line = line;
    snprintf(error->text, sizeof(error->text), "nested more than %d deep",
             MAX_DEPTH);
    return NULL;
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Integers that Jansson cannot hold become a real number that is above all that
 * any setting may be: tokenizer_config.json has 1e30 as such a one, digit by
 * digit, for no limit. */
static void
widen_integers(char *p, const char *end)
{
    enum {
        LONGEST = 18 /* digits that always fit */
    };
    static const char large[] = { '1', 'e', '9', '9' };

    while (p < end) {
        char *first = p;

        while (p < end && is_digit(*p))
            p++;
        if (p - first > LONGEST && (p == end || !strchr(".eE", *p))) {
            memset(first, ' ', (size_t)(p - first));
            memcpy(first, large, sizeof(large));
        }
        if (p < end && (*p == '.' || *p == 'e' || *p == 'E')) {
            p++;
            while (p < end && (is_digit(*p) || *p == '+' || *p == '-'))
                p++;
        } else if (p < end && *p == '"') {
            p = (char *)(uintptr_t)end_of_string(p + 1, end);
            p += p < end;
        } else if (p < end) {
            p++;
        }
    }
}

/* Once more, where an integer was too large. False: no memory. */
static bool
load_widened(struct waiting *here, struct text *t)
{
    char *copy = mem_alloc(t->size);
    bool done;

    if (!copy)
        return false;
    memcpy(copy, t->p, t->size);
    widen_integers(copy, copy + t->size);
    t->p = copy;
    done = wait_for(here, load_text, t);
    mem_free(copy);
    return done;
}

/* A value that is no object or list is released. */
static enum gg_status
check_kind(bool list, json_t **value, struct gg_error *err)
{
    if (list ? json_is_array(*value) : json_is_object(*value))
        return GG_OK;
    json_decref(*value);
    *value = NULL;
    return error_set(err, GG_ERR_FORMAT, "is no %s of JSON",
                     list ? "list" : "object");
}

static enum gg_status
parse(const char *path, const void *text, size_t size, bool list, json_t **out,
      struct gg_error *err)
{
    struct waiting here = { .has_list = false };
    struct text t = { .p = text, .size = size };
    enum gg_status st;
    const char *p;
    bool done;
    int line;

    *out = NULL;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        t.p += 3; /* an editor's mark */
        t.size -= 3;
    }
    if (is_deep(t.p, t.p + t.size, &line)) {
        error_set(err, GG_ERR_FORMAT, "nested more than %d deep", MAX_DEPTH);
        return error_prefix(err, GG_ERR_FORMAT, "%s", path);
    }
    p = t.p;
    done = wait_for(&here, load_text, &t);
    if (done && !t.value && has_large(&t.error))
        done = load_widened(&here, &t);
    waiting = NULL;
    if (!done)
        return error_nomem(err);
    if (!t.value)
        return bad_syntax(path, p, t.size, &t.error, err);
    *out = t.value;
    st = check_kind(list, out, err);
    return st == GG_OK ? st : error_prefix(err, st, "%s", path);
}

enum gg_status
core_json_parse(const char *path, const void *text, size_t size, json_t **out,
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
core_json_read(const char *path, bool required, json_t **out,
               struct gg_error *err)
{
    return read_file(path, required, false, out, err);
}

enum gg_status
core_json_read_list(const char *path, json_t **out, struct gg_error *err)
{
    return read_file(path, false, true, out, err);
}

/* ---- values -------------------------------------------------------------- */

void
core_json_bad(struct core_json_keys *k, enum gg_status status, const char *fmt,
              ...)
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
core_json_find(const struct core_json_keys *k, const char *names)
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
must_find(struct core_json_keys *k, const char *names, bool required)
{
    const json_t *value = k->status == GG_OK ? core_json_find(k, names) : NULL;

    if (!value && required)
        core_json_bad(k, GG_ERR_FORMAT, "%s: is missing", names);
    return value;
}

int64_t
core_json_int(struct core_json_keys *k, const char *names, int64_t min,
              int64_t max, int64_t other)
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
        core_json_bad(k, GG_ERR_FORMAT, "%s: is no integer", names);
    if (v < min || v > max)
        core_json_bad(k, GG_ERR_FORMAT, "%s: %lld is not in %lld..%lld", names,
                      (long long)v, (long long)min, (long long)max);
    return k->status == GG_OK ? v : min;
}

double
core_json_number(struct core_json_keys *k, const char *names, double min,
                 double max, double other)
{
    const json_t *value = must_find(k, names, other < min);
    double v = json_number_value(value);

    if (!value)
        return k->status == GG_OK ? other : min;
    if (!json_is_number(value))
        core_json_bad(k, GG_ERR_FORMAT, "%s: is no number", names);
    else if (!(v >= min && v <= max))
        core_json_bad(k, GG_ERR_FORMAT, "%s: %g is not in %g..%g", names, v,
                      min, max);
    return k->status == GG_OK ? v : min;
}

bool
core_json_bool(struct core_json_keys *k, const char *names, bool other)
{
    const json_t *value = must_find(k, names, false);

    if (value && !json_is_boolean(value))
        core_json_bad(k, GG_ERR_FORMAT, "%s: is neither true nor false", names);
    return json_is_boolean(value) ? json_is_true(value) : other;
}

const char *
core_json_text(struct core_json_keys *k, const char *names, const char *other)
{
    const json_t *value = must_find(k, names, false);
    const char *s = json_string_value(value);

    if (value && !s)
        core_json_bad(k, GG_ERR_FORMAT, "%s: is no text", names);
    else if (s && strlen(s) != json_string_length(value))
        core_json_bad(k, GG_ERR_FORMAT, "%s: has a NUL in it", names);
    return s && k->status == GG_OK ? s : other;
}

const json_t *
core_json_object_of(struct core_json_keys *k, const char *names)
{
    const json_t *value = must_find(k, names, false);

    if (value && !json_is_object(value))
        core_json_bad(k, GG_ERR_FORMAT, "%s: is no object", names);
    return json_is_object(value) ? value : NULL;
}

const json_t *
core_json_array_of(struct core_json_keys *k, const char *names)
{
    const json_t *value = must_find(k, names, false);

    if (value && !json_is_array(value))
        core_json_bad(k, GG_ERR_FORMAT, "%s: is no array", names);
    return json_is_array(value) ? value : NULL;
}

#endif
