/* engine.h - what an engine and its sequences are made of; for this module
 *
 * A slot of the session belongs to a sequence, or it still holds what one that
 * is gone has left there, with its ids, until another needs it. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <gg-engine.h>

#include "session/session.h"

struct engine_slot {
    struct gg_sequence *owner; /* or NULL: */
    int32_t *ids;              /* what it still holds */
    float *logprobs;           /* theirs, of an engine that scores */
    float *scales;             /* of adapters, theirs; NULL: the model's */
    char *key;                 /* theirs; NULL: none */
    size_t n_ids;
    uint64_t used; /* when it was last */
};

/* How many ids of prompts a step may evaluate, and what is known of the time
 * that they take. */
struct engine_bound {
    size_t ids;  /* at most; 0: no limit */
    uint64_t us; /* that a step may take; 0: no limit */
    double us_per_id, us_decode;
    bool applies; /* to the evaluation under way, */
    bool pieces;  /* which gives results of what it evaluates */
};

struct engine_draft;
struct engine_prefixes;

struct gg_engine {
    const struct gg_vocab *vocab;
    struct gg_session *session;
    struct session_can can;
    bool shift, score;
    bool no_forced; /* what must come is not drafted */
    size_t n_ctx, n_vocab, n_adapters;
    int32_t n_slots;
    struct engine_slot *slots;
    struct gg_chunk *chunks; /* scratch, one a slot */
    uint64_t clock;          /* of the slots' use */
    uint64_t call;           /* of gg_engine_eval() */
    struct gg_engine_stats stats;
    struct engine_draft *draft;       /* or NULL */
    struct engine_prefixes *prefixes; /* or NULL */
    struct engine_bound bound;
    uint64_t most_cache; /* bytes that slots may hold; 0: no limit */
};

struct gg_sequence {
    struct gg_engine *engine;
    int32_t slot; /* -1: none; its ids must be evaluated again */
    int32_t *ids;
    size_t n_ids, cap;
    size_t n_held; /* ids[0 .. n_held) stand in the slot */
    uint64_t n_dropped;
    float *logprobs; /* of ids[1 .. n_known), of an engine that scores: */
    size_t cap_logprobs, n_known; /* n_known > n_held, or both are 0 */
    uint64_t call;                /* of the engine that named it last */
    bool pinned;                  /* it is evaluated in this round, */
    size_t limit;    /* before which its slot may hold no more ids than this */
    size_t most;     /* ids that a bounded step evaluates of it: */
    bool goes_on;    /* there were more */
    size_t n_shared; /* ids that its slot had when it got it */
    size_t given; /* ids whose results gg_engine_eval_some() has given, and */
    double *sum;  /* of these the sum of embeddings; or NULL */
    bool keep;
    float *scales;    /* of adapters; NULL: the model's */
    char *key;        /* whose prefixes it shares; NULL: those without one */
    size_t stored;    /* first ids that are in the prefix cache */
    size_t split;     /* it has no states after so many ids, which others begin
                         with, too; or 0 */
    size_t stops;     /* with so many ids it is evaluated in parts */
    size_t n_drafted; /* ids at the end that may not come, while they are
                         evaluated */
};

/* Does gg_engine_new()'s work; `params` is not NULL. */
enum gg_status
engine_new(const struct gg_vocab *vocab, struct gg_session *session,
           const struct gg_engine_params *params, struct gg_engine **out,
           struct gg_error *err);

/* The slot holds no more than the first n ids of the sequence from now on. */
void
engine_sequence_release(struct gg_sequence *q, size_t n);

/* Gives the sequence, which is pinned, a slot that holds at most q->limit of
 * its ids, or its own slot, which holds none, these: as many as can be copied
 * from some slot, or as are worth being evaluated first since another pinned
 * sequence begins alike. Fewer than n_slots others are pinned. */
enum gg_status
engine_place(struct gg_sequence *q, struct gg_error *err);

/* Gives the sequence, which has none, a slot whose contents are nobody's. No
 * sequence is pinned. */
void
engine_take_slot(struct gg_sequence *q);

/* The sequence goes; the slot keeps what it holds of it. */
void
engine_leave_slot(struct gg_sequence *q);

/* The id is of a row of some medium. */
static inline bool
engine_is_row(const struct gg_engine *e, int32_t id)
{
    return id >= 0 && (size_t)id >= e->n_vocab;
}

/* Before its slot gets all of the sequence's ids, the first n_shared of slot
 * `from`; -1: of none. Contents of slots that are nobody's go, the oldest
 * first, but for that one's, until there is no more than slots may hold. */
void
engine_make_room(const struct gg_sequence *q, int32_t slot, int32_t from,
                 size_t n_shared);

/* Whether the slot's contents may become part of the sequence. */
bool
engine_may_share(const struct engine_slot *s, const struct gg_sequence *q);

/* How many of the sequence's first ids the evaluation under way is to give its
 * slot. */
size_t
engine_goal(const struct gg_sequence *q);

/* Ids that its slot lacks of the sequence's first n. False: none. */
bool
engine_missing(const struct gg_sequence *q, size_t n, struct gg_chunk *out);

/* Such a chunk has been evaluated. */
void
engine_has(struct gg_sequence *q, size_t n);

/* As gg_engine_eval(), but where ranks of a pipeline evaluate, results are
 * there after session_wait() for the ticket alone. NULL: on return. */
enum gg_status
engine_start(struct gg_engine *e, const struct gg_query *queries, size_t n,
             uint64_t *ticket, struct gg_error *err);

/* Starts the first of the queries, as many as there are slots for. */
enum gg_status
engine_round(struct gg_engine *e, const struct gg_query *queries, size_t n,
             uint64_t *ticket, struct gg_error *err);

/* GG_ERR_ARG: the query cannot be. No other of this call, e->call, may name its
 * sequence. */
enum gg_status
engine_check_query(struct gg_engine *e, const struct gg_query *w,
                   struct gg_error *err);

/* The first id that has a score. */
size_t
engine_first_scored(const struct gg_query *w);

/* Sets the results that the chunk, a piece of a query's ids, is to have. */
void
engine_want_piece(const struct gg_query *w, struct gg_chunk *c);

/* Evaluates chunks, and counts them; with a ticket it only starts them. What
 * they add to their sequences may get into the prefix cache. */
enum gg_status
engine_run(struct gg_engine *e, const struct gg_chunk *chunks, size_t n,
           uint64_t *ticket, struct gg_error *err);

/* Evaluates and counts chunks without a prefix cache. */
enum gg_status
engine_run_chunks(struct gg_engine *e, const struct gg_chunk *chunks, size_t n,
                  uint64_t *ticket, struct gg_error *err);

#endif
