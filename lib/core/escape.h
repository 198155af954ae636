/* escape.h - showing bytes that may not be text */
#ifndef CORE_ESCAPE_H
#define CORE_ESCAPE_H

#include <stddef.h>

/* Writes s[0..len) to buf as printable text, NUL-ended, cut to fit: control
 * characters, DEL, C1, backslash and bytes that are not UTF-8 become \n \r \t
 * \\ or \xHH. Returns buf. */
char *
escape_bytes(char *buf, size_t size, const char *s, size_t len);

/* Escapes a message, whose parts may be escaped already: a backslash stays as
 * it is. */
char *
escape_message(char *buf, size_t size, const char *s);

/* Escapes s[0..len) in memory of its own: mem_free() it. NULL: no memory. */
char *
escape_copy(const char *s, size_t len);

#endif
