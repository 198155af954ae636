/* thread.c - how many threads are worth starting */
#include <config.h>

#include "core/thread.h"

#include <sched.h>
#include <stdio.h>

/* The quota of cgroup v2 as seen from inside a container; 0: none. */
static int
cgroup_quota(void)
{
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    long quota, period;
    int n = 0;

    if (!f)
        return 0;
    if (fscanf(f, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0)
        n = (int)((quota + period - 1) / period);
    fclose(f);
    return n;
}

int
thread_count_default(void)
{
    cpu_set_t set;
    int n = 1, quota = cgroup_quota();

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        n = CPU_COUNT(&set);
    if (quota && quota < n)
        n = quota;
    return n > 0 ? n : 1;
}
