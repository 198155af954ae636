/* pieces.h - the pieces of Unigram that a text begins with, found by hashes
 *
 * Which lengths pieces have that begin with the same bytes is kept in a set of
 * bits; each length of it is looked up. So it takes one pass to make, and no
 * node for each beginning of a piece. */
#ifndef VOCAB_PIECES_H
#define VOCAB_PIECES_H

#include "vocab/bytes.h"

enum {
    PIECES_MAX_BYTES = 1024, /* of a piece */
    PIECES_LONG = 64,        /* bytes; these lengths share one bit */
    PIECES_START_BITS = 15,
};

struct piece {
    uint64_t key; /* up to 7 bytes and their number, or a hash; 0: free */
    int32_t id;
    float score;
};

/* Zero holds nothing. */
struct pieces {
    uint64_t seed; /* of the hashes: no file can know it */
    size_t mask;   /* slots - 1 */
    struct piece *slots;
    uint64_t *lengths; /* by the hash of the first three bytes */
    uint64_t few[256]; /* of one and two bytes, by the first one */
    bool is_long[PIECES_MAX_BYTES + 1]; /* lengths from PIECES_LONG on */
};

struct gg_vocab;

/* Where a text stands, and the hash of what was looked at. Seven bytes after
 * the text can be read. */
struct pieces_at {
    const uint8_t *p;
    uint64_t hash;
    size_t done;
};

/* The piece of n bytes there, or NULL; n must not go down. */
const struct piece *
vocab_pieces_find(const struct gg_vocab *v, struct pieces_at *at, size_t n);

static inline size_t
vocab_pieces_start(const struct pieces *t, const uint8_t *p)
{
    uint64_t first = (uint64_t)p[2] << 16 | (uint64_t)p[1] << 8 | p[0];

    return (size_t)(((first ^ t->seed) * UINT64_C(0x9e3779b97f4a7c15)) >>
                    (64 - PIECES_START_BITS));
}

/* The lengths that pieces at the beginning of p[0..len) can have: bit n - 1 is
 * that of n bytes, the highest that of all longer ones. len > 0 */
static inline uint64_t
vocab_pieces_lengths(const struct pieces *t, const uint8_t *p, size_t len)
{
    uint64_t bits = t->few[*p];

    if (len >= 3)
        bits |= t->lengths[vocab_pieces_start(t, p)];
    return len < PIECES_LONG ? bits & ((UINT64_C(1) << len) - 1) : bits;
}

#endif
