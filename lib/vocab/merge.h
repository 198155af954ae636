/* merge.h - merging the symbols of a word: best pair first, leftmost first */
#ifndef VOCAB_MERGE_H
#define VOCAB_MERGE_H

#include <gg.h>
#include <stddef.h>

enum {
    MERGE_SHORT = 48, /* bytes for which a plain search is faster */
    MERGE_SHORT_SCRATCH =
        MERGE_SHORT * 16,     /* vocab_merge_scratch_size(MERGE_SHORT) */
    MERGE_NEVER = UINT32_MAX, /* rank of a pair that does not merge */
};

/* A stretch of a word. */
struct merge_symbol {
    uint32_t begin, len; /* in bytes */
    int32_t id;          /* of its token; or -1 */
};

/* The token that two neighbours would become; a lower rank goes first. */
struct merge_pair {
    uint32_t rank;
    int32_t id;
};

struct merge_word {
    const struct gg_vocab *v;
    const uint8_t *bytes;
    size_t len; /* > 0 and < UINT32_MAX */
};

struct merge_rules {
    /* The symbol that merging has at byte `at` of the word to begin with. */
    struct merge_symbol (*first)(const struct merge_word *word, size_t at);
    struct merge_pair (*find)(const struct merge_word *word,
                              const struct merge_symbol *left,
                              const struct merge_symbol *right);
};

/* The symbols of a word, each at the byte where it begins. */
struct merge_list {
    const struct merge_word *word;
    const struct merge_rules *rules;
    /* Lengths: for a symbol of n bytes at i, lens[i] and lens[i + n - 1] are n,
     * so that it is found from both of its neighbours. */
    uint32_t *lens;
    int32_t *ids;
    struct merge_pair *pairs; /* of a symbol and the next one */
    uint64_t *heap;           /* of a long word: rank << 32 | i */
    size_t n_heap;
};

/* Merges symbols of the word until no pair is left that can; what remains is
 * in l->lens and l->ids. The caller sets l->word and l->rules, and `scratch`
 * has vocab_merge_scratch_size() bytes, aligned for uint64_t. Time is O(n log
 * n), and for up to MERGE_SHORT bytes O(n * n). */
void
vocab_merge_pairs(struct merge_list *l, void *scratch);
size_t
vocab_merge_scratch_size(size_t len);

#endif
