/* value.h - values of a record in JSON, each with the text that it was read
 * from
 *
 * A value is what Jansson made of it, and stays as it was written: what is
 * passed on, or depends on the order of members, is taken from the text. */
#ifndef RECORDS_VALUE_H
#define RECORDS_VALUE_H

#include <gg.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t;

/* All zero is none. Values inside of a record live as long as it does. */
struct record_value {
    struct json_t *json;
    const char *text; /* the caller's */
    size_t len;
};

/* Reads a line that is an object: record_value_clear() it. A number that no
 * double holds is a string to Jansson. On failure the sentence names no line.
 */
GG_MUST_CHECK enum gg_status
record_value_read(const char *line, size_t len, struct record_value *out,
                  struct gg_error *err);
void
record_value_clear(struct record_value *v);

struct record_member {
    const char *key; /* without quotes and escapes */
    struct record_value value;
    const char *begin; /* of its text: after the brace or comma before it */
};

/* An object and all of its members, in their order. */
struct record_object {
    struct record_value value;
    struct record_member *members;
    size_t n;
};

/* Finds the members of a value, which outlives *out; what is no object has
 * none. record_object_close() it. */
void
record_object_open(const struct record_value *v, struct record_object *out);
void
record_object_close(struct record_object *o);

/* The value of a member; NULL: there is none. */
const struct record_value *
record_object_find(const struct record_object *o, const char *name);

/* The value of one member, where nobody wants the others; false: there is none,
 * and *out is none. */
bool
record_value_find(const struct record_value *object, const char *name,
                  struct record_value *out);

/* The elements of a value one by one; what is no array has none. The value
 * outlives it. */
struct record_items {
    const struct json_t *json;
    const char *next;
    size_t i, n;
};

void
record_items_open(const struct record_value *v, struct record_items *out);
/* False: there is none left, and *out is none. */
bool
record_items_next(struct record_items *it, struct record_value *out);

/* Seconds since 1970 that a member says; 0: it is not there, -1: it is no date.
 */
int64_t
record_value_date(const struct record_value *object, const char *name);

#endif
