/* stop.h - ends a text before certain strings in it */
#ifndef GENERATE_STOP_H
#define GENERATE_STOP_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buffer.h"

struct stop_string {
    char *s;
    size_t len;
    size_t *shorter; /* for n > 0 bytes of s: the longest shorter beginning of
                      * s that they end with */
};

/* All zero: none. Any number of texts may look for the same strings. */
struct stop_strings {
    struct stop_string *list;
    size_t n;
};

/* One text on its way; all zero will do for no strings. */
struct stop {
    const struct stop_strings *strings; /* or NULL */
    size_t *states; /* of each string: bytes of it that the text ends with */
    struct buffer held; /* what may be the beginning of a string */
};

/* Copies s[0..len), which is not empty. */
void
stop_strings_add(struct stop_strings *strings, const char *s, size_t len);
void
stop_strings_clear(struct stop_strings *strings);

/* A text begins; the strings outlive it. */
void
stop_start(struct stop *stop, const struct stop_strings *strings);

/* Adds text[0..len) to `out`, all but what may be the beginning of a string:
 * that waits for what follows. False: a string is complete, and what stands
 * before it was added; the first one to be complete counts, the longest of
 * them if several are at once. */
bool
stop_add_text(struct stop *stop, const char *text, size_t len,
              struct buffer *out);

/* The text ends: adds what is held back. */
void
stop_end(struct stop *stop, struct buffer *out);

void
stop_clear(struct stop *stop);

#endif
