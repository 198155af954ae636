/* cache.h - words that encoding has seen before, with their ids
 *
 * A table of a fixed size in which a later word may take the place of another.
 * It holds for all texts: a vocabulary keeps those that nobody uses for the
 * next call. */
#ifndef VOCAB_CACHE_H
#define VOCAB_CACHE_H

#include "vocab/bytes.h"

enum {
    CACHE_BITS = 15,
    CACHE_WAYS = 2,   /* of a place; both are in one line of memory */
    CACHE_BYTES = 15, /* of the longest word */
    CACHE_IDS = 3,
};

struct cache_word {
    uint64_t low, high; /* its bytes, zeros, and how many they are; 0: free */
    int32_t ids[CACHE_IDS];
    uint32_t n;
};

struct cache {
    struct cache_word (*words)[CACHE_WAYS];
};

/* Caches of a vocabulary that are not in use. */
struct cache_store;

struct cache_store *
vocab_cache_store_new(void);
void
vocab_cache_store_free(struct cache_store *s);

/* One for a text of `len` bytes, or NULL where it is not worth the memory, or
 * there is none; to be given back. */
struct cache *
vocab_cache_take(struct cache_store *s, size_t len);
void
vocab_cache_give(struct cache_store *s, struct cache *c);

/* Sets the key of a word of len bytes, len <= CACHE_BYTES, where `readable`
 * bytes can be read. */
static inline void
vocab_cache_key(struct cache_word *key, const uint8_t *p, size_t len,
                size_t readable)
{
    static const uint8_t masks[32] = {
        255, 255, 255, 255, 255, 255, 255, 255,
        255, 255, 255, 255, 255, 255, 255, 255,
    };
    const uint8_t *mask = masks + 16 - len;

    if (readable >= 16) {
        key->low = vocab_bytes_load8(p) & vocab_bytes_load8(mask);
        key->high = vocab_bytes_load8(p + 8) & vocab_bytes_load8(mask + 8);
    } else {
        key->low = vocab_bytes_load(p, len < 8 ? len : 8);
        key->high = len > 8 ? vocab_bytes_load(p + 8, len - 8) : 0;
    }
    key->high |= (uint64_t)len << 56;
}

static inline struct cache_word *
vocab_cache_place(struct cache *c, const struct cache_word *key)
{
    uint64_t h = (key->low ^ (key->high << 29 | key->high >> 35)) *
                 UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return c->words[h >> (64 - CACHE_BITS)];
}

/* The word in `place`, or NULL. Which way it is must not be a branch: nothing
 * foretells it. */
static inline const struct cache_word *
vocab_cache_find(const struct cache_word *place, const struct cache_word *key)
{
    uint64_t first = (place[0].low ^ key->low) | (place[0].high ^ key->high);
    uint64_t other = (place[1].low ^ key->low) | (place[1].high ^ key->high);

    return first && other ? NULL : &place[first != 0];
}

/* The newest stands first. */
static inline void
vocab_cache_add(struct cache_word *place, const struct cache_word *word)
{
    place[1] = place[0];
    place[0] = *word;
}

#endif
