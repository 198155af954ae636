/* json.h - JSON of hostile origin, by Jansson
 *
 * Without Jansson none of this is built: HAVE_JANSSON says so. */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

/* Parses the text of `path`, which must be an object in which no key stands
 * twice; its depth is bounded by Jansson. json_decref() it. */
enum gg_status
core_json_parse(const char *path, const void *text, size_t size, json_t **out,
                struct gg_error *err);

/* Parses a file likewise; where there is none, *out is NULL unless it is
 * `required`. */
enum gg_status
core_json_read(const char *path, bool required, json_t **out,
               struct gg_error *err);

/* A file with an array; where there is none, *out is NULL. */
enum gg_status
core_json_read_list(const char *path, json_t **out, struct gg_error *err);

/* json_loadb(), which recurses, but for values that are nested too deep; within
 * core_json_work(). Numbers that Jansson has no type for (integers beyond 64
 * bits, 1e400) are objects of their text, which core_json_large() tells from
 * others. */
json_t *
core_json_load(const char *text, size_t size, size_t flags,
               json_error_t *error);

/* Loads a text with such numbers, of no depth that matters. */
json_t *
core_json_load_large(const char *text, size_t size, size_t flags,
                     json_error_t *error);

/* The text of such a number; NULL for another value. */
const char *
core_json_large(const json_t *value);

static inline bool
core_json_is_number(const json_t *value)
{
    return json_is_number(value) || core_json_large(value);
}

/* The value of a number, such a one too, which may be infinite; else 0. */
double
core_json_real(const json_t *value);

/* json_dumps(), with numbers as Python's json writes them, and large ones as
 * they were read; to be freed as its text is, or NULL. Without an indent. */
char *
core_json_dump(const json_t *value, size_t flags);

/* Calls work(data), which makes and changes values. What Jansson and
 * core_json_realloc() allocate meanwhile succeeds, or ends the work, then
 * GG_ERR_NOMEM; in both cases it is freed at the end. So no value from outside
 * is changed within, and none lives on. Not to be nested. */
enum gg_status
core_json_work(void (*work)(void *data), void *data, struct gg_error *err);

/* Memory within core_json_work(): never NULL. */
void *
core_json_realloc(void *p, size_t size);
void
core_json_free(void *p);

/* Reads values of one object. The first failure sticks: what follows reads
 * nothing, and `status` and `err` tell of it. */
struct core_json_keys {
    const char *path;
    const json_t *object; /* NULL: has nothing */
    enum gg_status status;
    struct gg_error *err;
};

/* "path: sentence", in which control characters are escaped; sets the status,
 * unless one was there. */
__attribute__((format(printf, 3, 4))) void
core_json_bad(struct core_json_keys *k, enum gg_status status, const char *fmt,
              ...);

/* The value of a key, or of the first of "this|that" that is there and not
 * null; or NULL. */
const json_t *
core_json_find(const struct core_json_keys *k, const char *names);

/* An integer in min..max. Without a value: `other`, or failure where that is
 * below `min`. */
int64_t
core_json_int(struct core_json_keys *k, const char *names, int64_t min,
              int64_t max, int64_t other);
double
core_json_number(struct core_json_keys *k, const char *names, double min,
                 double max, double other);
bool
core_json_bool(struct core_json_keys *k, const char *names, bool other);
/* NUL-ended, without NUL in it; `other` may be NULL. */
const char *
core_json_text(struct core_json_keys *k, const char *names, const char *other);
/* An object or an array, NULL where there is none. */
const json_t *
core_json_object_of(struct core_json_keys *k, const char *names);
const json_t *
core_json_array_of(struct core_json_keys *k, const char *names);

#endif
