/* jobs.h - jobs done by several threads, and taken back in their order */
#ifndef COMMON_JOBS_H
#define COMMON_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls work(data, i) for each i in 0..n, in n_threads threads (0: as many as
 * the machine has for this process), and done(data, i) in the caller's, in
 * order. Where no thread can be started, all is done there. */
void
jobs_run(int n_threads, int64_t n, void (*work)(void *data, int64_t i),
         void (*done)(void *data, int64_t i), void *data);

/* Threads for jobs that come one after another: a job has one of n_slots
 * places, which is the caller's until it is submitted, and again from done()
 * on. */
struct jobs;

/* `thread`, in 0..n_threads, is one that works for this job alone. */
struct jobs_calls {
    void (*work)(void *data, size_t slot, int thread);
    void (*done)(void *data, size_t slot); /* by the caller's thread */
    void *data;
};

struct jobs *
jobs_new(int n_threads, size_t n_slots, const struct jobs_calls *calls);

/* The place of the next job: waits for the oldest if there is no other. */
size_t
jobs_next(struct jobs *jobs);

/* Has it done. `alone`: nothing follows soon, so that no other thread is worth
 * waking for it. */
void
jobs_submit(struct jobs *jobs, bool alone);

/* Waits for all of them. */
void
jobs_wait(struct jobs *jobs);

void
jobs_free(struct jobs *jobs);

#endif
