/* threadpool.h - threads that help with work cut into pieces
 *
 * The caller of a job is thread 0 and does pieces itself. Each thread has a
 * share of the pieces, in a row, so that what it reads lies in a row as well;
 * who is through with that takes pieces from the ends of the others' shares.
 * Nobody is waited for who has not taken a piece, so that a thread which the
 * system keeps from running delays nothing: with more threads than
 * processors, or on a busy machine, work goes on with those that run. Who
 * finds nothing to do spins for some microseconds and sleeps then. */
#ifndef CPU_EXEC_THREADPOOL_H
#define CPU_EXEC_THREADPOOL_H

#include <stdbool.h>
#include <ggml-cpu.h>

/* Does `count` pieces of `n`, from `piece` on; `thread` numbers who does it,
 * from 0. */
typedef void (*cpu_job_fn)(void *arg, int piece, int count, int n, int thread);

struct cpu_offer {
    int n; /* pieces */
    cpu_job_fn fn;
    void *arg;
    bool wake; /* who sleeps is called, and none goes to sleep without a look */
    /* A thread takes some pieces of its share at a time, in a row: fewer, as
     * fewer are left. Otherwise one. */
    bool contiguous;
};

/* The first piece of a thread's share, of n pieces. */
static inline int
cpu_pool_first(int n, int n_threads, int thread)
{
    return (int)((int64_t)n * thread / n_threads);
}

/* Offers pieces to all threads; each is done once, in any order and on any
 * thread. What was written before is seen by all pieces. One caller at a time,
 * who may do something else then, and must finish. */
void
cpu_pool_offer(struct ggml_threadpool *pool, const struct cpu_offer *offer);

/* Does pieces of what was offered as long as there are any left. */
void
cpu_pool_help(struct ggml_threadpool *pool);

/* Does pieces as cpu_pool_help() and returns when all are done; what they write
 * is seen by the caller. */
void
cpu_pool_finish(struct ggml_threadpool *pool);

/* Offers pieces and returns when all are done. */
void
cpu_pool_share(struct ggml_threadpool *pool, const struct cpu_offer *offer);

/* Before the jobs of a graph: how many threads, the caller among them, may
 * take part, and that they may soon; on a busy machine they are left asleep. */
void
cpu_pool_begin(struct ggml_threadpool *pool, int n_threads);

/* Calls the threads that sleep, since work is coming: for what is worth some
 * microseconds. */
void
cpu_pool_wake(struct ggml_threadpool *pool);

#endif
