/* gallocr.c - the graph allocator: memory for a plan, tensors put into it */
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <string.h>

#include "alloc/measure.h"
#include "alloc/plan.h"
#include "backend/impl.h"
#include "core/log.h"
#include "core/mem.h"

/* Memory of one buffer type: a buffer for each chunk of the arena. */
struct chunk_pool {
    ggml_backend_buffer_type_t buft;
    struct arena arena;
    ggml_backend_buffer_t *chunks;
    size_t n_chunks, cap;
};

struct ggml_gallocr {
    int n_bufs, n_pools;
    struct chunk_pool *pools;
    int *pool_of; /* by buffer id */
    struct plan_buffer *buffers;
    struct plan plan;
};

static void
add_pool(struct ggml_gallocr *g, int id, ggml_backend_buffer_type_t buft)
{
    struct chunk_pool *pool;
    int i = 0;

    while (i < g->n_pools && g->pools[i].buft != buft)
        i++;
    pool = &g->pools[i];
    if (i == g->n_pools) {
        g->n_pools++;
        pool->buft = buft;
        pool->arena.alignment = ggml_backend_buft_get_alignment(buft);
        pool->arena.max_chunk = ggml_backend_buft_get_max_size(buft);
    }
    g->pool_of[id] = i;
    g->buffers[id] = (struct plan_buffer){ buft, &pool->arena };
}

ggml_gallocr_t
ggml_gallocr_new_n(ggml_backend_buffer_type_t *bufts, int n_bufs)
{
    struct ggml_gallocr *g = mem_zalloc(sizeof(*g));

    if (!g)
        return NULL;
    g->n_bufs = n_bufs;
    g->pools = mem_array((size_t)n_bufs, sizeof(*g->pools));
    g->pool_of = mem_array((size_t)n_bufs, sizeof(*g->pool_of));
    g->buffers = mem_array((size_t)n_bufs, sizeof(*g->buffers));
    if (!g->pools || !g->pool_of || !g->buffers) {
        ggml_gallocr_free(g);
        return NULL;
    }
    for (int i = 0; i < n_bufs; i++)
        add_pool(g, i, bufts[i]);
    return g;
}

ggml_gallocr_t
ggml_gallocr_new(ggml_backend_buffer_type_t buft)
{
    return ggml_gallocr_new_n(&buft, 1);
}

static void
free_chunks(struct chunk_pool *pool)
{
    for (size_t i = 0; i < pool->n_chunks; i++)
        ggml_backend_buffer_free(pool->chunks[i]);
    pool->n_chunks = 0;
}

void
ggml_gallocr_free(ggml_gallocr_t galloc)
{
    if (!galloc)
        return;
    for (int i = 0; i < galloc->n_pools; i++) {
        free_chunks(&galloc->pools[i]);
        mem_free(galloc->pools[i].chunks);
        alloc_arena_clear(&galloc->pools[i].arena);
    }
    alloc_plan_clear(&galloc->plan);
    mem_free(galloc->pools);
    mem_free(galloc->pool_of);
    mem_free(galloc->buffers);
    mem_free(galloc);
}

static bool
make_plan(struct ggml_gallocr *g, struct ggml_cgraph *graph,
          const int *node_ids, const int *leaf_ids)
{
    for (int i = 0; i < g->n_pools; i++)
        alloc_arena_reset(&g->pools[i].arena);
    return alloc_plan_make(&g->plan, g->buffers, graph, node_ids, leaf_ids);
}

static bool
is_large_enough(const struct chunk_pool *pool)
{
    for (size_t i = 0; i < pool->arena.n_chunks; i++)
        if (i == pool->n_chunks ||
            ggml_backend_buffer_get_size(pool->chunks[i]) <
                pool->arena.chunks[i].extent)
            return false;
    return true;
}

static bool
add_chunk(struct chunk_pool *pool, size_t size)
{
    ggml_backend_buffer_t *chunk = &pool->chunks[pool->n_chunks];

    *chunk = ggml_backend_buft_alloc_buffer(pool->buft, size);
    if (!*chunk) {
        log_say(GGML_LOG_LEVEL_ERROR,
                "no memory for a compute buffer of %zu bytes in %s\n", size,
                ggml_backend_buft_name(pool->buft));
        return false;
    }
    ggml_backend_buffer_set_usage(*chunk, GGML_BACKEND_BUFFER_USAGE_COMPUTE);
    pool->n_chunks++;
    return true;
}

/* Data in the old memory are lost; all of it is given back first, so that there
 * is no more than the plan needs. */
static bool
grow_pool(struct chunk_pool *pool)
{
    size_t n = pool->arena.n_chunks;

    if (is_large_enough(pool))
        return true;
    if (!mem_grow(&pool->chunks, &pool->cap, n, sizeof(*pool->chunks)))
        return false;
    free_chunks(pool);
    for (size_t i = 0; i < n; i++)
        if (!add_chunk(pool, pool->arena.chunks[i].extent)) {
            free_chunks(pool);
            return false;
        }
    return true;
}

