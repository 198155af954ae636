/* grammar.h - texts that a grammar allows, byte by byte
 *
 * A grammar is compiled to a program for a pushdown automaton on bytes. Where
 * in the grammar a text may stand is a set of (instruction, stack of calls);
 * such sets are states of a finite automaton that is made as it is needed, so
 * that a byte mostly costs a look into a table. */
#ifndef SAMPLE_GRAMMAR_H
#define SAMPLE_GRAMMAR_H

#include <gg.h>

#include "core/error.h"

/* The tokens of a vocabulary: token id is bytes[at[id] .. at[id+1]);
 * those without bytes are allowed where a grammar names them only, but for the
 * ends of generation. */
struct grammar_tokens {
    const char *bytes;
    const uint32_t *at;
    int32_t n;
    const int32_t *eog; /* in ascending order */
    size_t n_eog;
    /* The id of the token that is written so, or -1; NULL: none has a name. */
    int32_t (*find)(const void *vocab, const char *name, size_t len);
    const void *vocab;
};

/* GBNF in text[0..len). The tokens are copied. GG_ERR_FORMAT says what is
 * wrong and in which line. */
enum gg_status
sample_grammar_new(const char *text, size_t len,
                   const struct grammar_tokens *tokens, struct gg_grammar **out,
                   struct gg_error *err);

/* Where a text stands; in a list of the grammar's, which may give its states
 * other numbers. */
struct grammar_at {
    int32_t state;
    struct gg_grammar *grammar; /* NULL: none */
    struct grammar_at *next, **back;
};

/* At the beginning; away from any grammar. */
void
sample_grammar_begin(struct grammar_at *at, struct gg_grammar *g);
void
sample_grammar_leave(struct grammar_at *at);

/* Whether the token may come next; *fits gets the answer. */
enum gg_status
sample_grammar_allows(const struct grammar_at *at, int32_t id, bool *fits,
                      struct gg_error *err);

/* Whether the text may end here. */
bool
sample_grammar_may_end(const struct grammar_at *at);

/* How many tokens there are. */
size_t
sample_grammar_size(const struct grammar_at *at);

/* A bit for each token, which can come next: bit id % 64 of mask[id / 64]; and
 * how many there are. Lives until the next call with the grammar. */
enum gg_status
sample_grammar_mask(const struct grammar_at *at, const uint64_t **mask,
                    size_t *n_fit, struct gg_error *err);

/* Whether the mask is there already, and has no more than `most` tokens. */
bool
sample_grammar_has_mask(const struct grammar_at *at, size_t most);

/* The token, which is allowed, was drawn. */
enum gg_status
sample_grammar_advance(struct grammar_at *at, int32_t id, struct gg_error *err);

/* ---- what must come, for drafts ----
 *
 * A place is the state of a text, and then where sample_grammar_follow() leads;
 * a draw of any of the grammar's texts makes places worthless. */

/* The only token that is allowed at the place, which *certain tells, or the one
 * that was last drawn there, if its first byte had to come; -1: neither. */
int32_t
sample_grammar_expect(const struct gg_grammar *g, int32_t place, bool *certain);

/* The bytes that must come at the place, but for blanks that may be left out,
 * which are there if the last one was: n at most. Returns how many. */
size_t
sample_grammar_must(struct gg_grammar *g, int32_t place, char *text, size_t n);

/* The place after the token; false: it does not fit, or there is no memory. */
bool
sample_grammar_follow(struct gg_grammar *g, int32_t *place, int32_t id);

#endif
