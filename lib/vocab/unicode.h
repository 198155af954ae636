/* unicode.h - UTF-8 characters and their classes */
#ifndef VOCAB_UNICODE_H
#define VOCAB_UNICODE_H

#include <stddef.h>
#include <stdint.h>

/* What split rules write as \p{L}, \p{N} and \s. 0 is all else, and that is
 * also what a byte of broken UTF-8 is. */
enum unicode_class {
    UNICODE_OTHER = 0,
    UNICODE_LETTER = 1,
    UNICODE_NUMBER = 2,
    UNICODE_SPACE = 4,
};

/* Of Unicode 16.0. */
enum unicode_class
unicode_class(uint32_t codepoint);

/* The bytes of the well-formed character that p[0..len) begins with; 0 where
 * there is none. len > 0. */
size_t
unicode_length(const uint8_t *p, size_t len);

/* Class of the character at p; *n gets its bytes: 1 for a broken one. */
enum unicode_class
unicode_class_at(const uint8_t *p, size_t len, size_t *n);

#endif
