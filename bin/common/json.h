/* json.h - strings as JSON writes them */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stddef.h>

#include "common/buffer.h"

/* Adds text[0..len) to `out`, in quotes: control characters, C1 and DEL as
 * escapes, bytes that are not UTF-8 as U+FFFD. */
void
json_add_string(struct buffer *out, const char *text, size_t len);

/* Writes it to stdout. */
void
json_put_string(const char *text, size_t len);

#endif
