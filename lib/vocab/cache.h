/* cache.h - the words that a text repeats, with their ids
 *
 * A table of a fixed size in which a word's place may be taken by another one.
 * It fits into the processor's second cache, which the vocabulary does not. */
#ifndef VOCAB_CACHE_H
#define VOCAB_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vocab/bytes.h"

enum {
    CACHE_WORDS = 4096,
    CACHE_BYTES = 16, /* of the longest word */
    CACHE_IDS = 3,
};

struct cache_word {
    uint64_t low, high; /* its bytes */
    uint8_t len, n;     /* len 0: free */
    int32_t ids[CACHE_IDS];
};

/* The place of the word, 1 <= len <= CACHE_BYTES. True: it is there. False:
 * *at is made its own, and the caller fills n and ids in, or sets len to 0. */
static inline bool
cache_find(struct cache_word *words, const uint8_t *p, size_t len,
           struct cache_word **at)
{
    struct cache_word *w;
    uint64_t low, high, h;

    bytes_pair(p, len, &low, &high);
    h = (low ^ (high << 23 | high >> 41) ^ len) * UINT64_C(0x9e3779b97f4a7c15);
    *at = w = &words[h >> 52];
    if (w->low == low && w->high == high && w->len == len)
        return true;
    w->low = low;
    w->high = high;
    w->len = (uint8_t)len;
    return false;
}

#endif
