/* merge.h - merging the symbols of a word: best pair first, leftmost first */
#ifndef VOCAB_MERGE_H
#define VOCAB_MERGE_H

#include <gg.h>

/* A stretch of a word. */
struct merge_symbol {
    uint32_t begin, len; /* in bytes */
    int32_t id;          /* of its token; or -1 */
};

enum {
    MERGE_SHORT = 48,         /* symbols for which a plain search is faster */
    MERGE_NEVER = UINT32_MAX, /* rank of a pair that does not merge */
};

/* What two neighbours would become; a lower rank goes first. */
struct merge_pair {
    uint32_t rank;
    int32_t id;
};

/* Whose word is merged, and what is known already. */
struct cache;
struct merge_word {
    const struct gg_vocab *v;
    const uint8_t *bytes;
    struct cache *cache; /* or NULL */
};
typedef struct merge_pair (*merge_find)(const struct merge_word *word,
                                        const struct merge_symbol *left,
                                        const struct merge_symbol *right);

/* Both merge the n symbols of the word until no pair is left that can, in
 * place. They return how many symbols remain. */

/* n <= MERGE_SHORT; time O(n * n). */
size_t
merge_short(const struct merge_word *word, merge_find find,
            struct merge_symbol *symbols, size_t n);

/* Time O(n log n); `room` must have merge_room(n) bytes, aligned for
 * uint64_t. n < UINT32_MAX. */
size_t
merge_long(const struct merge_word *word, merge_find find,
           struct merge_symbol *symbols, size_t n, void *room);
size_t
merge_room(size_t n);

#endif
