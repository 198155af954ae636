/* batches.h - chunks in batches, as all processes of a pipeline part them */
#ifndef SESSION_BATCHES_H
#define SESSION_BATCHES_H

#include "session/impl.h"
#include "session/pipeline.h"

/* Sets s->n_part for a call with these chunks. */
void
session_part(struct gg_session *s, const struct gg_chunk *chunks,
             size_t n_chunks);

/* Puts as much of the chunks with these adapters as there is room for in the
 * batch; *chunk and *done (ids of it that are evaluated) move on. */
void
session_next_batch(struct gg_session *s, struct batch *b,
                   const struct gg_chunk *chunks, size_t n_chunks,
                   const float *scales, size_t *chunk, size_t *done);

/* The batch has been evaluated, as far as the cache is concerned. */
void
session_count(struct gg_session *s, const struct batch *b);

/* Tells the caller how many ids of the call are done. */
void
session_report(struct gg_session *s, uint64_t done);

/* Evaluates the chunks with these adapters, in this process alone. */
enum gg_status
session_run_batches(struct gg_session *s, const struct gg_chunk *chunks,
                    size_t n_chunks, const float *scales, struct gg_error *err);

#endif
