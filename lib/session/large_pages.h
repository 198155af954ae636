/* large_pages.h - large pages for what is in use of a cache
 *
 * Attention reads long rows of keys and values, and finds a page of them after
 * the other: with pages of 4 KB that takes a third of its time. But a cache has
 * room for more than is used, mostly, and in large pages the system would give
 * all of it. So an extent of the size of a large page becomes one when most of
 * it has been written. */
#ifndef SESSION_LARGE_PAGES_H
#define SESSION_LARGE_PAGES_H

#include "graph/cache.h"

/* The buffer of a home that has one; without memory for this pages are small.
 */
void
session_large_pages_init(struct cache_home *home);
void
session_large_pages_clear(struct cache_home *home);

/* Rows [from, to) of a slot, of tensors of that part, are about to be written
 * for the first time. */
void
session_large_pages_add(struct cache *cache, int part, int32_t slot,
                        int32_t from, int32_t to);

/* Rows that were added went back to the system. */
void
session_large_pages_remove(struct cache *cache, int part, int32_t slot,
                           int32_t from, int32_t to);

#endif
