/* session_impl.h - what a session is made of; for this module only */
#ifndef MODEL_SESSION_IMPL_H
#define MODEL_SESSION_IMPL_H

#include "model/compute.h"
#include "model/session_profile.h"
#include "model/slots.h"

/* Batches of rank 0 of a pipeline that are under way in other ranks: those from
 * `finished` to `started` - 1, counted since the session began. */
struct session_flights {
    struct batch *batches; /* n: batch i is at i % n */
    float *scales;         /* of adapters, of each */
    int32_t n;
    uint64_t started, finished;
};

struct gg_session {
    const struct model *model;
    struct model *spare; /* on other homes, since a GPU has failed; or NULL */
    bool dead;           /* nothing is evaluated any more, for this reason */
    struct gg_error why_dead;
    struct gg_session_params params;
    enum ggml_type type_kv; /* of the cache */
    int32_t n_ctx, n_slots, n_batch;
    int32_t n_segments; /* sequences that one graph evaluates at most */
    struct slots slots;
    uint64_t *called; /* number of the call that named each slot last */
    uint64_t call;
    bool *prefilled; /* each slot: by the last call that named it */
    struct cache cache;
    struct compute compute;
    struct batch batch;
    struct compute mtp; /* of MTP layers in use; else empty */
    struct batch mtp_batch;
    int32_t number;        /* of a pipeline's, where all have begun it; or -1 */
    struct compute output; /* of rank 0: what follows the last layer */
    struct session_flights flights;
    int32_t n_part; /* ids of a batch of the present call at most */
    uint64_t n_done, n_all; /* ids of a call, for params.progress */
    double *pools;  /* n_embd sums a chunk of a call */
    size_t cap_pools;
    double *head; /* scratch of what follows the pooling, and a row of it */
    size_t cap_head;
    float *head_row;
    size_t cap_head_row;
    struct session_profile *profile; /* or NULL */
};

/* Devices have failed at `why`, after which layers may move. Nothing of these
 * devices' memory is used again; what slots hold is to be evaluated again. On
 * failure the session is as it was, or dead: then it has no slots. */
bool
model_session_move(struct gg_session *s, const struct gg_error *why);

/* Whether it would be of use: some device does not answer. */
bool
model_session_has_lost(const struct gg_session *s);

/* Evaluates the chunks behind what the slots hold; for ranks of a pipeline other
 * than 0. */
enum gg_status
model_session_follow(struct gg_session *s, const struct gg_chunk *chunks,
                     size_t n_chunks, struct gg_error *err);

/* The chunk's slot holds its ids, and nothing else, as if they had been
 * evaluated: the caller writes their rows. n may be 0. */
void
model_session_assume(struct gg_session *s, const struct gg_chunk *chunk);

/* How much adapters count for the chunk. */
const float *
model_session_scales(const struct gg_session *s, const struct gg_chunk *c);

/* Sets s->n_part for a call with these chunks. */
void
model_session_part(struct gg_session *s, const struct gg_chunk *chunks,
                   size_t n_chunks);

/* Puts as much of the chunks with these adapters as there is room for in the
 * batch; *chunk and *done (ids of it that are evaluated) move on. */
void
model_session_next_batch(struct gg_session *s, struct batch *b,
                         const struct gg_chunk *chunks, size_t n_chunks,
                         const float *scales, size_t *chunk, size_t *done);

/* The batch has been evaluated, as far as the cache is concerned. */
void
model_session_count(struct gg_session *s, const struct batch *b);

#endif
