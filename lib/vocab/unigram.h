/* unigram.h - SentencePiece's Unigram: what encoding needs of it
 *
 * A text is handed over in parts, which may be separated by tokens that the
 * user defined; so its order of calls is begin, any of part and user, end. */
#ifndef VOCAB_UNIGRAM_H
#define VOCAB_UNIGRAM_H

#include "vocab/cache.h"
#include "vocab/pieces.h"
#include "vocab/vocab.h"

enum {
    /* Sums that are kept: those of the places that a piece may lead to. */
    UNIGRAM_SUMS = 2 * PIECES_MAX_BYTES
};

/* Kinds of bytes of ASCII, for one that another follows. */
enum unigram_byte {
    UNIGRAM_OTHER, /* it must be looked up in the character map */
    UNIGRAM_PLAIN, /* it stays as it is, and is no blank */
    UNIGRAM_BLANK, /* it becomes a blank */
};

/* Begun by vocab_unigram_begin() when all but the sums is zero; it may be used
 * for one text after the other. */
struct unigram {
    const struct gg_vocab *v;
    struct cache *cache; /* or NULL */

    /* The normalised text, with blanks for marks. After its n bytes there is
     * room for `pending` blanks. */
    uint8_t *text;
    size_t n, cap;
    /* With ranges: which bytes of the original each one comes from. */
    struct gg_range *from;

    /* The best way to each place, and to the end: bytes of its last token; 0:
     * no way leads here. */
    uint16_t *last;
    size_t begin; /* the last place that all ways pass */
    size_t at;    /* ways from here on are not known yet */
    size_t reach; /* the furthest place that a way leads to */

    const uint8_t *base;   /* ranges count from here */
    struct gg_range blank; /* the last blank that was dropped in front */
    bool prefix;           /* a blank is still to come in front */
    bool after_blank;      /* more blanks are dropped */
    size_t pending;        /* blanks that are dropped if nothing follows */
    bool unknown;          /* the last id was the unknown token's */
    bool has_unknown;      /* this word has one */

    /* Sums of the way to a place, by its number modulo UNIGRAM_SUMS: the scores
     * of all tokens since `begin`. */
    double sums[UNIGRAM_SUMS];
};

/* Whether the token has a blank. Such tokens that the user defined are not
 * looked for in the text as it comes, but in what normalising makes of it, as
 * pieces are. */
static inline bool
vocab_unigram_has_blank(const struct gg_vocab *v, int32_t id)
{
    size_t n;
    const uint8_t *p = vocab_bytes(v, id, &n);

    return v->kind == VOCAB_UGM && vocab_type(v, id) == GG_TOKEN_USER_DEFINED &&
           memchr(p, ' ', n) != NULL;
}

/* True if a character of ASCII never becomes the unknown token. */
bool
vocab_unigram_known(const struct gg_vocab *v, uint8_t byte);

/* True if the byte is punctuation that is dropped. */
bool
vocab_unigram_drops(const struct gg_vocab *v, uint8_t byte);

/* ---- the text: unigram_text.c ---- */

/* `base`: where ranges count from. `first`: the text begins here; else it goes
 * on from another. `cache`: or NULL. */
void
vocab_unigram_begin(struct unigram *u, const struct gg_vocab *v,
                    const uint8_t *base, bool first, struct cache *cache);
/* False: no memory. */
bool
vocab_unigram_part(struct unigram *u, const uint8_t *p, size_t len,
                   struct vocab_out *out);
/* At p is token `id`, which the user defined. False: no memory. */
bool
vocab_unigram_user(struct unigram *u, const uint8_t *p, int32_t id,
                   struct vocab_out *out);
void
vocab_unigram_end(struct unigram *u, struct vocab_out *out);
void
vocab_unigram_clear(struct unigram *u);

/* ---- the best way: unigram.c ---- */

/* Goes on as far as pieces can be seen whole; `last`: to the end. */
void
vocab_unigram_advance(struct unigram *u, bool last, struct vocab_out *out);
/* Decides all of the text, so that there is none. */
void
vocab_unigram_finish(struct unigram *u, struct vocab_out *out);

#endif
