/* impl.h - what a session is made of; for this module only */
#ifndef SESSION_IMPL_H
#define SESSION_IMPL_H

#include "session/compute.h"
#include "session/profile.h"
#include "session/slots.h"

struct pipeline_session;

/* Ids that the last call that named a slot evaluated there. */
enum session_prefill {
    SESSION_NO_PREFILL,
    SESSION_PREFILLED,  /* a prompt, up to its end */
    SESSION_IN_PREFILL, /* a piece of it */
};

struct gg_session {
    const struct model *model;
    struct model *spare; /* on other homes, since a GPU has failed; or NULL */
    bool moves;          /* if one fails, what slots hold is evaluated again */
    bool dead;           /* nothing is evaluated any more, for this reason */
    struct gg_error why_dead;
    struct gg_session_params params;
    struct cache_form form; /* of the cache */
    int32_t n_ctx, n_slots, n_batch;
    int32_t n_segments; /* sequences that one graph evaluates at most */
    struct media media;
    struct slots slots;
    uint64_t *called; /* number of the call that named each slot last */
    uint64_t call;
    enum session_prefill *prefilled; /* each slot: by the last call */
    struct cache cache;
    struct compute compute;
    struct batch batch;
    struct compute mtp; /* of MTP layers in use; else empty */
    struct batch mtp_batch;
    bool mtp_rests; /* they draft nothing for now, and get no keys */
    struct pipeline_session *shared; /* what a pipeline has for it; or NULL */
    uint64_t ticket;        /* of the last call: what there is to wait for */
    bool encodes;           /* the ids of encoders are evaluated, or others */
    int32_t n_part;         /* ids of a batch of the present call at most */
    uint64_t n_done, n_all; /* ids of a call, for params.progress */
    double *pools;          /* n_embd sums a chunk of a call */
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
session_move(struct gg_session *s, const struct gg_error *why);

/* Whether it would be of use: some device does not answer. */
bool
session_has_lost(const struct gg_session *s);

/* Evaluates the chunks after what the slots hold; for ranks of a pipeline other
 * than 0. */
enum gg_status
session_follow(struct gg_session *s, const struct gg_chunk *chunks,
               size_t n_chunks, struct gg_error *err);

/* How many ids of a sequence, whose first n these are, are the encoder's: n
 * where the decoder's have not begun, or, without an encoder, 0. */
size_t
session_encoder_ids(const struct gg_session *s, const int32_t *ids, size_t n);

/* How much adapters count for the chunk. */
const float *
session_scales(const struct gg_session *s, const struct gg_chunk *c);

#endif
