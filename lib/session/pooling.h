/* pooling.h - pooling: sums of hidden states, for embeddings */
#ifndef SESSION_POOLING_H
#define SESSION_POOLING_H

#include "session/batch.h"

struct model_pooling {
    float *rows; /* scratch */
    size_t cap;
};

/* Adds each output of the batch, a row of `hidden`, to where it goes. False: no
 * memory. */
bool
session_pooling_add(struct model_pooling *p, const struct ggml_tensor *hidden,
                    const struct batch *b);
void
session_pooling_clear(struct model_pooling *p); /* takes an empty one */

#endif
