/* stop.h - ends a text before certain strings in it */
#ifndef GENERATE_STOP_H
#define GENERATE_STOP_H

#include <stdbool.h>
#include <stddef.h>

struct stop_string {
    const char *s;
    size_t len;
    size_t *shorter; /* for n > 0 bytes of s: the longest shorter beginning of
                      * s that they end with */
    size_t state;    /* bytes of s that the text ends with */
};

/* All zero: no strings. */
struct stop {
    struct stop_string *strings;
    size_t n;
    char *held; /* what may be the beginning of a string */
    size_t len, cap;
};

/* `s` is not empty, and outlives it. */
void
stop_add(struct stop *stop, const char *s);

/* Writes text[0..len) to standard output, all but what may be the beginning
 * of a string: that waits for what follows. False: a string is complete, and
 * what stands before it is written; the first one to be complete counts, the
 * longest of them if several are at once. */
bool
stop_write(struct stop *stop, const char *text, size_t len);

/* The text ends: writes what is held back. Another one may begin. */
void
stop_end(struct stop *stop);

void
stop_clear(struct stop *stop);

#endif
