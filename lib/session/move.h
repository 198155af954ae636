/* move.h - a device fails, and its layers move to other homes */
#ifndef SESSION_MOVE_H
#define SESSION_MOVE_H

#include "session/model.h"
#include "session/pipeline.h"

/* All but the CPU's. */
model_home_set
session_devices_of(const struct model *m);

/* Homes whose devices do not answer. */
model_home_set
session_find_lost(const struct model *m);

/* Whether layers can go elsewhere when a device has failed with this status: to
 * the CPU, too, if no device was requested by name. */
static inline bool
session_can_move(const struct model *m, enum gg_status st)
{
    return (st == GG_ERR_IO || st == GG_ERR_NOMEM) && !m->pipeline->divided &&
           m->n_homes > (m->named ? 2 : 1);
}

/* *out is `from` without the homes in `lost`: each one's layers are at the next
 * home, or the one before, if that has room for them and for keys and values of
 * n_ctx positions, else on the CPU. Weights that stay where they are remain
 * `from`'s, which must outlive *out. Others that fail meanwhile are added to
 * *lost. Fails where no device is left, and they were requested by name. */
enum gg_status
session_move_model(const struct model *from, model_home_set *lost,
                   int64_t n_ctx, struct model **out, struct gg_error *err);

/* "MESSAGE: its layers move to CUDA1" */
void
session_move_words(const struct model *from, model_home_set lost,
                   const struct model *to, const char *message, char *buf,
                   size_t size);

#endif
