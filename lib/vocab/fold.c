/* fold.c - characters without accents, in lower case, as BERT sees them */
#include "vocab/fold.h"

#include <string.h>

#include "vocab/fold_tables.h"

/* Hangul syllables are composed by rule: chapter 3.12 of the standard. */
enum {
    HANGUL = 0xac00,
    HANGUL_END = 0xd7a4,
    LEADING = 0x1100,
    VOWEL = 0x1161,
    TRAILING = 0x11a7, /* the first one is none */
    N_VOWELS = 21,
    N_TRAILING = 28,
};

static unsigned
value_of(uint32_t cp)
{
    uint32_t block = cp / FOLD_BLOCK;

    if (block >= FOLD_BLOCKS)
        block = FOLD_BLOCKS - 1;
    return fold_values[fold_index[block] * (uint32_t)FOLD_BLOCK +
                       cp % FOLD_BLOCK];
}

enum fold
vocab_fold_of(uint32_t cp)
{
    unsigned value = value_of(cp);

    if (cp >= HANGUL && cp < HANGUL_END)
        return FOLD_OTHER;
    return value < FOLD_OTHER ? (enum fold)value : FOLD_OTHER;
}

/* One of three bytes. */
static size_t
put_utf8(uint8_t *out, uint32_t cp)
{
    out[0] = (uint8_t)(0xe0 | cp >> 12);
    out[1] = (uint8_t)(0x80 | (cp >> 6 & 0x3f));
    out[2] = (uint8_t)(0x80 | (cp & 0x3f));
    return 3;
}

static size_t
hangul(uint32_t i, uint8_t *out)
{
    size_t n = put_utf8(out, LEADING + i / (N_VOWELS * N_TRAILING));

    n += put_utf8(out + n, VOWEL + i / N_TRAILING % N_VOWELS);
    if (i % N_TRAILING)
        n += put_utf8(out + n, TRAILING + i % N_TRAILING);
    return n;
}

size_t
vocab_fold_text(uint32_t cp, uint8_t *out)
{
    const uint8_t *text;

    if (cp >= HANGUL && cp < HANGUL_END)
        return hangul(cp - HANGUL, out);
    text = fold_texts + value_of(cp) - FOLD_OTHER;
    memcpy(out, text + 1, text[0]);
    return text[0];
}
