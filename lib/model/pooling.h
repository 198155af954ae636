/* pooling.h - pooling: sums of hidden states, for embeddings */
#ifndef MODEL_POOLING_H
#define MODEL_POOLING_H

#include "model/batch.h"

struct model_pooling {
    float *rows; /* scratch */
    size_t cap;
};

/* Adds each output of the batch, a row of `hidden`, to where it goes. False: no
 * memory. */
bool
model_pooling_add(struct model_pooling *p, const struct ggml_tensor *hidden,
                  const struct batch *b);
void
model_pooling_clear(struct model_pooling *p); /* takes an empty one */

#endif
