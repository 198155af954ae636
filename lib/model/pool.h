/* pool.h - hidden vectors, added up */
#ifndef MODEL_POOL_H
#define MODEL_POOL_H

#include "model/batch.h"

struct pool {
    float *rows; /* scratch */
    size_t cap;
};

/* Adds each output of the batch, a row of `hidden`, to where it goes. False: no
 * memory. */
bool
pool_add(struct pool *p, const struct ggml_tensor *hidden,
         const struct batch *b);
void
pool_clear(struct pool *p); /* takes an empty one */

#endif
