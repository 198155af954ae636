/* bpe.h - byte-level BPE: what encoding needs of it */
#ifndef VOCAB_BPE_H
#define VOCAB_BPE_H

#include "vocab/merge.h"

extern const struct merge_rules vocab_bpe_rules;

#endif
