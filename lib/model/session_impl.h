/* session_impl.h - what a session is made of; for this module only */
#ifndef MODEL_SESSION_IMPL_H
#define MODEL_SESSION_IMPL_H

#include "model/compute.h"
#include "model/session_profile.h"
#include "model/slots.h"

struct gg_session {
    const struct model *model;
    struct model *spare; /* on the CPU, since the GPU has failed; or NULL */
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
    double *pools; /* n_embd sums a chunk of a call */
    size_t cap_pools;
    double *head; /* scratch of what follows the pooling, and a row of it */
    size_t cap_head;
    float *head_row;
    size_t cap_head_row;
    struct session_profile *profile; /* or NULL */
};

/* The GPU has failed at `why`; nothing of its memory is used again. On failure
 * all stays as it is. */
bool
model_session_move_to_cpu(struct gg_session *s, const struct gg_error *why);

#endif
