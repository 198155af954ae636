/* cache_rows.c - rows of the KV cache for a file, and how many there are */
#include <string.h>

#include "session/cache.h"
#include "session/recurrent.h"

size_t
session_cache_row_size(const struct ggml_tensor *t)
{
    return t->nb[1] * (size_t)t->ne[2];
}

/* Rows in use of all slots. */
static size_t
rows_used(const struct cache_part *p, int32_t n_slots)
{
    size_t n = 0;

    for (int32_t slot = 0; slot < n_slots; slot++)
        n += (size_t)p->used[slot];
    return n;
}

size_t
session_cache_rows_size(const struct cache *cache, int part)
{
    size_t size = 0;

    for (int32_t i = 0; i < cache->n_all; i++) {
        const struct cache_layer *l = &cache->layers[i];

        for (int k = 0; k < CACHE_TENSORS; k++)
            if (l->t[k] && graph_part_of(l, k) == part &&
                session_cache_is_here(cache, i))
                size += session_cache_row_size(l->t[k]);
    }
    return size;
}

size_t
session_cache_used(const struct cache *cache)
{
    size_t size = session_recurrent_used(cache);

    for (int i = 0; i < CACHE_PARTS; i++)
        size += rows_used(&cache->parts[i], cache->n_slots) *
                session_cache_rows_size(cache, i);
    return size;
}

static void
copy_pieces(int64_t n, size_t size, char *to, size_t to_stride,
            const char *from, size_t from_stride)
{
    for (int64_t i = 0; i < n; i++, to += to_stride, from += from_stride)
        memcpy(to, from, size);
}

void
session_cache_get_rows(const struct cache *cache, const struct ggml_tensor *t,
                       int64_t row, int64_t n, char *to)
{
    size_t size = t->nb[1];

    for (int64_t h = 0; h < t->ne[2]; h++, to += size) {
        ggml_backend_tensor_get(t, cache->head, session_cache_place(t, h, row),
                                (size_t)n * size);
        copy_pieces(n, size, to, session_cache_row_size(t), cache->head, size);
    }
}

void
session_cache_set_rows(const struct cache *cache, struct ggml_tensor *t,
                       int64_t row, int64_t n, const char *from)
{
    size_t size = t->nb[1];

    for (int64_t h = 0; h < t->ne[2]; h++, from += size) {
        copy_pieces(n, size, cache->head, size, from,
                    session_cache_row_size(t));
        ggml_backend_tensor_set(t, cache->head, session_cache_place(t, h, row),
                                (size_t)n * size);
    }
}
