/* wordpiece.h - BERT's WordPiece: what encoding needs of it */
#ifndef VOCAB_WORDPIECE_H
#define VOCAB_WORDPIECE_H

#include "vocab/vocab.h"

enum {
    WORDPIECE_MAX_CHARS = 100, /* of a word; a longer one is unknown */
};

/* The ids of p[0..len) to `out`. */
void
wordpiece_encode(const struct gg_vocab *v, const uint8_t *p, size_t len,
                 struct vocab_out *out);

/* True for the pieces that decoding writes without a blank in front of them,
 * though they begin a word: . , ? ! */
static inline bool
wordpiece_attached(const uint8_t *p, size_t len)
{
    return len == 2 && p[0] == ' ' &&
           (p[1] == '.' || p[1] == ',' || p[1] == '?' || p[1] == '!');
}

#endif
