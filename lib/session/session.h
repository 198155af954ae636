/* session.h - sequences of ids in slots, and their evaluation
 *
 * The memory of a session is a matter of each layer (struct cache_layer): of a
 * kind, with a width, on the device where the layer's weights are. Kinds, and
 * operations that they allow:
 *
 *   kind              truncate to N       copy first N     snapshot, restore
 *   keys and values   any N               any N            rows of positions
 *   in a window       N near the end      the same         rows in the window
 *   latent rows       any N               any N            rows of positions
 *   an indexer's keys any N               any N            rows of positions
 *   rows for blocks   any N               any N            those of blocks
 *   columns of an     0, or a snapshot's  all, or the      one row, after the
 *     unfinished one    position            snapshot's       last position
 *   recurrent state   0, or a snapshot's  all, or the      one row, after the
 *                     position            snapshot's       last position
 *
 * Slots that begin alike refer to the same rows of layers that see all keys, in
 * whole blocks, on the CPU (shared_rows.h). All else is copied for each slot:
 * - rows in a window move down within a slot as its window goes on, and are
 *   never more than a window and a batch;
 * - each id changes all of a recurrent state;
 * - an indexer chooses rows of one slot by their numbers in it, so that all
 *   rows of such a model are copied;
 * - attention on a GPU takes the keys of a slot in one piece.
 *
 * A session can do what all of its layers can. Who works with it, the engine,
 * assumes nothing: session_can() says what is worth trying,
 * session_kept() and the functions that truncate, copy and load return
 * the position that is really kept, 0 at worst, and what is missing after it
 * is evaluated again. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "graph/model.h"

/* Does gg_session_new()'s work with the model's weights. `params` is not NULL.
 * The other functions of gg.h on sessions are here as well. */
enum gg_status
session_new(const struct model *model, const struct gg_session_params *params,
            struct gg_session **out, struct gg_error *err);

int32_t
session_n_vocab(const struct gg_session *session);

/* Things that a session can do with a sequence, other than begin anew. */
struct session_can {
    bool truncate;  /* go back to an earlier position: */
    bool goes_back; /* further than was wanted, where a recurrent state was
                       kept */
    bool copy;      /* begin another sequence like it */
    bool pieces;    /* take a run of ids in several calls */
    bool save;      /* leave it in a file, and load it */
};
struct session_can
session_can(const struct gg_session *session);

/* How many of the first n ids of the slot it could go on after: what
 * gg_session_truncate() and gg_session_copy() would return. */
int32_t
session_kept(const struct gg_session *session, int32_t slot, int32_t n);

/* ---- ids ------------------------------------------------------------------
 */

/* The index of the first id that is no token's, nor of a row that was added; n:
 * there is none. */
size_t
session_stray_id(const struct gg_session *session, const int32_t *ids,
                 size_t n);
/* GG_ERR_ARG, with a sentence, where there is one. */
enum gg_status
session_check_ids(const struct gg_session *session, const int32_t *ids,
                  size_t n, struct gg_error *err);

/* Refuses ids of which one is a row whose values are not here. */
enum gg_status
session_check_given(const struct gg_session *session, const int32_t *ids,
                    size_t n, struct gg_error *err);

/* The most of the first n ids of a sequence that do not end within a block of
 * rows, or before the decoder's first. */
size_t
session_edge(const struct gg_session *session, const int32_t *ids, size_t n);

/* Whether ids[i] of n, a sequence's first, is the encoder's or the decoder's
 * first: then it has no probability. */
bool
session_is_asked(const struct gg_session *session, const int32_t *ids, size_t n,
                 size_t i);

/* Where ids[0..at) of n end within a medium: the index after its last row;
 * before the decoder's first id: that after it; otherwise `at`. */
size_t
session_medium_end(const struct gg_session *session, const int32_t *ids,
                   size_t n, size_t at);

/* The CPU computes all of it. */
bool
session_is_on_cpu(const struct gg_session *session);

/* ---- memory of slots ----------------------------------------------------- */

/* Bytes of the cache that would be written for the first time, if the slot got
 * n ids, the first n_shared of slot `from`; -1: of none. */
size_t
session_growth(const struct gg_session *s, int32_t slot, int32_t n,
               int32_t from, int32_t n_shared);

/* The slot holds nothing any more, and its memory on the CPU is given back, but
 * for what others have in common with it. */
void
session_release(struct gg_session *s, int32_t slot);

/* ---- evaluations under way ----------------------------------------------- */

/* As gg_session_eval(), but where ranks of a pipeline evaluate, results come
 * later: what is named is the caller's again, but for where they go, which is
 * written to until session_wait() says so. Other slots can be used
 * meanwhile, and these as if the call had ended. *ticket: what to wait for. */
enum gg_status
session_start(struct gg_session *s, const struct gg_chunk *chunks,
              size_t n_chunks, uint64_t *ticket, struct gg_error *err);

/* The results of that call, and of all before it, are there. */
enum gg_status
session_wait(struct gg_session *s, uint64_t ticket, struct gg_error *err);

/* How many calls are worth having under way: the ranks of a pipeline, or 1. */
int32_t
session_overlap(const struct gg_session *s);

/* ---- drafts by MTP layers, or by a drafter --------------------------------
 */

/* How many ids they draft after one at most; 0: none are in use. */
int32_t
session_mtp(const struct gg_session *session);

/* Ids of a text that one step evaluates at most. */
int32_t
session_mtp_step(const struct model *model);

/* Whether a step drafts all ids at once. */
bool
session_mtp_blocks(const struct gg_session *session);

/* Whether they can after the first n ids of the slot, whose last one has been
 * evaluated with others before it: its hidden vector is kept. */
bool
session_mtp_can(const struct gg_session *session, int32_t slot, int32_t n);

/* While they rest, evaluations keep hidden vectors, but cost nothing else: the
 * layers see no ids of then, and none of prompts. For a drafter they keep
 * nothing. */
void
session_mtp_rest(struct gg_session *session, bool rests);

/* After the first `past` ids of a slot, which still has them or had them before
 * it went back, one was drawn and `n - 1` drafted, by as many calls as this:
 * ids. The logits of the next go to `logits`, or what is likeliest to `best`;
 * of blocks, those of the next n_rows ids, one after the other. */
struct model_guess {
    int32_t slot, past;
    const int32_t *ids;
    int32_t n, n_rows;
    float *logits;
    struct gg_best *best; /* or NULL */
};

/* All of the same n. A slot's ids stay as they are. */
enum gg_status
session_mtp_guess(struct gg_session *session, const struct model_guess *guesses,
                  size_t n_guesses, struct gg_error *err);

/* Memory that each home needs: n_homes of them; gg_model_memory() adds them up.
 * `params` is not NULL. */
enum gg_status
session_memory_at(const struct model *model,
                  const struct gg_session_params *params,
                  struct gg_memory homes[MODEL_MAX_HOMES],
                  struct gg_error *err);

/* How many adapters its model has. */
size_t
session_n_adapters(const struct gg_session *session);

/* Values of an embedding. */
size_t
session_width(const struct gg_session *s);

/* The embedding, GG_POOL_MEAN, of n ids whose vectors (GG_POOL_NONE) have this
 * sum. False: no memory. */
bool
session_finish_mean(struct gg_session *s, const double *sum, size_t n,
                    float *to);

#endif
