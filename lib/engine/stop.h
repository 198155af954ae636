/* stop.h - ends a text before certain strings in it */
#ifndef ENGINE_STOP_H
#define ENGINE_STOP_H

#include <gg-engine.h>

#include "engine/bytes.h"

/* How many strings there are. */
size_t
engine_stop_count(const struct gg_stop *strings);

/* A text ends with states[i] bytes of string i, and `c` follows: returns the
 * bytes of the longest string that is complete, or 0. It is not called again
 * once a string is complete. */
size_t
engine_stop_step(const struct gg_stop *strings, size_t *states, char c);

/* The greatest of the states. */
size_t
engine_stop_longest(const struct gg_stop *strings, const size_t *states);

/* The state of one text; all zero will do for no strings. */
struct engine_stop {
    const struct gg_stop *strings; /* or NULL */
    size_t *states; /* of each string: bytes of it that the text ends with */
    size_t cap;
    struct engine_bytes held; /* what may be the beginning of a string */
    size_t found;             /* bytes of the one that was complete */
};

/* A text begins; the strings outlive it. False: no memory. */
bool
engine_stop_start(struct engine_stop *stop, const struct gg_stop *strings);

/* Adds text[0..len) to `out`, all but what may be the beginning of a string:
 * that waits for what follows. *found: a string is complete, and what stands
 * before it was added; the first one to be complete counts, the longest of
 * them if several are at once. False: no memory. */
bool
engine_stop_add(struct engine_stop *stop, const char *text, size_t len,
                struct engine_bytes *out, bool *found);

/* The text ends: adds what is held back. False: no memory. */
bool
engine_stop_end(struct engine_stop *stop, struct engine_bytes *out);

/* The string that was complete, of *len bytes; NULL: none was. */
const char *
engine_stop_found(const struct engine_stop *stop, size_t *len);

void
engine_stop_clear(struct engine_stop *stop);

#endif
