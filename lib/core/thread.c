/* thread.c - how many threads are worth starting, and starting one */
#include <config.h>

#include "core/thread.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_PATH = 1024, /* bytes; longer names of groups have no quota here */
    MAX_PROCESSORS = 1 << 16,
    MIN_STACK = 1 << 20, /* bytes, however small the limit of the main one's */
};

/* ---- quotas of control groups ------------------------------------------- */

/* A file's one or two numbers; "max" is none. Returns how many there are. */
static int
read_numbers(const char *path, long *a, long *b)
{
    FILE *f = fopen(path, "re");
    int n = f ? fscanf(f, "%ld %ld", a, b) : 0;

    if (f)
        fclose(f);
    return n > 0 ? n : 0;
}

static int
processors(long quota, long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    return quota / period < MAX_PROCESSORS
               ? (int)(quota / period + (quota % period != 0))
               : 0;
}

/* The quota of one group, whose folder `dir` is; 0: none. */
typedef int (*quota_fn)(const char *dir);

static int
quota_v2(const char *dir)
{
    char path[3 * MAX_PATH + 64];
    long quota, period;

    snprintf(path, sizeof(path), "%s/cpu.max", dir);
    return read_numbers(path, &quota, &period) == 2 ? processors(quota, period)
                                                    : 0;
}

static int
quota_v1(const char *dir)
{
    char path[3 * MAX_PATH + 64];
    long quota, period, none;

    snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
    if (!read_numbers(path, &quota, &none))
        return 0;
    snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
    return read_numbers(path, &period, &none) ? processors(quota, period) : 0;
}

/* The least quota of the group and of those above it. Seen from inside a
 * container a group may be named as the host does, and only the uppermost
 * folder exists. */
static int
least_quota(const char *mount, const char *group, quota_fn quota)
{
    char dir[3 * MAX_PATH];
    size_t top = strlen(mount);
    int least = 0;

    if (strstr(group, "/..") ||
        snprintf(dir, sizeof(dir), "%s%s", mount, group) >= (int)sizeof(dir))
        snprintf(dir, sizeof(dir), "%s", mount);
    for (;;) {
        int n = quota(dir);
        char *slash = strrchr(dir, '/');

        if (n && (!least || n < least))
            least = n;
        if (strlen(dir) <= top || !slash)
            return least;
        *slash = '\0';
    }
}

/* True if "cpu" is one of the words, which commas part. */
static bool
names_cpu(const char *words)
{
    for (const char *w = words; w; w = strchr(w, ',')) {
        w += *w == ',';
        if (!strncmp(w, "cpu", 3) && (w[3] == ',' || w[3] == '\0'))
            return true;
    }
    return false;
}

/* A line of /proc/self/cgroup, "4:cpu,cpuacct:/a/group" or "0::/a/group". */
static int
quota_of_line(const char *root, char *line)
{
    char mount[2 * MAX_PATH];
    int n;
    char *words = strchr(line, ':'),
         *group = words ? strchr(words + 1, ':') : NULL;

    if (!group)
        return 0;
    *words++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (*words == '\0') {
        snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
        return least_quota(mount, group, quota_v2);
    }
    if (!names_cpu(words))
        return 0;
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/cpu", root);
    n = least_quota(mount, group, quota_v1);
    if (n)
        return n;
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/%s", root, words);
    return least_quota(mount, group, quota_v1);
}

int
thread_quota(const char *root)
{
    char path[2 * MAX_PATH], line[MAX_PATH];
    int least = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    f = fopen(path, "re");
    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f)) {
        int n = quota_of_line(root, line);

        if (n && (!least || n < least))
            least = n;
    }
    fclose(f);
    return least;
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
