/* special.h - tokens that are looked for in a text before all else */
#ifndef VOCAB_SPECIAL_H
#define VOCAB_SPECIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gg_vocab;

enum {
    SPECIAL_FEW = 4
};

/* Zero is the empty set. */
struct special_set {
    int32_t *ids; /* by their bytes */
    size_t n;
    bool first[256];          /* the bytes that one of them begins with */
    uint8_t few[SPECIAL_FEW]; /* the same, if they are not more */
    size_t n_first;
};

/* The user-defined tokens; with `control` also the control and the unknown
 * ones. False: no memory. */
bool
vocab_special_init(struct special_set *set, const struct gg_vocab *v,
                   bool control);
/* v->user without what chat templates use as markup, or looks like it: what
 * may be found in the contents of messages. False: no memory. */
bool
vocab_special_contents(struct special_set *set, const struct gg_vocab *v);
void
vocab_special_clear(struct special_set *set);

/* The first token of the set in p[0..len), the longest where several begin at
 * the same place; *at gets its offset. -1, and `len`, where there is none. */
int32_t
vocab_special_find(const struct special_set *set, const struct gg_vocab *v,
                   const uint8_t *p, size_t len, size_t *at);

/* Bytes of the text p[0..len) that are left when token `id` after it has taken
 * its white space. */
size_t
vocab_special_left(const struct gg_vocab *v, int32_t id, const uint8_t *p,
                   size_t len);

/* Where the text goes on after token `id`, which begins at p + at, and the
 * white space that it takes. */
size_t
vocab_special_after(const struct gg_vocab *v, int32_t id, const uint8_t *p,
                    size_t len, size_t at);

/* True if p[0..len) begins with a token of the set that has at least `far`
 * bytes, or may do so with what follows it. far <= len */
bool
vocab_special_reaches(const struct special_set *set, const struct gg_vocab *v,
                      const uint8_t *p, size_t len, size_t far);

/* Bytes of the longest token of the set. */
size_t
vocab_special_longest(const struct special_set *set, const struct gg_vocab *v);

#endif
