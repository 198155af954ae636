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

static bool
overlaps(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const char *p = a->data, *q = b->data;

    return p < q + ggml_nbytes(b) && q < p + ggml_nbytes(a);
}

void
cuda_prepared_written(struct cuda_prepared *prepared,
                      struct ggml_tensor *const *nodes, int n)
{
    bool ahead = prepared->ahead;

    prepared->ahead = false;
    for (int i = 0; i < n && prepared->x.data && !ahead; i++)
        if (overlaps(nodes[i], &prepared->x))
            cuda_prepared_forget(prepared);
}

/* The same elements at the same places. */
static bool
is_same(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->data == b->data && a->type == b->type &&
           ggml_are_same_shape(a, b) && ggml_are_same_stride(a, b);
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

    *made = p->x.data && p->how == how && p->size == size && is_same(&p->x, x);
    p->n_shared += *made;
    if (*made)
        return p->p;
    if (!make_room(p, x, how, size))
        c->failed = true;
    return p->p;
}
