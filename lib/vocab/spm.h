/* spm.h - SentencePiece: what encoding needs of it */
#ifndef VOCAB_SPM_H
#define VOCAB_SPM_H

#include "vocab/merge.h"

/* What two stretches become: a merge_find. The word has blanks, not marks. */
struct merge_pair
spm_find(const struct merge_word *word, const struct merge_symbol *left,
         const struct merge_symbol *right);

/* A symbol for each character of p[0..len); returns their number. */
size_t
spm_symbols(const uint8_t *p, size_t len, struct merge_symbol *out);

/* Bytes of the first stretch of p[0..len) that can be merged without looking
 * at what follows. len > 0. */
size_t
spm_word(const struct gg_vocab *v, const uint8_t *p, size_t len);

#endif
