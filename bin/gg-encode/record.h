/* record.h - --jsonl: a line of JSON for each medium */
#ifndef GG_ENCODE_RECORD_H
#define GG_ENCODE_RECORD_H

#include <gg-media.h>

/* Adds the facts of a medium. n_ctx: positions of the model; 0: not known.
 * `vector`: the one row of a projector that makes such; or NULL. */
void
record_medium(const char *name, const struct gg_decoded *medium,
              const struct gg_media_plan *plan, uint64_t n_ctx,
              const struct gg_medium *vector);
void
record_error(const char *name, const char *message);

#endif
