/* jobs.h - the same work for many tensors, by several threads */
#ifndef INSPECT_JOBS_H
#define INSPECT_JOBS_H

#include <stdint.h>

/* Calls work(data, i) for each i in 0..n, in n_threads threads (0: as many as
 * the machine has for this process), and done(data, i) in the caller's, in
 * order. Ends the tool where no thread can be started. */
void
jobs_run(int n_threads, int64_t n, void (*work)(void *data, int64_t i),
         void (*done)(void *data, int64_t i), void *data);

#endif
