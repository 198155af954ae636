/* thread.h - how many threads are worth starting */
#ifndef CORE_THREAD_H
#define CORE_THREAD_H

/* The processors that this process may use: its affinity mask, cut to the
 * cgroup's CPU quota (rounded up); at least 1. */
int
thread_count_default(void);

#endif
