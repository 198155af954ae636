/* text.h - strings whose bytes have an origin: building, cutting, searching */
#ifndef CHAT_TEXT_H
#define CHAT_TEXT_H

#include "chat/run.h"

/* A string that grows. All zero but for `r` is an empty one. */
struct chat_builder {
    struct chat_run *r;
    char *s;
    size_t n, cap;
    uint16_t *origins; /* NULL while all bytes have the same origin */
    size_t origins_cap;
    uint16_t origin;
    bool markup; /* of the string that is built */
};

void
chat_put(struct chat_builder *b, const char *s, size_t n,
         enum chat_origin origin);
/* The text of the interpreter's own. */
void
chat_put_words(struct chat_builder *b, const char *s);
void
chat_put_string(struct chat_builder *b, const struct chat_string *s);
/* Bytes at..at + n of a string. */
void
chat_put_part(struct chat_builder *b, const struct chat_string *s, size_t at,
              size_t n);
/* The text that str() makes of the value in Python. */
void
chat_put_value(struct chat_builder *b, struct chat_value v);
/* The text that repr() makes of the value in Python. */
void
chat_put_repr(struct chat_builder *b, struct chat_value v);

/* The built text; the builder is not to be used again. */
struct chat_value
chat_built(struct chat_builder *b);

/* str(value). */
struct chat_value
chat_str(struct chat_run *r, struct chat_value v);

enum chat_origin
chat_origin_at(const struct chat_string *s, size_t at);

/* A string with the flag. */
struct chat_value
chat_as_markup(struct chat_run *r, const struct chat_string *s);

/* Bytes at..at + n of a string, not copied. */
struct chat_value
chat_part(struct chat_run *r, const struct chat_string *s, size_t at, size_t n);

struct chat_value
chat_concatenate(struct chat_run *r, const struct chat_string *a,
                 const struct chat_string *b);

/* Bytes of the character at `at` < n; a byte that is no UTF-8 is one. Its code
 * point goes to *c, which may be NULL. */
size_t
chat_character(const struct chat_string *s, size_t at, uint32_t *c);
/* Bytes of the character that ends in front of `end` > 0. */
size_t
chat_character_before(const struct chat_string *s, size_t end, uint32_t *c);
/* Characters in it. This and the next two take steps. */
size_t
chat_length(struct chat_run *r, const struct chat_string *s);
/* The byte where character i begins, or n. */
size_t
chat_offset(struct chat_run *r, const struct chat_string *s, size_t i);
enum {
    CHAT_UTF8 = 4 /* bytes of a character, at most */
};

/* A character in UTF-8; returns its bytes. What is none, as half of a surrogate
 * pair, becomes U+FFFD. */
size_t
chat_utf8(char out[CHAT_UTF8], uint32_t c);
/* Adds it. */
void
chat_put_character(struct chat_builder *b, uint32_t c, enum chat_origin origin);

bool
chat_is_space(uint32_t c); /* str.isspace() in Python */

/* Where `part` stands in s[from..), or SIZE_MAX. */
size_t
chat_find(struct chat_run *r, const struct chat_string *s, size_t from,
          const struct chat_string *part);

enum {
    CHAT_LEFT = 1,
    CHAT_RIGHT = 2
};

/* str.strip() and its sisters; `chars` NULL: white space. */
struct chat_value
chat_strip(struct chat_run *r, const struct chat_string *s,
           const struct chat_string *chars, unsigned sides);

#endif