bool
ggml_gallocr_reserve_n(ggml_gallocr_t galloc, struct ggml_cgraph *graph,
                       const int *node_buffer_ids, const int *leaf_buffer_ids)
{
    bool done = make_plan(galloc, graph, node_buffer_ids, leaf_buffer_ids);

    for (int i = 0; done && i < galloc->n_pools; i++)
        done = grow_pool(&galloc->pools[i]);
    if (!done)
        galloc->plan.valid = false;
    return done;
}

bool
ggml_gallocr_reserve(ggml_gallocr_t galloc, struct ggml_cgraph *graph)
{
    return ggml_gallocr_reserve_n(galloc, graph, NULL, NULL);
}

static bool
is_first_of_pool(const struct ggml_gallocr *g, int id)
{
    for (int i = 0; i < id; i++)
        if (g->pool_of[i] == g->pool_of[id])
            return false;
    return true;
}

void
alloc_gallocr_stay(ggml_gallocr_t galloc)
{
    galloc->plan.stay = true;
}

bool
alloc_gallocr_keep(ggml_gallocr_t galloc, struct ggml_tensor *tensor,
                   struct ggml_tensor *until)
{
    struct plan *p = &galloc->plan;

    if (!mem_grow(&p->deps, &p->cap_deps, p->n_deps + 1, sizeof(*p->deps)))
        return false;
    p->deps[p->n_deps++] = (struct plan_dep){ tensor, until };
    p->valid = false;
    return true;
}

void
alloc_gallocr_keep_none(ggml_gallocr_t galloc)
{
    if (galloc->plan.n_deps > 0)
        galloc->plan.valid = false;
    galloc->plan.n_deps = 0;
}

bool
alloc_gallocr_measure(ggml_gallocr_t galloc, struct ggml_cgraph *graph,
                      const int *node_buffer_ids, const int *leaf_buffer_ids,
                      size_t *sizes)
{
    bool done = make_plan(galloc, graph, node_buffer_ids, leaf_buffer_ids);

    galloc->plan.valid = false; /* there may be less memory than planned */
    if (!done)
        return false;
    for (int id = 0; id < galloc->n_bufs; id++) {
        const struct arena *a = galloc->buffers[id].arena;

        sizes[id] = 0;
        for (size_t i = 0; is_first_of_pool(galloc, id) && i < a->n_chunks; i++)
            sizes[id] += a->chunks[i].extent;
    }
    return true;
}

void
ggml_gallocr_reserve_n_size(ggml_gallocr_t galloc, struct ggml_cgraph *graph,
                            const int *node_buffer_ids,
                            const int *leaf_buffer_ids, size_t *sizes)
{
    GGML_ASSERT(alloc_gallocr_measure(galloc, graph, node_buffer_ids,
                                      leaf_buffer_ids, sizes));
}

size_t
ggml_gallocr_get_buffer_size(ggml_gallocr_t galloc, int buffer_id)
{
    const struct chunk_pool *pool;
    size_t size = 0;

    GGML_ASSERT(buffer_id >= 0 && buffer_id < galloc->n_bufs);
    pool = &galloc->pools[galloc->pool_of[buffer_id]];
    for (size_t i = 0;
         is_first_of_pool(galloc, buffer_id) && i < pool->n_chunks; i++)
        size += ggml_backend_buffer_get_size(pool->chunks[i]);
    return size;
}

/* -- Putting tensors into the memory -- */

static bool
init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *t, void *data)
{
    t->buffer = buffer;
    t->data = data;
    return ggml_backend_buffer_init_tensor(buffer, t) == GGML_STATUS_SUCCESS;
}

static bool
put_owner(struct ggml_gallocr *g, const struct plan_item *item)
{
    const struct chunk_pool *pool = &g->pools[g->pool_of[item->buffer]];
    ggml_backend_buffer_t buffer = pool->chunks[item->at.chunk];
    char *base = ggml_backend_buffer_get_base(buffer);

    return init_tensor(buffer, item->t, base + item->at.offset);
}

static bool
put_view(struct ggml_tensor *t)
{
    char *base = t->view_src->data;

    return !t->view_src->buffer ||
           init_tensor(t->view_src->buffer, t, base + t->view_offs);
}

static bool
place_tensors(struct ggml_gallocr *g)
{
    for (size_t i = 0; i < g->plan.n_items; i++) {
        const struct plan_item *item = &g->plan.items[i];
        struct ggml_tensor *t = item->t;

        if (item->placed && !t->data && !t->buffer && !put_owner(g, item))
            return false;
    }
    for (size_t i = 0; i < g->plan.n_items; i++) {
        struct ggml_tensor *t = g->plan.items[i].t;

        if (t->view_src && !t->buffer && !put_view(t))
            return false;
    }
    return true;
}

bool
ggml_gallocr_alloc_graph(ggml_gallocr_t galloc, struct ggml_cgraph *graph)
{
    if (!alloc_plan_fits(&galloc->plan, galloc->buffers, graph)) {
        /* With several buffers, only the caller knows what goes where. */
        if (galloc->n_bufs != 1 || !ggml_gallocr_reserve(galloc, graph))
            return false;
    }
    for (int i = 0; i < galloc->n_pools; i++)
        for (size_t k = 0; k < galloc->pools[i].n_chunks; k++)
            ggml_backend_buffer_reset(galloc->pools[i].chunks[k]);
    return place_tensors(galloc);
}
