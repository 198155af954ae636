/* pool.c - scratch memory of a stream: a growing arena
 *
 * Nodes of a stream run one after the other, so that all use the same memory:
 * it grows to what the largest node needs, and then stays. Launched work and
 * captured graphs hold addresses in outgrown memory: it is freed once the
 * stream is synchronised, and the graphs are captured again. */
#include "cuda/backend.h"

enum {
    FIRST_SIZE = 1 << 20
};

/* Buffers that the node has already stay where they are: only later ones are in
 * the new memory. */
static bool
grow_pool(struct cuda_pool *pool, size_t size)
{
    enum {
        MAX = sizeof(pool->outgrown) / sizeof(pool->outgrown[0])
    };
    size_t wanted = 2 * pool->size > FIRST_SIZE ? 2 * pool->size : FIRST_SIZE;
    void *p;

    if (pool->n_outgrown == MAX)
        return false;
    if (wanted < pool->used + size)
        wanted = pool->used + size;
    if (cuda_malloc(wanted, &p) != CUDA_OK) {
        wanted = pool->used + size;
        if (cuda_malloc(wanted, &p) != CUDA_OK)
            return false;
    }
    if (pool->base)
        pool->outgrown[pool->n_outgrown++] = pool->base;
    pool->base = p;
    pool->size = wanted;
    pool->grown++;
    return true;
}

void *
cuda_pool_take(struct cuda_pool *pool, size_t size)
{
    void *p;

    size = size ? cuda_round_up(size) : CUDA_ALIGNMENT;
    if (size > pool->size - pool->used && !grow_pool(pool, size))
        return NULL;
    p = pool->base + pool->used;
    pool->used += size;
    return p;
}

void
cuda_pool_reset(struct cuda_pool *pool)
{
    pool->used = 0;
}

void
cuda_pool_trim(struct cuda_pool *pool)
{
    for (int i = 0; i < pool->n_outgrown; i++)
        cuda_free(pool->outgrown[i]);
    pool->n_outgrown = 0;
}

void
cuda_pool_clear(struct cuda_pool *pool)
{
    cuda_pool_trim(pool);
    cuda_free(pool->base);
    *pool = (struct cuda_pool){ 0 };
}
