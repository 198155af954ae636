/* relative.h - buckets of distances between a key and a query */
#ifndef GRAPH_RELATIVE_H
#define GRAPH_RELATIVE_H

#include <stdint.h>

enum {
    MODEL_RELATIVE_FAR = 128, /* all beyond share the last bucket; files do not
                                 say so */
};

/* The bucket of distance key - query: small distances have one each, larger
 * ones share one by their logarithm; half of the buckets are for keys after the
 * query. n_buckets is at least 4. */
int32_t
graph_relative_bucket(int32_t distance, int32_t n_buckets);

/* A decoder's bucket; it sees no keys ahead: all buckets are for those
 * before. */
int32_t
graph_relative_bucket_before(int32_t distance, int32_t n_buckets);

#endif
