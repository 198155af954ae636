/* members.h - members of an object in JSON, as they stand in its text
 *
 * What is passed through is passed on byte by byte: numbers keep their digits
 * and strings their escapes. Jansson says first that a text is JSON, so that
 * members can be found in it by little. A text is NUL-ended, or followed by
 * what ends its line. */
#ifndef GENERATE_MEMBERS_H
#define GENERATE_MEMBERS_H

#include "common/buffer.h"

struct member {
    const char *begin; /* after the brace or comma before it */
    const char *key, *value, *end;
    size_t key_len; /* with its quotes */
};

/* Of answers: the date that their template took. */
#define MEMBER_DATE "template_date"
/* Of records with --numbered. */
#define MEMBER_NUMBER "number"

/* The member of that name of the object `text`; false: there is none. */
bool
member_find(const char *text, const char *name, struct member *m);

/* True for what answers have, beside the members of their records. */
bool
member_is_written(const char *name);

/* Adds the object up to its closing brace, without members that are written
 * anew. */
void
member_pass_through(const char *text, struct buffer *out);

#endif
