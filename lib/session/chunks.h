/* chunks.h - the chunks of one call: checks before, embeddings after */
#ifndef SESSION_CHUNKS_H
#define SESSION_CHUNKS_H

#include "session/impl.h"

/* Fails where the chunk cannot be evaluated now; keeps its ids where the
 * session may have to evaluate them again. */
enum gg_status
session_check_chunk(struct gg_session *s, const struct gg_chunk *c,
                    struct gg_error *err);

/* Whether each id of a chunk that wants an embedding has one, */
static inline bool
session_pools_each(const struct gg_chunk *c)
{
    return c->embed.pooling == GG_POOL_NONE ||
           c->embed.pooling == GG_POOL_TOKENS;
}

/* and whether it is scores of the classifier. */
static inline bool
session_pools_scores(const struct gg_chunk *c)
{
    return c->embed.pooling == GG_POOL_RANK ||
           c->embed.pooling == GG_POOL_TOKENS;
}

/* How many vectors the chunk has in s->pools. */
size_t
session_n_pools(const struct gg_chunk *c);

/* Makes s->pools zero, where some chunk wants an embedding; false: no memory.
 */
bool
session_start_pools(struct gg_session *s, const struct gg_chunk *chunks,
                    size_t n_chunks);

/* Writes the chunks' embeddings; false: no memory. */
bool
session_finish_pools(struct gg_session *s, const struct gg_chunk *chunks,
                     size_t n_chunks);

#endif
