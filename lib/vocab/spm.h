/* spm.h - SentencePiece: what encoding needs of it */
#ifndef VOCAB_SPM_H
#define VOCAB_SPM_H

#include "vocab/merge.h"

/* The word has blanks, not marks. */
extern const struct merge_rules vocab_spm_rules, vocab_spm_ranked_rules;

/* Bytes of the first stretch of p[0..len) that can be merged without looking
 * at what follows. len > 0. */
size_t
vocab_spm_word(const struct gg_vocab *v, const uint8_t *p, size_t len);

#endif
