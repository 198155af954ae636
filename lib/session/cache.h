/* cache.h - the KV cache: memory of its rows, and which of them a slot has */
#ifndef SESSION_CACHE_H
#define SESSION_CACHE_H

#include "graph/cache.h"

/* Room for n_ctx positions in each slot, n_batch of which may be evaluated
 * together; memory is touched as it is used. On failure *cache is empty. */
enum gg_status
session_cache_init(struct cache *cache, const struct model *model,
                   const struct cache_form *form, int32_t n_slots,
                   int32_t n_ctx, int32_t n_batch, struct gg_error *err);
/* Does as session_cache_init(), but takes no memory: session_cache_size() tells
 * how much it would be, and graphs can be measured with the cache. */
enum gg_status
session_cache_init_dry(struct cache *cache, const struct model *model,
                       const struct cache_form *form, int32_t n_slots,
                       int32_t n_ctx, int32_t n_batch, struct gg_error *err);
void
session_cache_clear(struct cache *cache); /* takes an empty one */

/* Makes room for n ids (at most n_batch) at position `past` of a slot that
 * holds those before: windowed layers give up what no id will see again. */
void
session_cache_make_room(struct cache *cache, int32_t slot, int32_t past,
                        int32_t n);

/* Makes room for MTP layers alone: nothing else is about to be evaluated. */
void
session_cache_make_draft_room(struct cache *cache, int32_t slot, int32_t past,
                              int32_t n);

/* Keys that n ids at position `past`, which there is room for, read. */
struct cache_range
session_cache_seen(const struct cache *cache, enum cache_kind kind,
                   int32_t slot, int32_t past, int32_t n);

/* Rows for blocks that n ids at position `past` read: from the first on. */
int32_t
session_cache_blocks(const struct cache *cache, int32_t compression,
                     int32_t past, int32_t n);

/* The tensors' row of a position of the slot, of a kind or of blocks. */
int64_t
session_cache_row(const struct cache *cache, int part, int32_t slot,
                  int32_t position);

/* Rows of the slot for its first n positions: an unfinished block has none. */
int32_t
session_cache_rows_of(const struct cache_part *part, int32_t slot, int32_t n);

/* After how many of its first n ids, at most, the slot, which held at least
 * these, could go on, in every layer: all; fewer, where recurrent layers have
 * gone on since; or 0, where windowed layers have given up what the next one
 * must see. */
int32_t
session_cache_kept(const struct cache *cache, int32_t slot, int32_t n);

/* n rows of each layer of the part, which do not overlap. */
void
session_cache_copy_rows(struct cache *cache, int part, int64_t to, int64_t from,
                        int64_t n);

/* The first n ids' rows of slot `from`, after which it could go on, become
 * those of slot `to`, another one: it refers to whole blocks, where it can. */
void
session_cache_copy(struct cache *cache, int32_t to, int32_t from, int32_t n);

/* The first of n ids whose key layers with that window (0: none) must have to
 * go on: a multiple of CACHE_BLOCK. */
int32_t
session_cache_first(int32_t window, int32_t n);

/* The slot's rows are those of the first n ids (at most n_ctx) now, from
 * session_cache_first() on: the caller writes them. */
void
session_cache_assume(struct cache *cache, int32_t slot, int32_t n);

/* Whether the layer's tensors have memory in this process. */
static inline bool
session_cache_is_here(const struct cache *cache, int32_t layer)
{
    return cache->homes[cache->layers[layer].home].device != NULL;
}

size_t
session_cache_size(const struct cache *cache);
/* Bytes of the cache's rows that were ever written. */
size_t
session_cache_used(const struct cache *cache);

/* n rows of a layer's tensor from `row` on, at most CACHE_BLOCK, to and from
 * memory where those of the heads of a position are side by side. */
void
session_cache_get_rows(const struct cache *cache, const struct ggml_tensor *t,
                       int64_t row, int64_t n, char *to);
void
session_cache_set_rows(const struct cache *cache, struct ggml_tensor *t,
                       int64_t row, int64_t n, const char *from);

/* Where a head's row is, in bytes from the tensor's first. */
static inline size_t
session_cache_place(const struct ggml_tensor *t, int64_t head, int64_t row)
{
    return (size_t)head * t->nb[2] + (size_t)row * t->nb[1];
}

/* Bytes of such a row. */
size_t
session_cache_row_size(const struct ggml_tensor *t);

/* Bytes of a row of the part in all layers of this process. */
size_t
session_cache_rows_size(const struct cache *cache, int part);

#endif
