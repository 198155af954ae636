/* pooling.c - pooling: sums of hidden states, for embeddings */
#include "session/pooling.h"

#include "core/mem.h"

bool
session_pooling_add(struct model_pooling *p, const struct ggml_tensor *hidden,
                    const struct batch *b)
{
    size_t n = (size_t)hidden->ne[0];

    if (!mem_grow(&p->rows, &p->cap, (size_t)ggml_nelements(hidden),
                  sizeof(*p->rows)))
        return false;
    ggml_backend_tensor_get(hidden, p->rows, 0, ggml_nbytes(hidden));
    for (int32_t i = 0; i < b->n_outputs; i++)
        for (size_t j = 0; b->pools[i] && j < n; j++)
            b->pools[i][j] += (double)p->rows[(size_t)i * n + j];
    return true;
}

void
session_pooling_clear(struct model_pooling *p)
{
    mem_free(p->rows);
    *p = (struct model_pooling){ 0 };
}
