/* activation_cache.c - activations that several nodes read are converted once
 *
 * Small-batch products read activations in 8 bits, larger ones in BF16; the
 * products for q, k and v of a layer have the same. A conversion stays valid
 * until the graph ends, or a node overwrites the tensor. */
#include <string.h>

#include "cuda/backend.h"

void
cuda_activation_cache_clear(struct cuda_activation_cache *cache)
{
    cache->x.data = NULL;
}

void
cuda_activation_cache_written(struct cuda_activation_cache *cache,
                              struct ggml_tensor *const *nodes, int n)
{
    bool pending = cache->pending;

    cache->pending = false;
    for (int i = 0; i < n && cache->x.data && !pending; i++)
        if (cuda_overlap(nodes[i], &cache->x))
            cuda_activation_cache_clear(cache);
}

static void *
allocate(struct cuda_activation_cache *p, const struct ggml_tensor *x, int how,
         size_t size)
{
    cuda_pool_reset(&p->pool);
    p->p = cuda_pool_take(&p->pool, size);
    p->x = *x;
    p->how = how;
    p->size = size;
    p->n_made++;
    if (!p->p)
        cuda_activation_cache_clear(p);
    return p->p;
}

void *
cuda_cache_next_activations(struct cuda_ctx *c, const struct ggml_tensor *x,
                            int how, size_t size)
{
    struct cuda_activation_cache *p = &cuda_of_ctx(c)->activations;

    p->pending = allocate(p, x, how, size) != NULL;
    return p->p;
}

void *
cuda_cached_activations(struct cuda_ctx *c, const struct ggml_tensor *x,
                        int how, size_t size, bool *made)
{
    struct cuda_activation_cache *p = &cuda_of_ctx(c)->activations;

    *made = p->x.data && p->how == how && p->size == size &&
            cuda_is_same_place(&p->x, x);
    p->n_shared += *made;
    if (*made)
        return p->p;
    if (!allocate(p, x, how, size))
        c->failed = true;
    return p->p;
}
