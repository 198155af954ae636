/* wordpiece.h - BERT's WordPiece: what encoding needs of it */
#ifndef VOCAB_WORDPIECE_H
#define VOCAB_WORDPIECE_H

#include "vocab/cache.h"
#include "vocab/vocab.h"

enum {
    WORDPIECE_MAX_CHARS = 100, /* of a word; a longer one is unknown */
};

/* Effect of a byte on words, in v->plain. */
enum wordpiece_byte {
    WORDPIECE_PART,        /* is of a word, or dropped */
    WORDPIECE_SPACE,       /* ends one */
    WORDPIECE_PUNCTUATION, /* is one */
};

/* True for white space and punctuation of ASCII. */
static inline bool
vocab_wordpiece_parts(const struct gg_vocab *v, uint8_t byte)
{
    return v->plain[byte] != WORDPIECE_PART;
}

/* The ids of text[at..at + len) to `out`. `cache`: or NULL, as for ranges. */
void
vocab_wordpiece_encode(const struct gg_vocab *v, const uint8_t *text, size_t at,
                       size_t len, struct cache *cache, struct vocab_out *out);

/* True for the pieces that decoding writes without a blank in front of them,
 * though they begin a word: . , ? ! */
static inline bool
vocab_wordpiece_attached(const uint8_t *p, size_t len)
{
    return len == 2 && p[0] == ' ' &&
           (p[1] == '.' || p[1] == ',' || p[1] == '?' || p[1] == '!');
}

#endif
