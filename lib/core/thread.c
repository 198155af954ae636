/* thread.c - how many threads are worth starting, and starting one */
#include <config.h>

#include "core/thread.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/cgroup.h"

enum {
    MAX_PROCESSORS = 1 << 16,
    MIN_STACK = 1 << 20, /* bytes, however small the limit of the main one's */
};

/* ---- quotas of control groups ------------------------------------------- */

static uint64_t
processors(long quota, long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    return quota / period < MAX_PROCESSORS
               ? (uint64_t)(quota / period + (quota % period != 0))
               : 0;
}

/* A file's one or two numbers; "max" is none. Returns how many there are. */
static int
read_numbers(const char *dir, const char *name, long *a, long *b)
{
    FILE *f = cgroup_open(dir, name);
    int n = f ? fscanf(f, "%ld %ld", a, b) : 0;

    if (f)
        fclose(f);
    return n > 0 ? n : 0;
}

static uint64_t
quota_v2(const char *dir)
{
    long quota, period;

    return read_numbers(dir, "cpu.max", &quota, &period) == 2
               ? processors(quota, period)
               : 0;
}

static uint64_t
quota_v1(const char *dir)
{
    long quota, period, none;

    if (!read_numbers(dir, "cpu.cfs_quota_us", &quota, &none))
        return 0;
    return read_numbers(dir, "cpu.cfs_period_us", &period, &none)
               ? processors(quota, period)
               : 0;
}

int
thread_quota(const char *root)
{
    static const struct cgroup_number quota = { "cpu", quota_v1, quota_v2 };

    return (int)cgroup_least(root, &quota);
}

/* ---- processors --------------------------------------------------------- */

/* Processors that the process may run on; 0: unknown. The kernel wants room
 * for as many as it was built for. */
static int
count_allowed(void)
{
    for (int n = CPU_SETSIZE; n <= MAX_PROCESSORS; n *= 2) {
        size_t size = CPU_ALLOC_SIZE(n);
        cpu_set_t *set = CPU_ALLOC(n);
        int count = 0;

        if (set && sched_getaffinity(0, size, set) == 0)
            count = CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    return 0;
}

/* The quota at the first call: to read the files takes longer than a small
 * graph. */
static int first_quota;

static void
read_quota(void)
{
    first_quota = thread_quota("");
}

int
thread_count_default(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int n = count_allowed(), quota;

    pthread_once(&once, read_quota);
    quota = first_quota;
    if (n == 0)
        n = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (quota && quota < n)
        n = quota;
    return n > 0 ? n : 1;
}

/* Without a size of its own a thread has what RLIMIT_STACK says. */
static void
raise_stack(pthread_attr_t *attr)
{
    size_t size;

    if (pthread_attr_getstacksize(attr, &size) == 0 && size < MIN_STACK)
        pthread_attr_setstacksize(attr, MIN_STACK);
}

int
thread_start(pthread_t *thread, void *(*run)(void *), void *data)
{
    static const int own_fault[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS };
    sigset_t set, before;
    pthread_attr_t attr;
    int failed = pthread_attr_init(&attr);

    if (failed)
        return failed;
    raise_stack(&attr);
    sigfillset(&set);
    for (size_t i = 0; i < sizeof(own_fault) / sizeof(own_fault[0]); i++)
        sigdelset(&set, own_fault[i]);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    failed = pthread_create(thread, &attr, run, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return failed;
}
