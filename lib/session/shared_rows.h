/* shared_rows.h - rows of the KV cache that slots have in common
 *
 * A slot that begins like another refers to its rows in place of a copy. The
 * unit is a block of CACHE_BLOCK rows: block b of a slot is block b of its
 * owner, which is the slot itself or another one. A block that a slot does not
 * own has nobody who refers to it, so an owner is found in one step. Blocks
 * that others refer to are never written: before an owner writes, one of the
 * others gets the rows, and owns them from then on.
 *
 * Rows of layers that see all keys are shared, where all of their memory is in
 * this process and attention takes keys in parts. */
#ifndef SESSION_SHARED_ROWS_H
#define SESSION_SHARED_ROWS_H

#include "graph/graph.h"
#include "session/cache.h"

/* On failure they are to be cleared, too. */
bool
session_shared_init(struct cache *cache, const struct model *model);
void
session_shared_clear(struct cache *cache); /* takes an empty one */

/* The slot that has the row of a position, of a part with owners. */
static inline int32_t
session_shared_owner(const struct cache_part *p, int32_t slot, int32_t position)
{
    int32_t n_blocks = p->n_rows / CACHE_BLOCK;

    return p->owners[slot * n_blocks + position / CACHE_BLOCK];
}

/* The slot is about to write n rows from position `past` on: it owns them, and
 * nobody else has them. */
void
session_shared_own(struct cache *cache, int32_t slot, int32_t past, int32_t n);

/* The first n rows of slot `from` become those of slot `to`, another one. */
void
session_shared_copy(struct cache *cache, int32_t to, int32_t from, int32_t n);

/* The slot has gone back to n rows: it refers to no others. */
void
session_shared_cut(struct cache *cache, int32_t slot, int32_t n);

/* Rows from `first` up to `end` of the slot are written. */
void
session_shared_count(struct cache *cache, int32_t slot, int32_t first,
                     int32_t end);

/* The slot's own rows are no longer in memory. */
void
session_shared_discard(struct cache *cache, int32_t slot);

/* Bytes of the blocks that several slots have, each counted once, and how many
 * slots have such blocks. */
size_t
session_shared_bytes(const struct cache *cache, int32_t *n_slots);

/* Rows that would be written first, if the slot got n, of which the first
 * n_shared are those of slot `from`. */
int32_t
session_shared_growth(const struct cache *cache, int32_t slot, int32_t n,
                      int32_t from, int32_t n_shared);

/* Finds where the rows of the segments are, after room was made for all: it may
 * move rows of others. */
void
session_shared_find(const struct cache *cache, struct graph_segment *segments,
                    int32_t n);

/* The chunks in an order in which those whose slots have rows in common are
 * side by side, to be freed; NULL: as they are, also where memory is short. */
struct gg_chunk *
session_shared_order(const struct gg_session *s, const struct gg_chunk *chunks,
                     size_t n);

#endif
