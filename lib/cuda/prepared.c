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
                      struct ggml_tensor *const *nodes, int n)
{
    bool ahead = prepared->ahead;

    prepared->ahead = false;
    for (int i = 0; i < n && prepared->x.data && !ahead; i++)
        if (cuda_overlap(nodes[i], &prepared->x))
            cuda_prepared_forget(prepared);
}

static void *
make_room(struct cuda_prepared *p, const struct ggml_tensor *x, int how,
          size_t size)
{
    cuda_pool_reset(&p->pool);
    p->p = cuda_pool_take(&p->pool, size);
    p->x = *x;
    p->how = how;
    p->size = size;
    p->n_made++;
    if (!p->p)
        cuda_prepared_forget(p);
    return p->p;
}

void *
cuda_prepare_ahead(struct cuda_ctx *c, const struct ggml_tensor *x, int how,
                   size_t size)
{
    struct cuda_prepared *p = &cuda_of_ctx(c)->prepared;

    p->ahead = make_room(p, x, how, size) != NULL;
    return p->p;
}

void *
cuda_prepared(struct cuda_ctx *c, const struct ggml_tensor *x, int how,
              size_t size, bool *made)
{
    struct cuda_prepared *p = &cuda_of_ctx(c)->prepared;

    *made = p->x.data && p->how == how && p->size == size &&
            cuda_is_same_place(&p->x, x);
    p->n_shared += *made;
    if (*made)
        return p->p;
    if (!make_room(p, x, how, size))
        c->failed = true;
    return p->p;
}
