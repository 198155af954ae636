/* session.h - sequences of ids in slots, and their evaluation */
#ifndef MODEL_SESSION_H
#define MODEL_SESSION_H

#include "model/model.h"

/* What gg_session_new() does with the model's weights. `params` is not NULL.
 * The other functions of gg.h on sessions are here as well. */
enum gg_status
session_new(const struct model *model, const struct gg_session_params *params,
            struct gg_session **out, struct gg_error *err);

int32_t
session_n_vocab(const struct gg_session *session);

/* How many of the first n ids of the slot it could go on after: what
 * gg_session_truncate() and gg_session_copy() would return. */
int32_t
session_kept(const struct gg_session *session, int32_t slot, int32_t n);

/* The CPU computes all of it. */
bool
session_is_on_cpu(const struct gg_session *session);

/* What gg_model_memory() does. `params` is not NULL. */
enum gg_status
session_memory(const struct model *model,
               const struct gg_session_params *params, struct gg_memory *out,
               struct gg_error *err);

#endif
