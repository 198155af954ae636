/* bpe.h - byte-level BPE: what encoding needs of it */
#ifndef VOCAB_BPE_H
#define VOCAB_BPE_H

#include "vocab/merge.h"

enum {
    BPE_FEW = 16, /* merges that make one token; more are sorted by `left` */
};

/* What two tokens become: a merge_find. */
struct merge_pair
bpe_find(const struct merge_word *word, const struct merge_symbol *left,
         const struct merge_symbol *right);

/* A symbol for each byte of p[0..len). Returns len, or less: the offset of a
 * byte that the vocabulary has no token for. */
size_t
bpe_symbols(const struct gg_vocab *v, const uint8_t *p, size_t len,
            struct merge_symbol *out);

#endif
