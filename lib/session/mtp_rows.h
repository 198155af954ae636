/* mtp_rows.h - hidden vectors that MTP layers read: which a slot has kept
 *
 * Of the last positions each slot keeps the vectors, by position, so that an
 * MTP layer can go on wherever the slot goes back to. A key whose vector was
 * not kept is a hole: nothing sees it. */
#ifndef SESSION_MTP_ROWS_H
#define SESSION_MTP_ROWS_H

#include "session/cache.h"

/* The rows, where the output is. On failure they are to be cleared, too. */
bool
session_cache_mtp_init(struct cache *cache, const struct model *model);
void
session_cache_mtp_clear(struct cache *cache); /* takes an empty one */

/* n ids are about to be evaluated at position `past`: their keys are written,
 * and the last vectors kept, as far as `feed` says. */
void
session_cache_mtp_begin(struct cache *cache, int32_t slot, int32_t past,
                        int32_t n, enum graph_feed feed);

/* The batch of that has failed, or the slot has gone back to n ids: vectors of
 * those after them are another future's. */
void
session_cache_mtp_cut(struct cache *cache, int32_t slot, int32_t n);

/* Slot `to` has the first n ids of slot `from`, and what is kept of them. */
void
session_cache_mtp_copy(struct cache *cache, int32_t to, int32_t from,
                       int32_t n);

/* Nothing is known of the slot's first n ids. */
void
session_cache_mtp_forget(struct cache *cache, int32_t slot, int32_t n);

/* Whether the vector of a position is kept. */
bool
session_cache_mtp_has(const struct cache *cache, int32_t slot,
                      int32_t position);

/* Its row, and that of the i-th id that is drafted. */
int32_t
session_cache_mtp_row(int32_t slot, int32_t position);
int32_t
session_cache_mtp_drafted(int32_t slot, int32_t i);

#endif
