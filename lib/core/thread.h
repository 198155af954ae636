/* thread.h - threads of the library: how many are worth it, and one more */
#ifndef CORE_THREAD_H
#define CORE_THREAD_H

#include <pthread.h>

/* The processors that this process may use: its affinity mask, cut to the
 * quota that its control groups had when it asked first; at least 1. */
int
thread_count_default(void);

/* The least quota of CPU time of the process's control groups and of those
 * above them, versions 1 and 2, in processors, rounded up; 0: none. `root`
 * stands before all paths: "", or for tests a folder with other files. */
int
thread_quota(const char *root);

/* pthread_create(), but that signals stay for the program's own threads, except
 * those of a fault of the thread's own. */
int
thread_start(pthread_t *thread, void *(*run)(void *), void *data);

#endif
