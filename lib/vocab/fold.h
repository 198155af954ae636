/* fold.h - characters without accents, in lower case, as BERT sees them */
#ifndef VOCAB_FOLD_H
#define VOCAB_FOLD_H

#include <stddef.h>
#include <stdint.h>

enum {
    FOLD_MAX = 16 /* bytes that a character may become */
};

enum fold {
    FOLD_SAME,    /* stays as it is; so do tab, LF and CR */
    FOLD_CONTROL, /* Cc, Cf, Co and U+FFFD: dropped */
    FOLD_MARK,    /* Mn: dropped with the accents */
    FOLD_OTHER,   /* becomes vocab_fold_text() */
};

/* The fold of a character of Unicode 16.0. */
enum fold
vocab_fold_of(uint32_t codepoint);

/* The text of a character that is FOLD_OTHER: its canonical decomposition
 * without marks (Mn), in lower case. Writes at most FOLD_MAX bytes, and returns
 * their number. */
size_t
vocab_fold_text(uint32_t codepoint, uint8_t *out);

#endif
