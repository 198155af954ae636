/* session_remote.h - a session of a pipeline: what rank 0 tells the others of
 * it, and how they follow
 *
 * All functions of rank 0 do nothing in a session of one process, and in other
 * ranks. */
#ifndef MODEL_SESSION_REMOTE_H
#define MODEL_SESSION_REMOTE_H

#include "model/pipeline.h"
#include "model/session_impl.h"

/* ---- rank 0 ------------------------------------------------------------- */

/* Gives it a number, and has the others begin one like it. `st` is what became
 * of rank 0's; returns what became of all. */
enum gg_status
model_session_begin_remote(struct gg_session *s, enum gg_status st,
                           struct gg_error *err);
void
model_session_end_remote(struct gg_session *s);

/* The others evaluate the chunks, too. */
enum gg_status
model_session_tell_chunks(struct gg_session *s, const struct gg_chunk *chunks,
                          size_t n_chunks, struct gg_error *err);

/* They do op (TRUNCATE, COPY) with the same arguments. */
void
model_session_tell_op(struct gg_session *s, enum pipeline_op op, int32_t a,
                      int32_t b, int32_t c);

/* The slot holds the first n ids of the chunk, whose rows are about to come; n
 * may be 0. */
void
model_session_tell_load(struct gg_session *s, const struct gg_chunk *chunk);

/* model_cache_get_rows() and model_cache_set_rows(), wherever the layer is; k:
 * enum cache_tensor. */
enum gg_status
model_session_get_rows(struct gg_session *s, int32_t layer, int k, int64_t row,
                       int64_t n, char *to, struct gg_error *err);
void
model_session_set_rows(struct gg_session *s, int32_t layer, int k, int64_t row,
                       int64_t n, const char *from);

/* The row of a recurrent state after the first n ids of a slot, and that of the
 * slot; k: enum cache_recurrent_tensor. */
enum gg_status
model_session_get_state(struct gg_session *s, int32_t layer, int k,
                        int32_t slot, int32_t n, char *to,
                        struct gg_error *err);
void
model_session_set_state(struct gg_session *s, int32_t layer, int k,
                        int32_t slot, const char *from);

/* Room for batches that are under way. */
bool
model_session_flying_init(struct gg_session *s);
void
model_session_flying_clear(struct gg_session *s);

/* ---- all ranks ---------------------------------------------------------- */

/* Evaluates the chunks behind what the slots hold. Rank 0 comes back when all
 * batches have begun: the last is s->flights.started. */
enum gg_status
model_session_run_pipeline(struct gg_session *s, const struct gg_chunk *chunks,
                           size_t n_chunks, const float *scales,
                           struct gg_error *err);

#endif
