/* trie.h - the pieces of a vocabulary that a text begins with, byte by byte */
#ifndef VOCAB_TRIE_H
#define VOCAB_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRIE_NONE = 0, /* the root is nobody's child */
    TRIE_ROOT = 0,
    TRIE_MAX_NODES = 1 << 24,
};

/* From a node to its child: a slot of a hash table. */
struct trie_edge {
    uint32_t parent;
    uint32_t child; /* << 8 | byte; 0: free */
};

/* Zero holds nothing. */
struct trie {
    uint64_t seed;    /* of the hashes: no file can know it */
    uint32_t n;       /* nodes */
    uint32_t cap;     /* of ids */
    int32_t *ids;     /* of the piece that ends at a node; or -1 */
    size_t edge_mask; /* slots - 1 */
    struct trie_edge *edges;
    uint32_t first[256]; /* the root's children */
};

enum trie_status {
    TRIE_OK,
    TRIE_NOMEM,
    TRIE_FULL, /* it would have more than TRIE_MAX_NODES */
};

/* Adds p[0..len), len > 0. Of equal pieces the first one stays. */
enum trie_status
vocab_trie_add(struct trie *t, const uint8_t *p, size_t len, int32_t id);
void
vocab_trie_clear(struct trie *t);

static inline size_t
vocab_trie_hash(const struct trie *t, uint32_t node, uint8_t byte)
{
    uint64_t h =
        (((uint64_t)node << 8 | byte) ^ t->seed) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(h ^ h >> 32) & t->edge_mask;
}

/* The child of a node, or TRIE_NONE. */
static inline uint32_t
vocab_trie_step(const struct trie *t, uint32_t node, uint8_t byte)
{
    size_t i;

    if (node == TRIE_ROOT)
        return t->first[byte];
    for (i = vocab_trie_hash(t, node, byte); t->edges[i].child;
         i = (i + 1) & t->edge_mask)
        if (t->edges[i].parent == node && (uint8_t)t->edges[i].child == byte)
            return t->edges[i].child >> 8;
    return TRIE_NONE;
}

/* The longest piece that p[0..len) begins with, or -1; *n gets its bytes. */
static inline int32_t
vocab_trie_longest(const struct trie *t, const uint8_t *p, size_t len,
                   size_t *n)
{
    uint32_t node = TRIE_ROOT;
    int32_t id = -1;

    for (size_t i = 0; i < len; i++) {
        node = vocab_trie_step(t, node, p[i]);
        if (node == TRIE_NONE)
            break;
        if (t->ids[node] >= 0) {
            id = t->ids[node];
            *n = i + 1;
        }
    }
    return id;
}

#endif
