/* ranked_pair.h - a query and a document, as the ids that a reranker takes */
#ifndef COMMON_RANKED_PAIR_H
#define COMMON_RANKED_PAIR_H

#include "common/buffer.h"
#include "common/cli.h"

/* All zero is empty. */
struct pair {
    struct buffer query, document;
};

void
ranked_pair_clear(struct pair *pair);

/* The ids of a pair as they are made, and how texts become ids: n of them,
 * which live until the next call. */
struct ranked_pair_ids {
    enum gg_status (*encode)(void *data, const char *text, size_t len,
                             unsigned flags, const int32_t **ids, size_t *n,
                             struct gg_error *err);
    void *data;
    int32_t *ids; /* room that stays, for free() */
    size_t n, cap;
};

/* In the form of the file's template "rerank", or as encoders have it. What the
 * pair holds never becomes a control token. */
enum gg_status
ranked_pair_encode(const struct pair *pair, const struct gg_vocab *vocab,
                   struct ranked_pair_ids *to, struct gg_error *err);

#endif
