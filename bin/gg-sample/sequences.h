/* sequences.h - what has to be remembered of numbered sequences
 *
 * A corpus may have any number of them. Counts are kept while a sequence is
 * drawn from; of what has ended only ranges of numbers are. */
#ifndef SAMPLE_SEQUENCES_H
#define SAMPLE_SEQUENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gg.h>

/* Ranges of numbers, in order, none touching the next. */
struct ranges {
    struct range {
        uint64_t first, last;
    } * r;
    size_t n, cap;
};

bool
ranges_have(const struct ranges *set, uint64_t number);
void
ranges_add(struct ranges *set, uint64_t number);
void
ranges_remove(struct ranges *set, uint64_t number);

/* What is known of each open sequence: a hash table with open addressing. */
struct counts {
    struct count {
        uint64_t sequence, n; /* ids that it has got */
        struct gg_history *history;
        bool used;
    } * slots;
    size_t used, mask;
};

/* That of the sequence, new where there is none. Lives until the next call. */
struct count *
counts_of(struct counts *c, uint64_t sequence);
void
counts_remove(struct counts *c, uint64_t sequence);

struct sequences {
    struct ranges ended;  /* here: what still comes of them is dropped */
    struct ranges passed; /* ended upstream, which was passed on */
    struct counts counts;
};

void
sequences_clear(struct sequences *s);

#endif
