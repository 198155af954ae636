/* large_pages.c - large pages for what is in use of a cache */
#include "session/large_pages.h"

#include "core/mem.h"

enum {
    MOST = MEM_LARGE_PAGE / 4 * 3, /* bytes in use of an extent */
    PATIENCE = 8,                  /* extents that the system may refuse */
};

void
session_large_pages_init(struct cache_home *home)
{
    struct cache_extents *x = &home->extents;
    char *base = ggml_backend_buffer_get_base(home->buffer);
    size_t skip = -(uintptr_t)base % MEM_LARGE_PAGE;

    if (home->size < skip + MEM_LARGE_PAGE)
        return;
    x->base = base + skip;
    x->n = (home->size - skip) / MEM_LARGE_PAGE;
    x->used = mem_array(x->n, sizeof(*x->used));
    if (!x->used)
        x->n = 0;
}

void
session_large_pages_clear(struct cache_home *home)
{
    mem_free(home->extents.used);
    home->extents = (struct cache_extents){ 0 };
}

/* Calls `with` for each extent that has some of the n bytes at p. */
static void
for_extents(struct cache_extents *x, const char *p, size_t n,
            void (*with)(struct cache_extents *x, size_t i, uint32_t bytes))
{
    const char *end = p + n;

    p = p > x->base ? p : x->base;
    while (p < end) {
        size_t i = (size_t)(p - x->base) / MEM_LARGE_PAGE;
        const char *next = x->base + (i + 1) * MEM_LARGE_PAGE;

        next = next < end ? next : end;
        if (i >= x->n)
            return;
        with(x, i, (uint32_t)(next - p));
        p = next;
    }
}

static void
use(struct cache_extents *x, size_t i, uint32_t bytes)
{
    uint32_t before = x->used[i];

    x->used[i] += bytes;
    if (before < MOST && x->used[i] >= MOST && x->n_refused < PATIENCE)
        x->n_refused =
            mem_large_page(x->base + i * MEM_LARGE_PAGE) ? 0 : x->n_refused + 1;
}

static void
stop_using(struct cache_extents *x, size_t i, uint32_t bytes)
{
    uint32_t before = x->used[i];

    x->used[i] -= bytes;
    if (before >= MOST && x->used[i] < MOST)
        mem_small_pages(x->base + i * MEM_LARGE_PAGE, MEM_LARGE_PAGE);
}

/* Does that with rows [from, to) of the slot, of all heads. */
static void
for_rows(struct cache_home *home, const struct cache_part *part,
         const struct ggml_tensor *t, int32_t slot, int32_t from, int32_t to,
         void (*with)(struct cache_extents *x, size_t i, uint32_t bytes))
{
    size_t row = (size_t)slot * (size_t)part->n_rows + (size_t)from;

    if (home->extents.n == 0)
        return;
    for (int64_t h = 0; h < t->ne[2]; h++)
        for_extents(&home->extents,
                    (const char *)t->data + (size_t)h * t->nb[2] +
                        row * t->nb[1],
                    (size_t)(to - from) * t->nb[1], with);
}

/* And of all tensors of the part. */
static void
for_tensors(struct cache *cache, int part, int32_t slot, int32_t from,
            int32_t to,
            void (*with)(struct cache_extents *x, size_t i, uint32_t bytes))
{
    for (int32_t i = 0; i < cache->n_all && from < to; i++) {
        const struct cache_layer *l = &cache->layers[i];

        for (int k = 0; k < CACHE_TENSORS; k++)
            if (l->t[k] && graph_part_of(l, k) == part)
                for_rows(&cache->homes[l->home], &cache->parts[part], l->t[k],
                         slot, from, to, with);
    }
}

void
session_large_pages_add(struct cache *cache, int part, int32_t slot,
                        int32_t from, int32_t to)
{
    for_tensors(cache, part, slot, from, to, use);
}

void
session_large_pages_remove(struct cache *cache, int part, int32_t slot,
                           int32_t from, int32_t to)
{
    for_tensors(cache, part, slot, from, to, stop_using);
}
