/* thread.h - how many threads are worth starting */
#ifndef CORE_THREAD_H
#define CORE_THREAD_H

/* The processors that this process may use: its affinity mask, cut to the
 * quota that its control groups had when it asked first; at least 1. */
int
thread_count_default(void);

/* The least quota of CPU time of the process's control groups and of those
 * above them, versions 1 and 2, in processors, rounded up; 0: none. `root`
 * stands before all paths: "", or for tests a folder with other files. */
int
thread_quota(const char *root);

#endif
