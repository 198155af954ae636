/* prepared.c - what several nodes need of one tensor is made once
 *
 * Products of few columns want these in eight bits, those of many in BF16; q,
 * k and v of a layer have the same ones. What was made stays valid until the
 * graph ends, or a node writes over the tensor. */
#include <string.h>

#include "cuda/backend.h"

void
cuda_prepared_forget(struct cuda_prepared *prepared)
{
    prepared->x.data = NULL;
}

void
cuda_prepared_written(struct cuda_prepared *prepared,
                      const struct ggml_tensor *node)
{
    const struct ggml_tensor *x = &prepared->x;
    const char *p = node->data, *q = x->data;

    if (q && p < q + ggml_nbytes(x) && q < p + ggml_nbytes(node))
        cuda_prepared_forget(prepared);
}

/* The same elements at the same places. */
static bool
is_same(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->data == b->data && a->type == b->type &&
           ggml_are_same_shape(a, b) && ggml_are_same_stride(a, b);
}

void *
cuda_prepared(struct cuda_ctx *c, const struct ggml_tensor *x, int how,
              size_t size, bool *made)
{
    struct cuda_prepared *p = &cuda_of_ctx(c)->prepared;

    *made = p->x.data && p->how == how && p->size == size && is_same(&p->x, x);
    p->n_shared += *made;
    if (*made)
        return p->p;
    cuda_pool_reset(&p->pool);
    p->p = cuda_pool_take(&p->pool, size);
    p->x = *x;
    p->how = how;
    p->size = size;
    p->n_made++;
    if (!p->p) {
        cuda_prepared_forget(p);
        c->failed = true;
    }
    return p->p;
}
