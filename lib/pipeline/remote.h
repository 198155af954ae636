/* remote.h - a session of a pipeline: what rank 0 tells the others of it, and
 * what it has under way
 *
 * The functions that sessions call are those of struct pipeline_calls. */
#ifndef PIPELINE_REMOTE_H
#define PIPELINE_REMOTE_H

#include "pipeline/pipeline.h"
#include "session/impl.h"

/* State of a session in rank 0. Batches that are in flight in other ranks are
 * those from `finished` to s->ticket - 1, counted since the session began. */
struct pipeline_session {
    int32_t number;        /* in commands; -1: the others have not begun it */
    struct compute output; /* what follows the last layer */
    struct batch *batches; /* n: batch i is at i % n */
    float *scales;         /* of adapters, of each */
    int32_t n;
    uint64_t finished;
};

extern const struct pipeline_calls pipeline_calls;

static inline struct pipeline *
pipeline_of_session(const struct gg_session *s)
{
    return pipeline_of(s->model->pipeline);
}

/* ---- divide.c, run.c: functions of pipeline_calls -------------------------
 */

enum gg_status
pipeline_divide(struct gg_pipeline *p, struct model *m, struct gg_error *err);
enum gg_status
pipeline_run(struct gg_session *s, const struct gg_chunk *chunks,
             size_t n_chunks, const float *scales, struct gg_error *err);
enum gg_status
pipeline_wait(struct gg_session *s, uint64_t ticket, struct gg_error *err);

/* Room for what rank 0 has for a session; false: no memory. */
bool
pipeline_flying_init(struct gg_session *s);
void
pipeline_flying_clear(struct gg_session *s); /* takes a session without any */

#endif
