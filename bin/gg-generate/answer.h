/* answer.h - a text in the making: what goes on in one slot of the session
 *
 * An answer is put ids, evaluated by its chunk, and draws an id, in turn:
 *
 *     answer_put(a, prompt, n);
 *     do {
 *         chunk = answer_chunk(a);
 *         gg_session_eval(session, &chunk, 1, &err);
 *         answer_draw(a, &err);
 *     } while (answer_goes_on(a));
 *     answer_end(a);
 *
 * Several can be evaluated together; what each draws does not depend on the
 * others. */
#ifndef GENERATE_ANSWER_H
#define GENERATE_ANSWER_H

#include "common/buffer.h"
#include "common/engine.h"
#include "common/sampling.h"
#include "gg-generate/stop.h"

enum ending {
    ENDING_NONE,    /* it goes on */
    ENDING_EOG,     /* the model has ended the text */
    ENDING_LENGTH,  /* it has as many ids as it may */
    ENDING_CONTEXT, /* there is no room for more */
    ENDING_STRING,  /* a stop string is complete */
};

struct answer {
    const struct engine *engine;
    int32_t slot;
    const struct sampling_options *sampling; /* the caller's */
    struct gg_sampler *sampler;              /* its own */
    struct gg_history *history;              /* what it remembers; or NULL */
    bool has_mirostat; /* what a new history begins with: */
    double mirostat;
    size_t n_new;      /* ids at the end that are not in there yet */
    uint64_t sequence; /* a number that draws depend on */
    unsigned flags;    /* GG_DECODE_... */
    bool wants_logprob;
    bool numbered;   /* for --logprobs: the sequence has */
    uint64_t number; /* this one */

    int32_t *ids; /* of the context, the last of them perhaps to evaluate */
    size_t n_ids, ids_cap;
    uint64_t n_dropped; /* ids before them, for want of room: --shift */

    float *logits;
    struct gg_best best; /* k 0: all logits are needed */
    size_t best_cap;

    struct gg_decode_state decode;
    struct stop stop;
    struct buffer text; /* made; the caller takes it away */
    char *piece;        /* scratch */
    size_t piece_cap;

    int32_t *made; /* the ids drawn since answer_start() */
    size_t n_made, made_cap;
    int32_t tail;   /* drawn, and not put; -1: none */
    double logprob; /* if wanted: the sum of the drawn ids' */
    enum ending ending;
};

/* Nothing in it yet. The engine outlives it. */
void
answer_init(struct answer *a, const struct engine *engine, int32_t slot);
void
answer_clear(struct answer *a);

/* Another answer begins, to what is then put behind the ids that are there: it
 * takes the sampler over; `sampling` and `stop` stay the caller's. */
void
answer_start(struct answer *a, const struct sampling_options *sampling,
             struct gg_sampler *sampler, const struct stop_strings *stop);

/* The answer lives on without sampler and history. */
void
answer_drop(struct answer *a);

/* The ids go behind those of the context, and are to be evaluated. With
 * --shift, others make room for them. False: there is none. */
bool
answer_put(struct answer *a, const int32_t *ids, size_t n);

/* Takes the last n ids away again, which were not evaluated. */
void
answer_take_back(struct answer *a, size_t n);

/* What the session has to evaluate: what was put, and what it has lost. */
struct gg_chunk
answer_chunk(struct answer *a);

/* Draws from what the chunk gave, and adds to the text; then the answer has
 * ended, or the id was put. */
enum gg_status
answer_draw(struct answer *a, struct gg_error *err);

static inline bool
answer_goes_on(const struct answer *a)
{
    return a->ending == ENDING_NONE;
}

/* True where it has ended, though its grammar wants more; then why: a sentence.
 * Not after answer_drop(). */
bool
answer_is_cut(const struct answer *a, char *text, size_t size);

/* The text is complete with what was held back of it. */
void
answer_end(struct answer *a);

#endif
