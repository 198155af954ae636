/* sequences.h - the numbered sequences whose text is not written yet
 *
 * Text has no numbers: what tells records apart is their order, and that is
 * the order in which sequences appeared. */
#ifndef TOKENIZE_SEQUENCES_H
#define TOKENIZE_SEQUENCES_H

#include <gg.h>

#include "common/sequence_table.h"

struct sequence {
    struct numbered key;
    bool ended; /* it is known by its place only */
    struct gg_decode_state state;
    char *text;
    size_t len, cap;
};

struct sequences {
    struct sequence_table table; /* in the order of appearance */
    uint64_t held;               /* bytes of memory */
};

/* NULL: there is none. */
struct sequence *
sequences_first(const struct sequences *all);

/* The open sequence of that number; a new, empty one where there is none. */
struct sequence *
sequences_open(struct sequences *all, uint64_t number);

/* Room for n more bytes of text. */
void
sequences_reserve(struct sequences *all, struct sequence *s, size_t n);

/* Ends it: its number is free for another one. */
void
sequences_end(struct sequences *all, struct sequence *s);

/* Frees the first, which must have ended. */
void
sequences_drop_first(struct sequences *all);

#endif
