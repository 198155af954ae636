/* json.h - JSON of hostile origin, by Jansson
 *
 * Without Jansson none of this is built: HAVE_JANSSON says so. */
#ifndef CONVERT_JSON_H
#define CONVERT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"

/* Parses the text of `path`, which must be an object in which no key stands
 * twice; its depth is bounded by Jansson. json_decref() it. */
enum gg_status
json_parse(const char *path, const void *text, size_t size, json_t **out,
           struct gg_error *err);

/* The same for a file; where there is none, *out is NULL unless it is
 * `required`. */
enum gg_status
json_read(const char *path, bool required, json_t **out, struct gg_error *err);

/* A file with an array; where there is none, *out is NULL. */
enum gg_status
json_read_list(const char *path, json_t **out, struct gg_error *err);

/* Reads values of one object. The first failure sticks: what follows reads
 * nothing, and `status` and `err` tell of it. */
struct json_keys {
    const char *path;
    const json_t *object; /* NULL: has nothing */
    enum gg_status status;
    struct gg_error *err;
};

/* "path: sentence", in which control characters are escaped; sets the status,
 * unless one was there. */
__attribute__((format(printf, 3, 4))) void
json_bad(struct json_keys *k, enum gg_status status, const char *fmt, ...);

/* The value of a key, or of the first of "this|that" that is there and not
 * null; or NULL. */
const json_t *
json_find(const struct json_keys *k, const char *names);

/* An integer in min..max. Without a value: `other`, or failure where that is
 * below `min`. */
int64_t
json_int(struct json_keys *k, const char *names, int64_t min, int64_t max,
         int64_t other);
double
json_number(struct json_keys *k, const char *names, double min, double max,
            double other);
bool
json_bool(struct json_keys *k, const char *names, bool other);
/* NUL-ended, without NUL in it; `other` may be NULL. */
const char *
json_text(struct json_keys *k, const char *names, const char *other);
/* An object or an array, NULL where there is none. */
const json_t *
json_object_of(struct json_keys *k, const char *names);
const json_t *
json_array_of(struct json_keys *k, const char *names);

#endif
