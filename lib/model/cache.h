/* cache.h - keys and values of what a session has evaluated */
#ifndef MODEL_CACHE_H
#define MODEL_CACHE_H

#include "model/model.h"

/* Attention covers the cache in whole blocks of so many positions, so that
 * one graph serves for as many ids. */
enum {
    CACHE_BLOCK = 256,
};

/* Each slot has n_rows rows, one a position; row r of slot s is row
 * s * n_rows + r of the tensors. */
struct cache {
    enum ggml_type type;
    int32_t n_slots;
    int32_t n_ctx;  /* positions a slot */
    int32_t n_rows; /* a multiple of CACHE_BLOCK */
    int32_t n_layer;
    struct ggml_tensor **k; /* a layer: d_key * n_head_kv x all rows */
    struct ggml_tensor **v; /* a layer: d_value * n_head_kv x all rows */
    int32_t *n_clean;       /* a slot: rows that hold finite values */
    struct ggml_context *ctx;
    struct ggml_context *views; /* scratch for views of rows */
    ggml_backend_buffer_t buffer;
    size_t size; /* bytes */
};

/* Room for n_ctx positions in each slot; memory is touched as it is used. On
 * failure *cache is empty. */
enum gg_status
cache_init(struct cache *cache, const struct model *model, enum ggml_type type,
           int32_t n_slots, int32_t n_ctx, struct gg_error *err);
/* The same, but for the memory: cache_size() tells how much it would be, and
 * graphs can be measured with it. */
enum gg_status
cache_init_dry(struct cache *cache, const struct model *model,
               enum ggml_type type, int32_t n_slots, int32_t n_ctx,
               struct gg_error *err);
void
cache_clear(struct cache *cache); /* takes an empty one */

/* Rows that attention covers for `n` positions. */
int32_t
cache_cover(int32_t n);

/* Makes the first n_rows rows of the slot finite: attention multiplies what
 * the mask hides by zero, which would not hide a NaN. */
void
cache_touch(struct cache *cache, int32_t slot, int32_t n_rows);

/* The first n rows of slot `from` become those of slot `to`. */
void
cache_copy(struct cache *cache, int32_t to, int32_t from, int32_t n);

size_t
cache_size(const struct cache *cache);

#endif
