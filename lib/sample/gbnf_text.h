/* gbnf_text.h - a grammar's text: characters, blanks, numbers */
#ifndef SAMPLE_GBNF_TEXT_H
#define SAMPLE_GBNF_TEXT_H

#include "core/error.h"

/* Read from p on. */
struct gbnf_text {
    const char *p, *end, *start;
    struct gg_error *err;
};

/* GG_ERR_FORMAT with the line. */
__attribute__((format(printf, 2, 3))) enum gg_status
sample_gbnf_bad(const struct gbnf_text *t, const char *what, ...);

static inline char
sample_gbnf_peek(const struct gbnf_text *t)
{
    return t->p < t->end ? *t->p : '\0';
}

/* Whether c may be part of a rule's name. */
static inline bool
sample_gbnf_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* Skips blanks and comments; and ends of lines, where the rule goes on. */
void
sample_gbnf_skip(struct gbnf_text *t, bool lines);

/* The next character of a string or a class; there must be a byte. */
enum gg_status
sample_gbnf_character(struct gbnf_text *t, uint32_t *c);

/* Digits; GG_ERR_FORMAT where there is none. What is too large for an id or a
 * repetition stays so. */
enum gg_status
sample_gbnf_number(struct gbnf_text *t, size_t *n);

/* {m}, {m,} (most SIZE_MAX), {m,n}, at the brace. */
enum gg_status
sample_gbnf_bounds(struct gbnf_text *t, size_t *least, size_t *most);

#endif
