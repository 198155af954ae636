/* vectors.h - records that want embeddings of texts, by the model that answers
 * all others */
#ifndef GENERATE_VECTORS_H
#define GENERATE_VECTORS_H

#include "gg-generate/records.h"

struct vectors;

/* The texts of the request, which need no longer be there then. *out is to be
 * closed in any case, unless it is NULL. */
enum gg_status
vectors_open(const struct generate *g, const struct request *r,
             struct vectors **out, struct gg_error *err);
void
vectors_close(struct vectors *v); /* takes NULL */

/* The queries that they need. */
const struct gg_query *
vectors_queries(const struct vectors *v, size_t *n);

/* That is done: adds the line of the answer to `out`. */
enum gg_status
vectors_finish(const struct generate *g, const struct request *r,
               struct vectors *v, struct buffer *out, struct gg_error *err);

/* Does both. */
enum gg_status
vectors_answer(const struct generate *g, const struct request *r,
               struct vectors *v, struct buffer *out, struct gg_error *err);

/* Scores the documents of a request, and adds the line to `out`. */
enum gg_status
ranks_answer(struct generate *g, const struct request *r, struct buffer *out,
             struct gg_error *err);

/* Checks the ids of a text, for both; `what` is the member. They must be the
 * vocabulary's, and no more than the context has. */
enum gg_status
vectors_check_ids(const struct generate *g, const char *what,
                  const int32_t *ids, size_t n, struct gg_error *err);
/* Ids of a text, for free() in any case. */
enum gg_status
vectors_encode(const struct gg_vocab *v, const char *text, size_t len,
               unsigned flags, int32_t **ids, size_t *n, struct gg_error *err);

#endif
