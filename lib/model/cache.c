/* cache.c - keys and values of what a session has evaluated */
#include "model/cache.h"

#include "core/check.h"
#include "core/mem.h"

int32_t
cache_cover(int32_t n)
{
    return (n + CACHE_BLOCK - 1) / CACHE_BLOCK * CACHE_BLOCK;
}

size_t
cache_size(const struct cache *cache)
{
    return cache->size;
}

/* Sizes that overflow must never reach the tensor face: it would end the
 * process. */
static bool
fits(const struct cache *c, size_t total, int64_t width)
{
    size_t n = ggml_row_size(c->type, width);

    return check_mul(n, (size_t)c->n_rows, &n) &&
           check_mul(n, (size_t)c->n_slots, &n) &&
           check_mul(n, (size_t)c->n_layer, &n) && n <= total;
}

static void
no_room(const struct cache *c, struct gg_error *err)
{
    error_set(err, GG_ERR_NOMEM,
              "no memory for the key/value cache of %d x %d positions; "
              "a smaller -c (n_ctx) needs less",
              (int)c->n_slots, (int)c->n_rows);
}

static bool
new_tensors(struct cache *c, int64_t d_k, int64_t d_v)
{
    int64_t n = (int64_t)c->n_rows * c->n_slots;
    struct ggml_init_params params = {
        .mem_size = 2 * (size_t)c->n_layer * ggml_tensor_overhead(),
        .no_alloc = true,
    };
    struct ggml_init_params two = {
        .mem_size = 2 * ggml_tensor_overhead(),
        .no_alloc = true,
    };

    c->k = mem_array((size_t)c->n_layer, sizeof(struct ggml_tensor *));
    c->v = mem_array((size_t)c->n_layer, sizeof(struct ggml_tensor *));
    c->n_clean = mem_array((size_t)c->n_slots, sizeof(*c->n_clean));
    c->ctx = ggml_init(params);
    c->views = ggml_init(two);
    if (!c->k || !c->v || !c->n_clean || !c->ctx || !c->views)
        return false;
    for (int32_t i = 0; i < c->n_layer; i++) {
        c->k[i] = ggml_new_tensor_2d(c->ctx, c->type, d_k, n);
        c->v[i] = ggml_new_tensor_2d(c->ctx, c->type, d_v, n);
        ggml_format_name(c->k[i], "cache_k.%d", (int)i);
        ggml_format_name(c->v[i], "cache_v.%d", (int)i);
    }
    return true;
}

/* Everything but the memory, if it can be no more than `max` bytes. */
static bool
lay_out(struct cache *c, const struct model *model, enum ggml_type type,
        int32_t n_slots, int32_t n_ctx, size_t max)
{
    const struct model_hparams *hp = &model->hp;
    int64_t d_k = (int64_t)hp->d_key * hp->n_head_kv;
    int64_t d_v = (int64_t)hp->d_value * hp->n_head_kv;

    *c = (struct cache){
        .type = type,
        .n_slots = n_slots,
        .n_ctx = n_ctx,
        .n_rows = cache_cover(n_ctx),
        .n_layer = hp->n_layer,
    };
    return fits(c, max, d_k + d_v) && new_tensors(c, d_k, d_v);
}

static enum gg_status
finish(struct cache *c, struct gg_error *err)
{
    if (c->buffer)
        return GG_OK;
    no_room(c, err);
    cache_clear(c);
    return GG_ERR_NOMEM;
}

enum gg_status
cache_init(struct cache *cache, const struct model *model, enum ggml_type type,
           int32_t n_slots, int32_t n_ctx, struct gg_error *err)
{
    struct cache *c = cache;
    size_t available, total;

    ggml_backend_dev_memory(model->device, &available, &total);
    if (lay_out(c, model, type, n_slots, n_ctx, total))
        c->buffer = ggml_backend_alloc_ctx_tensors_from_buft(
            c->ctx, ggml_backend_dev_buffer_type(model->device));
    if (c->buffer)
        c->size = ggml_backend_buffer_get_size(c->buffer);
    return finish(c, err);
}

enum gg_status
cache_init_dry(struct cache *cache, const struct model *model,
               enum ggml_type type, int32_t n_slots, int32_t n_ctx,
               struct gg_error *err)
{
    ggml_backend_buffer_type_t buft =
        ggml_backend_dev_buffer_type(model->device);
    struct cache *c = cache;
    struct ggml_tensor *t;

    if (lay_out(c, model, type, n_slots, n_ctx, SIZE_MAX / 4)) {
        c->size = ggml_backend_alloc_ctx_tensors_from_buft_size(c->ctx, buft);
        c->buffer = ggml_backend_buft_alloc_buffer(buft, 0);
        t = ggml_get_first_tensor(c->ctx);
        for (; t; t = ggml_get_next_tensor(c->ctx, t))
            t->buffer = c->buffer; /* so that nobody plans memory for it */
    }
    return finish(c, err);
}

void
cache_clear(struct cache *cache)
{
    ggml_backend_buffer_free(cache->buffer);
    ggml_free(cache->ctx);
    ggml_free(cache->views);
    mem_free(cache->k);
    mem_free(cache->v);
    mem_free(cache->n_clean);
    *cache = (struct cache){ 0 };
}

static void
zero_rows(struct ggml_tensor *t, int64_t first, int64_t n)
{
    ggml_backend_tensor_memset(t, 0, (size_t)first * t->nb[1],
                               (size_t)n * t->nb[1]);
}

void
cache_touch(struct cache *cache, int32_t slot, int32_t n_rows)
{
    int32_t *clean = &cache->n_clean[slot];
    int64_t first = (int64_t)slot * cache->n_rows + *clean;

    if (n_rows <= *clean)
        return;
    for (int32_t i = 0; i < cache->n_layer; i++) {
        zero_rows(cache->k[i], first, n_rows - *clean);
        zero_rows(cache->v[i], first, n_rows - *clean);
    }
    *clean = n_rows;
}

static struct ggml_tensor *
rows_of(struct cache *cache, struct ggml_tensor *t, int64_t first, int64_t n)
{
    struct ggml_tensor *v = ggml_view_2d(cache->views, t, t->ne[0], n, t->nb[1],
                                         (size_t)first * t->nb[1]);

    ggml_backend_view_init(v);
    return v;
}

/* They must not overlap. */
static void
copy_rows(struct cache *cache, struct ggml_tensor *t, int64_t to, int64_t from,
          int64_t n)
{
    ggml_reset(cache->views);
    ggml_backend_tensor_copy(rows_of(cache, t, from, n),
                             rows_of(cache, t, to, n));
}

void
cache_copy(struct cache *cache, int32_t to, int32_t from, int32_t n)
{
    int64_t first = (int64_t)from * cache->n_rows;
    int64_t target = (int64_t)to * cache->n_rows;

    if (n == 0 || to == from)
        return;
    for (int32_t i = 0; i < cache->n_layer; i++) {
        copy_rows(cache, cache->k[i], target, first, n);
        copy_rows(cache, cache->v[i], target, first, n);
    }
    if (cache->n_clean[to] < n)
        cache->n_clean[to] = n;
}
