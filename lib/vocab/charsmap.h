/* charsmap.h - SentencePiece's normalisation: what characters become
 *
 * The value of tokenizer.ggml.precompiled_charsmap, little-endian: the bytes
 * of a trie (u32), the trie, and texts that end with NUL. The trie is a double
 * array as the library Darts-clone writes it: a unit of 32 bits has
 *
 *   bits 0-7   the byte that leads here     bit 8   a value hangs on it
 *   bit 9      the offset counts 256        bits 10-31  offset to children
 *   bit 31     the unit is a value: bits 0-30, a place in the texts
 *
 * A child stands at its parent's place XOR offset XOR its byte, a value as the
 * child of byte 0. */
#ifndef VOCAB_CHARSMAP_H
#define VOCAB_CHARSMAP_H

#include "core/error.h"
#include "gguf/reader.h"

enum {
    CHARSMAP_MAX_TEXT = 255, /* bytes that a key may become */
    CHARSMAP_MAX_KEY = 128,  /* longer keys are never found */
};

/* Zero changes nothing. Points into the file. */
struct charsmap {
    const uint8_t *units, *texts;
    size_t n_units, n_texts; /* n_texts: bytes, the last of them NUL */
};

/* Where the file has none, *map stays. */
enum gg_status
vocab_charsmap_load(struct charsmap *map, const struct gguf_context *gguf,
                    struct gg_error *err);

/* The text that the longest key at the beginning of p[0..len) becomes; *n_key
 * gets the key's bytes, *n those of the text. NULL: there is no such key. */
const uint8_t *
vocab_charsmap_find(const struct charsmap *map, const uint8_t *p, size_t len,
                    size_t *n_key, size_t *n);

/* True if a key begins with p[0..len). */
bool
vocab_charsmap_goes_on(const struct charsmap *map, const uint8_t *p,
                       size_t len);

#endif
