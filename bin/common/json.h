/* json.h - strings as JSON writes them, and texts that are JSON */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stddef.h>

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

#include "common/buffer.h"

/* Adds text[0..len) to `out`, in quotes: control characters, C1 and DEL as
 * escapes, bytes that are not UTF-8 as U+FFFD. */
void
json_add_string(struct buffer *out, const char *text, size_t len);

/* Writes it to stdout. */
void
json_put_string(const char *text, size_t len);

#ifdef HAVE_JANSSON
/* json_loadb(), which recurses, but for values that are nested too deep. */
json_t *
json_load_text(const char *text, size_t len, size_t flags, json_error_t *err);
#endif

#endif
