/* answer.h - the answer to a prompt while it is made: a text of the engine,
 * with what is written about it */
#ifndef GENERATE_ANSWER_H
#define GENERATE_ANSWER_H

#include <gg-engine.h>

#include "common/buffer.h"
#include "common/reasoning.h"
#include "common/records/logprobs.h"
#include "common/sampling.h"

/* An id that was drawn, and what was there before it. */
struct answer_id {
    struct gg_drawn drawn;
    double logprob;
    struct logprobs_place place;
};

/* All zero but for `tail`, which is -1: none yet. */
struct answer {
    const struct sampling_options *sampling; /* the caller's */
    struct gg_sampler *sampler;              /* its own */
    struct gg_sequence *sequence;
    struct gg_text *made; /* NULL: no prompt has come yet */
    const struct gg_vocab *vocab;
    bool is_parted; /* by the prompt's reader */
    bool wants_logprob;
    const struct gg_stop *stop; /* or NULL: the caller's */
    const char *tools;          /* the prompt's */
    bool hides_calls;           /* they are written elsewhere */
    uint64_t draws;             /* the sequence that draws depend on */
    bool numbered;              /* for --logprobs: the sequence has */
    uint64_t number;            /* this one */
    const struct reasoning_options *thoughts; /* the caller's */
    bool hides_thought;                       /* what is shown is without */

    /* The parts of the answer; without a reader all of it is text. */
    struct buffer text, reasoning, calls;
    struct buffer tool_calls; /* the calls in JSON, once it has ended */
    struct buffer shown; /* what is written of it: the caller takes it away */
    size_t n_thought;    /* bytes of reasoning that are written elsewhere */
    double logprob;      /* if wanted: the sum of the drawn ids' */
    size_t n_made;       /* ids, */
    struct answer_id *made_ids; /* each, */
    size_t cap_ids, n_logged;   /* of which --logprobs has */
    int32_t *message;           /* ids of --reasoning-budget-message */
    struct logprobs logprobs;   /* of these, if wanted */
    int32_t tail;               /* drawn, and not the sequence's; -1: none */
};

/* Frees all but the options. */
void
answer_clear(struct answer *a);

struct generate;
struct prompt;

/* Another answer begins after the sequence's ids and those that the prompt has
 * after its first `begin`. GG_ERR_CONTEXT: there is no room. */
enum gg_status
answer_start(const struct generate *g, struct answer *a,
             const struct prompt *prompt, size_t begin, struct gg_error *err);

/* After a step: the text gets what was drawn, and --logprobs a line. */
void
answer_take(struct answer *a);

/* The step failed, or a signal came: the answer ends as far as it went. */
void
answer_cut(struct answer *a);

/* True where the answer has ended before its grammar, or within reasoning;
 * `text` says why. */
bool
answer_is_cut(const struct answer *a, char *text, size_t size);

#endif
