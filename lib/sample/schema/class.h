/* class.h - sets of characters of JSON's regular expressions */
#ifndef SAMPLE_SCHEMA_CLASS_H
#define SAMPLE_SCHEMA_CLASS_H

#include "sample/schema/parts.h"

enum {
    CLASS_MAX_SPANS = 256,
    CLASS_MAX_CHARACTER = 0x10ffff,
};

struct schema_class_span {
    long from, to;
};

struct schema_class_set {
    struct schema_class_span spans[CLASS_MAX_SPANS];
    size_t n;
};

void
sample_schema_class_put(struct schema *s, struct schema_class_set *set,
                        long from, long to);

/* Turned inside out: what was not in it. */
void
sample_schema_class_negate(struct schema *s, struct schema_class_set *set);

/* d, w, s after a backslash, as ECMAScript has them; a capital letter negates.
 * False: it is none of them. */
bool
sample_schema_class_put_known(struct schema *s, struct schema_class_set *set,
                              char kind);

/* One of the set, as it stands in a string of JSON; control characters, in
 * their escapes, where they are wanted. */
void
sample_schema_class_add(struct schema *s, struct schema_text *b,
                        const struct schema_class_set *set, bool controls);
void
sample_schema_class_add_one(struct schema_text *b, long c);

#endif
