/* pool.h - jobs done by several threads, and taken back in their order */
#ifndef TOKENIZE_POOL_H
#define TOKENIZE_POOL_H

#include "gg-tokenize/job.h"

struct pool;

/* `take` gets each job when it is done, one after the other, in the caller's
 * thread. With one thread all is done there. */
struct pool *
pool_new(const struct gg_vocab *vocab, const struct tokenize_options *options,
         void (*take)(void *arg, struct job *job), void *arg);

/* The job to fill in next. Waits for the oldest if there is no other. */
struct job *
pool_next(struct pool *pool);

/* Has it done. `alone`: nothing follows soon, so that no other thread is worth
 * waking for it. */
void
pool_submit(struct pool *pool, bool alone);

/* Waits for all of them. */
void
pool_wait(struct pool *pool);

void
pool_free(struct pool *pool);

#endif
