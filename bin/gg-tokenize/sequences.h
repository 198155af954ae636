/* sequences.h - the numbered sequences whose text is not written yet
 *
 * Text has no numbers: what tells records apart is their order, and that is
 * the order in which sequences appeared. */
#ifndef TOKENIZE_SEQUENCES_H
#define TOKENIZE_SEQUENCES_H

#include <gg.h>

struct sequence {
    uint64_t number;
    bool ended;
    struct gg_decode_state state;
    char *text;
    size_t len, cap;
    struct sequence *next;  /* in its bucket; ended ones are in none */
    struct sequence *later; /* appeared after this one */
};

struct sequences {
    struct sequence **buckets;
    size_t n_buckets, n_open;
    struct sequence *first, *last; /* in the order of appearance */
    uint64_t held;                 /* bytes of memory */
};

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
