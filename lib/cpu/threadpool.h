/* threadpool.h - threads that wait for jobs, and meet at barriers in them
 *
 * A job is a function that all threads of a run call; the caller is thread 0.
 * Who waits spins for some microseconds and then sleeps, so that idle threads
 * and machines with more threads than processors cost little. */
#ifndef CPU_THREADPOOL_H
#define CPU_THREADPOOL_H

#include <stdint.h>
#include <ggml-cpu.h>

typedef void (*cpu_job_fn)(void *arg, int ith, int nth);

/* Calls fn(arg, 0 ... n-1, n), each on a thread of its own; returns when all
 * have. n is at most the pool's size. */
void
cpu_pool_run(struct ggml_threadpool *pool, int n, cpu_job_fn fn, void *arg);

/* Within a job: returns when all `nth` threads of it are here; also sets the
 * counter of cpu_pool_next() to zero. */
void
cpu_pool_barrier(struct ggml_threadpool *pool, int nth);

/* Within a job: 0, 1, 2 ... each handed out once. */
int64_t
cpu_pool_next(struct ggml_threadpool *pool);

#endif
