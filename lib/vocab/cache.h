/* cache.h - what encoding has found before: words and pairs, with their ids
 *
 * Tables of a fixed size in which a later one may take the place of another.
 * They fit into the processor's second cache, which a vocabulary does not, and
 * hold for all texts: a vocabulary keeps those that nobody uses for the next
 * call. */
#ifndef VOCAB_CACHE_H
#define VOCAB_CACHE_H

#include "vocab/bytes.h"
#include "vocab/merge.h"

enum {
    CACHE_BITS = 12,
    CACHE_WAYS = 2,   /* of a place; both are in one line of memory */
    CACHE_BYTES = 16, /* of the longest word */
    CACHE_IDS = 3,
    CACHE_PAIR_BITS = 12,
};

struct cache_word {
    uint64_t low, high; /* its bytes, and zeros */
    uint8_t len, n;     /* len 0: free */
    int32_t ids[CACHE_IDS];
};

struct cache_pair {
    int32_t left, right; /* -1 - the id, so that 0 is none */
    struct merge_pair found;
};

struct cache {
    struct cache_word words[1 << CACHE_BITS][CACHE_WAYS];
    struct cache_pair pairs[1 << CACHE_PAIR_BITS];
};

/* Those of a vocabulary that are not in use. */
struct cache_store;

struct cache_store *
cache_store_new(void);
void
cache_store_free(struct cache_store *s);

/* One for a text of `len` bytes, or NULL where it is not worth the memory, or
 * there is none; to be given back. */
struct cache *
cache_take(struct cache_store *s, size_t len);
void
cache_give(struct cache_store *s, struct cache *c);

/* The key of a word of len bytes, len <= CACHE_BYTES, where `readable` bytes
 * can be read. */
static inline void
cache_key(struct cache_word *key, const uint8_t *p, size_t len, size_t readable)
{
    static const uint8_t masks[2 * CACHE_BYTES] = {
        255, 255, 255, 255, 255, 255, 255, 255,
        255, 255, 255, 255, 255, 255, 255, 255,
    };
    const uint8_t *mask = masks + CACHE_BYTES - len;

    if (readable >= CACHE_BYTES) {
        key->low = bytes_load8(p) & bytes_load8(mask);
        key->high = bytes_load8(p + 8) & bytes_load8(mask + 8);
    } else {
        key->low = bytes_load(p, len < 8 ? len : 8);
        key->high = len > 8 ? bytes_load(p + 8, len - 8) : 0;
    }
    key->len = (uint8_t)len;
}

static inline struct cache_word *
cache_place(struct cache *c, const struct cache_word *key)
{
    uint64_t h = (key->low ^ (key->high << 29 | key->high >> 35)) *
                 UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 32 ^ key->len) * UINT64_C(0xd6e8feb86659fd93);
    return c->words[h >> (64 - CACHE_BITS)];
}

/* The word in `place`, or NULL. */
static inline const struct cache_word *
cache_find(const struct cache_word *place, const struct cache_word *key)
{
    for (int i = 0; i < CACHE_WAYS; i++)
        if (place[i].low == key->low && place[i].high == key->high &&
            place[i].len == key->len)
            return &place[i];
    return NULL;
}

/* The newest stands first. */
static inline void
cache_add(struct cache_word *place, const struct cache_word *word)
{
    for (int i = CACHE_WAYS - 1; i > 0; i--)
        place[i] = place[i - 1];
    place[0] = *word;
}

static inline struct cache_pair *
cache_pair(struct cache *c, int32_t left, int32_t right)
{
    uint32_t h = (uint32_t)left * 0x9e3779b1u ^ (uint32_t)right * 0x85ebca6bu;

    return &c->pairs[(h * 0xc2b2ae35u) >> (32 - CACHE_PAIR_BITS)];
}

#endif
