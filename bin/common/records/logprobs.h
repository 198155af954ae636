/* logprobs.h - how likely the tokens of an answer were, as OpenAI's interface
 * tells it */
#ifndef RECORDS_LOGPROBS_H
#define RECORDS_LOGPROBS_H

#include <gg-engine.h>

#include "common/buffer.h"

enum {
    LOGPROBS_MOST = 20, /* likeliest ids of each token */
};

/* All zero: they are not wanted. */
struct logprobs {
    bool wanted;
    size_t n_top;           /* likeliest ids that are wanted of each */
    struct gg_likely *list; /* for each token itself, and then these; where
                             * there are fewer, their ids are -1 */
    size_t n, cap;          /* tokens */
    size_t n_prompt;        /* of which are the prompt's, echoed; the first
                             * has nothing before it: NAN */
    enum gg_part part;      /* that the next token belongs to */
};

/* An answer begins. */
void
logprobs_begin(struct logprobs *l, const struct gg_text *text);
/* After a step in which an id was drawn: of the answer's text there are all but
 * the one that ends it. */
void
logprobs_take(struct logprobs *l, const struct gg_vocab *vocab,
              const struct gg_text *text);
/* The prompt's ids, before logprobs_begin(): logprobs[i] is of ids[i], and
 * best[i], where some are wanted, of those that could follow it. */
void
logprobs_set_prompt(struct logprobs *l, const int32_t *ids, size_t n,
                    const float *logprobs, const struct gg_best *best);
/* The prompt's of another answer to it. */
void
logprobs_copy_prompt(struct logprobs *l, const struct logprobs *from);
void
logprobs_clear(struct logprobs *l);

/* How far an answer has come, so that it can go back there. */
struct logprobs_place {
    size_t n;
    enum gg_part part;
};

static inline struct logprobs_place
logprobs_place(const struct logprobs *l)
{
    return (struct logprobs_place){ l->n, l->part };
}

static inline void
logprobs_back(struct logprobs *l, const struct logprobs_place *to)
{
    l->n = to->n;
    l->part = to->part;
}

/* How texts of tokens are made. */
struct logprobs_texts {
    const struct gg_vocab *vocab;
    unsigned flags;            /* GG_DECODE_... of the answer */
    bool goes_on;              /* it goes on from a text */
    const struct buffer *echo; /* what stands before the first one */
    const struct buffer *text; /* tokens of this stretch only; NULL: all, */
    size_t told;               /* but for its first ones */
};

/* Adds the object that a chat's choice has: null, if it is not wanted. Returns
 * how many tokens the stretch has. */
size_t
logprobs_add_chat(const struct logprobs *l, const struct logprobs_texts *texts,
                  struct buffer *out);

/* Adds them in the form of a completion's choice. */
size_t
logprobs_add_text(const struct logprobs *l, const struct logprobs_texts *texts,
                  struct buffer *out);

#endif
