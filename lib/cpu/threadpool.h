/* threadpool.h - threads that help with work cut into pieces
 *
 * The caller of a job is thread 0 and does pieces itself; the others take
 * what is left when they come. Nobody is waited for who has not taken a piece,
 * so that a thread which the system keeps from running delays nothing: with
 * more threads than processors, or on a busy machine, work goes on with those
 * that run. Who finds nothing to do spins for some microseconds and sleeps
 * then. */
#ifndef CPU_THREADPOOL_H
#define CPU_THREADPOOL_H

#include <ggml-cpu.h>

/* Does piece `piece` of `n`; `thread` numbers who does it, from 0. */
typedef void (*cpu_job_fn)(void *arg, int piece, int n, int thread);

/* Does pieces 0 to n - 1, each once, in any order and on any thread; returns
 * when all are done. What was written before is seen by all pieces; what they
 * write is seen by the caller. One caller at a time. `wake`: threads that sleep
 * are called, and none goes to sleep without a look at this. */
void
cpu_pool_share(struct ggml_threadpool *pool, int n, cpu_job_fn fn, void *arg,
               bool wake);

/* Before the jobs of a graph: how many threads, the caller among them, may
 * take part, and that they may soon; on a busy machine they are left asleep. */
void
cpu_pool_begin(struct ggml_threadpool *pool, int n_threads);

/* Calls the threads that sleep, since work is coming: for what is worth some
 * microseconds. */
void
cpu_pool_wake(struct ggml_threadpool *pool);

#endif
