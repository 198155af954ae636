/* unicode.h - UTF-8 characters and their classes */
#ifndef VOCAB_UNICODE_H
#define VOCAB_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes that split rules write as \p{L}, \p{N}, \s and so on. A character has
 * one class, a byte of broken UTF-8 has UNICODE_OTHER; a rule asks for any of
 * several. */
enum vocab_unicode_class {
    UNICODE_OTHER = 0,
    UNICODE_LOWER = 1,        /* \p{Ll} */
    UNICODE_UPPER = 2,        /* \p{Lu}\p{Lt} */
    UNICODE_CASELESS = 4,     /* \p{Lm}\p{Lo} */
    UNICODE_NUMBER = 8,       /* \p{N} */
    UNICODE_SPACE = 16,       /* \s, which is the property White_Space */
    UNICODE_PUNCTUATION = 32, /* \p{P} */
    UNICODE_MARK = 64,        /* \p{M} */
    UNICODE_SYMBOL = 128,     /* \p{S} */
    UNICODE_LETTER = UNICODE_LOWER | UNICODE_UPPER | UNICODE_CASELESS,
};

enum {
    UNICODE_BROKEN = 0x110000, /* in place of a code point */
};

/* The class of a character of Unicode 16.0. */
enum vocab_unicode_class
vocab_unicode_class(uint32_t codepoint);

/* \p{Nd}, of those of UNICODE_NUMBER. */
bool
vocab_unicode_is_decimal(uint32_t codepoint);

/* The bytes of the well-formed character that p[0..len) begins with; 0 where
 * there is none. len > 0. */
size_t
vocab_unicode_length(const uint8_t *p, size_t len);

/* The character at p; *n gets its bytes: 1 for a broken one. */
uint32_t
vocab_unicode_at(const uint8_t *p, size_t len, size_t *n);

/* Writes p[0..len) in lower case, which is as long, to out[0..len). */
void
vocab_unicode_lower(const uint8_t *p, size_t len, uint8_t *out);

#endif
