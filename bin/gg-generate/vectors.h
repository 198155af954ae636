/* vectors.h - records that want embeddings of texts, by the model that answers
 * all others */
#ifndef GENERATE_VECTORS_H
#define GENERATE_VECTORS_H

#include "gg-generate/records.h"

/* Embeds the texts of the request and adds the line of the answer to `out`. */
enum gg_status
vectors_answer(struct generate *g, const struct request *r, struct buffer *out,
               struct gg_error *err);

#endif
