/* schema_class.h - sets of characters of regular expressions, as JSON has them
 */
#ifndef COMMON_SCHEMA_CLASS_H
#define COMMON_SCHEMA_CLASS_H

#include "common/schema_parts.h"

enum {
    CLASS_MAX_SPANS = 256,
    CLASS_MAX_CHARACTER = 0x10ffff,
};

struct class_span {
    long from, to;
};

struct class_set {
    struct class_span spans[CLASS_MAX_SPANS];
    size_t n;
};

void
class_put(struct schema *s, struct class_set *set, long from, long to);

/* Turned inside out: what was not in it. */
void
class_negate(struct schema *s, struct class_set *set);

/* d, w, s behind a backslash, as ECMAScript has them; a capital letter negates.
 * False: it is none of them. */
bool
class_put_known(struct schema *s, struct class_set *set, char kind);

/* One of the set, as it stands in a string of JSON; control characters, in
 * their escapes, where they are wanted. */
void
class_add(struct schema *s, struct buffer *b, const struct class_set *set,
          bool controls);
void
class_add_one(struct buffer *b, long c);

#endif
