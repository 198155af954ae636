/* bpe.c - byte-level BPE: merging the bytes of a word */
#include "vocab/bpe.h"

#include "vocab/vocab.h"

static struct merge_symbol
first(const struct merge_word *word, size_t at)
{
    const size_t end = sizeof(VOCAB_END); /* with the byte before it */

    if (vocab_marks_ends(word->v) && at + end == word->len)
        return (struct merge_symbol){ (uint32_t)at, (uint32_t)end,
                                      vocab_find_piece(word->v,
                                                       word->bytes + at, end) };
    return (struct merge_symbol){ (uint32_t)at, 1,
                                  word->v->byte_ids[word->bytes[at]] };
}

static struct merge_pair
find_pair(const struct merge_word *word, const struct merge_symbol *left,
          const struct merge_symbol *right)
{
    const struct vocab_merge *m =
        vocab_find_merge(word->v, left->id, right->id);

    return m ? (struct merge_pair){ m->rank, (int32_t)m->made - 1 }
             : (struct merge_pair){ MERGE_NEVER, -1 };
}

const struct merge_rules vocab_bpe_rules = { first, find_pair };
