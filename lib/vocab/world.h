/* world.h - RWKV's World vocabulary: at each place the longest token */
#ifndef VOCAB_WORLD_H
#define VOCAB_WORLD_H

#include "vocab/vocab.h"

/* As vocab_piece_bytes() has it. */
bool
vocab_world_bytes(const char *text, size_t len, uint8_t *out, size_t *n);

/* Encodes p[at .. at + len), a text without special tokens. */
void
vocab_world_encode(const struct gg_vocab *v, const uint8_t *p, size_t at,
                   size_t len, struct vocab_out *out);

#endif
