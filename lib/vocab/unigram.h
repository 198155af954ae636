/* unigram.h - SentencePiece's Unigram: what encoding needs of it
 *
 * A text is handed over in parts, which may be parted by tokens that the user
 * defined; so its order of calls is begin, any of part and user, end. */
#ifndef VOCAB_UNIGRAM_H
#define VOCAB_UNIGRAM_H

#include "vocab/vocab.h"

enum {
    UNIGRAM_MAX_PIECE = 1024 /* bytes */
};

/* The best way to some place: by which token it gets there. */
struct unigram_node {
    double score; /* of all tokens since the last place that all ways pass */
    uint32_t len; /* of the token; 0: no way leads here */
    int32_t id;   /* -1: a character that is no piece */
};

/* Zero is a new one; it may be used for one text after the other. */
struct unigram {
    const struct gg_vocab *v;
    uint8_t *text; /* normalised, blanks for marks */
    size_t n, cap;
    struct unigram_node *nodes; /* one for each place, and the end */
    size_t cap_nodes;
    size_t from;  /* the last place that all ways pass */
    size_t at;    /* ways from here on are not known yet */
    size_t reach; /* the furthest place that a way leads to */

    bool prefix;      /* a blank is still to come in front */
    bool after_blank; /* more blanks are dropped */
    size_t pending;   /* blanks that are dropped if nothing follows */
    bool unknown;     /* the last id was the unknown token's */
};

/* Of tokens that the user defined those with a blank are not looked for in the
 * text as it comes, but in what normalising makes of it, as pieces are. */
static inline bool
unigram_has_blank(const struct gg_vocab *v, int32_t id)
{
    size_t n;
    const uint8_t *p = vocab_bytes(v, id, &n);

    return v->kind == VOCAB_UGM && vocab_type(v, id) == GG_TOKEN_USER_DEFINED &&
           memchr(p, ' ', n) != NULL;
}

/* `prefix`: a blank goes in front. */
void
unigram_begin(struct unigram *u, const struct gg_vocab *v, bool prefix);
/* False: no memory. */
bool
unigram_part(struct unigram *u, const uint8_t *p, size_t len,
             struct vocab_out *out);
/* Here comes token `id`, which the user defined. False: no memory. */
bool
unigram_user(struct unigram *u, int32_t id, struct vocab_out *out);
void
unigram_end(struct unigram *u, struct vocab_out *out);
void
unigram_clear(struct unigram *u);

#endif
