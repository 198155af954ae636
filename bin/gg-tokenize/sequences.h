/* sequences.h - the numbered sequences whose text is not complete yet */
#ifndef TOKENIZE_SEQUENCES_H
#define TOKENIZE_SEQUENCES_H

#include <gg.h>

struct sequence {
    uint64_t number;
    struct gg_decode_state state;
    char *text;
    size_t len, cap;
    struct sequence *next; /* in its bucket */
};

struct sequences {
    struct sequence **buckets;
    size_t n_buckets, n;
    uint64_t held; /* bytes of text */
};

/* The open sequence of that number; a new, empty one where there is none. */
struct sequence *
sequences_open(struct sequences *all, uint64_t number);

/* Room for n more bytes of text. */
void
sequences_reserve(struct sequences *all, struct sequence *s, size_t n);

/* Frees it. */
void
sequences_close(struct sequences *all, struct sequence *s);

/* All that are open, by number, and NULL; the caller frees the array. */
struct sequence **
sequences_sorted(const struct sequences *all);

#endif
