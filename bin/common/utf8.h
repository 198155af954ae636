/* utf8.h - which bytes are UTF-8 */
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes text[0..len) begins with that are below 0x80. */
size_t
utf8_ascii(const char *text, size_t len);

/* Bytes of the character that p[0..len), len > 0, begins with, and *valid; or,
 * where there is none, of what stands for U+FFFD together: the longest start
 * of a character, or one byte. 0: more bytes may make it a character. */
size_t
utf8_next(const char *p, size_t len, bool *valid);

#endif
