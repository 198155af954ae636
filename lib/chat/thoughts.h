/* thoughts.h - how models mark what they think before they answer */
#ifndef CHAT_THOUGHTS_H
#define CHAT_THOUGHTS_H

#include <gg.h>

/* Strings of an answer's text, control tokens shown. A thought stands between
 * `open` and `close`, and the rest is text; or, if there is `text`, an answer
 * is made of messages, of which those that begin with `open` are thoughts and
 * those that begin with `text`, or `other`, are text, up to `end`; what stands
 * before these marks, as `start` does, is neither. */
struct chat_thoughts {
    const char *open, *close;
    const char *text, *other, *end, *start; /* or NULL */
};

/* The form of which all marks stand in s[0..len), NULL: of none. */
const struct chat_thoughts *
chat_thoughts_find(const char *s, size_t len);

/* The byte after the last mark in s[0..n) that closes a thought; 0: none. */
size_t
chat_thoughts_end(const char *s, size_t n);

/* The form of a template, whose marks stand in its source, or in what it makes
 * of a conversation; NULL: none is known. */
const struct chat_thoughts *
chat_thoughts_of(const struct gg_vocab *v,
                 const struct gg_chat_template *template);

#endif
