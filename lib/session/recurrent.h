/* recurrent.h - recurrent states: what layers keep that is overwritten with
 * each token
 *
 * A layer with a recurrence keeps a row a slot: the last columns of its short
 * convolution, and a matrix a head. A row is that after the slot's last id, and
 * nowhere else; so a slot can go back to where a snapshot of it was made, or
 * to its beginning. */
#ifndef SESSION_RECURRENT_H
#define SESSION_RECURRENT_H

#include "session/cache.h"

/* Tensors for the layers of a model that keep states. On failure they are to be
 * cleared, too. */
bool
session_recurrent_init(struct cache *cache, const struct model *model);
/* Memory for the rows of snapshots. It is taken when the first is made: most
 * sessions make none. */
bool
session_recurrent_reserve(struct cache *cache);
void
session_recurrent_clear(struct cache *cache); /* takes an empty one */

/* Bytes of one row of all layers; 0: no layer keeps a state. */
size_t
session_recurrent_row_size(const struct cache *cache);
size_t
session_recurrent_row_at(const struct cache *cache, int home);

/* Bytes of the rows of slots that ever were written. */
size_t
session_recurrent_used(const struct cache *cache);

/* After how many of its first n ids, at most, the slot could go on. */
int32_t
session_recurrent_kept(const struct cache *cache, int32_t slot, int32_t n);

/* Ids after the first `past` are about to be evaluated: the row is that after
 * `past` ids, of none for 0, and then of none that is known; until they are. */
void
session_recurrent_begin(struct cache *cache, int32_t slot, int32_t past);
void
session_recurrent_end(struct cache *cache, int32_t slot, int32_t n);

/* The slot goes back to its first n ids, after which it can go on. */
void
session_recurrent_cut(struct cache *cache, int32_t slot, int32_t n);

/* The row of slot `from` after n ids, after which it can go on, becomes that of
 * slot `to`. */
void
session_recurrent_copy(struct cache *cache, int32_t to, int32_t from,
                       int32_t n);

/* A snapshot of the slot, which can go on from here later; a brief one takes
 * the place of the slot's last brief one, others that of the one that was used
 * least recently. Where there is no memory, nothing is kept. */
void
session_recurrent_keep(struct cache *cache, int32_t slot, bool brief);

/* Where a layer's row of the slot after n ids is, after which it can go on, n >
 * 0: *row gets its number. */
const struct ggml_tensor *
session_recurrent_find(const struct cache *cache, int32_t slot, int32_t n,
                       int32_t layer, enum cache_recurrent_tensor which,
                       int64_t *row);

/* The slot's row has been written: it is that after n ids. */
void
session_recurrent_assume(struct cache *cache, int32_t slot, int32_t n);

#endif
