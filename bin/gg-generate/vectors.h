/* vectors.h - records that want embeddings of texts, by the model that answers
 * all others */
#ifndef GENERATE_VECTORS_H
#define GENERATE_VECTORS_H

#include "gg-generate/records.h"

/* Embeds the texts of the request and adds the line of the answer to `out`. */
enum gg_status
vectors_answer(struct generate *g, const struct request *r, struct buffer *out,
               struct gg_error *err);

/* The same for scores of documents. */
enum gg_status
ranks_answer(struct generate *g, const struct request *r, struct buffer *out,
             struct gg_error *err);

/* What both do with the ids of a text; `what` is the member. A vocabulary's
 * ids, as many as the context has. */
enum gg_status
vectors_check_ids(const struct generate *g, const char *what,
                  const int32_t *ids, size_t n, struct gg_error *err);
/* Ids of a text, for free(). */
int32_t *
vectors_encode(const struct gg_vocab *v, const char *text, size_t len,
               unsigned flags, size_t *n);

#endif
