/* json.h - strings as JSON writes them */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stddef.h>

/* Writes text[0..len) to stdout, in quotes: control characters, C1 and DEL as
 * escapes, bytes that are not UTF-8 as U+FFFD. */
void
json_put_string(const char *text, size_t len);

#endif
