/* place.h - weights go where their devices want them */
#ifndef SESSION_PLACE_H
#define SESSION_PLACE_H

#include "gguf/reader.h"
#include "graph/model.h"

/* Gives the model's weights, which are named as in the file, their data: in the
 * mappings, where the home's device can compute there, else copied to it,
 * unless `lender`, or NULL, has them there. */
enum gg_status
session_place_weights(const struct gg_model_params *params,
                      const struct model *lender, struct model *m,
                      model_home_set *failed, struct gg_error *err);

/* Gives tensors of another file their data likewise, those of a context for
 * each of the model's homes. On failure, too, session_free_buffers(out). */
enum gg_status
session_place_tensors(const struct gguf_file *file,
                      const struct gg_model_params *params,
                      const struct model *m, struct ggml_context *const *ctx,
                      struct model_buffers *out, model_home_set *failed,
                      struct gg_error *err);

void
session_free_buffers(struct model_buffers *b); /* takes an empty one */

/* The rows of weights in the CPU's memory go to the nodes of the threads that
 * read them: core/numa.h. What this cannot do costs time only. */
void
session_spread_over_nodes(const struct model *m);

#endif
