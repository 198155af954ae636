/* test_thread.c - the default number of threads: quotas of control groups, as
 * files of a folder show them, and the affinity mask; their memory */
#include <config.h>

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cgroup.h"
#include "core/thread.h"
#include "harness/scratch.h"
#include "harness/tap.h"

static char root[SCRATCH_PATH]; /* in place of / */

/* Writes root/path, and makes the folders above it. */
static void
put(const char *path, const char *text)
{
    char full[SCRATCH_PATH + 100];
    FILE *f;

    snprintf(full, sizeof(full), "%s/%s", root, path);
    for (char *c = full + strlen(root) + 1; (c = strchr(c, '/')) != NULL; c++) {
        *c = '\0';
        mkdir(full, 0755);
        *c = '/';
    }
    f = fopen(full, "w");
    if (!f || fputs(text, f) < 0 || fclose(f))
        exit(99);
}

static void
clear(void)
{
    char command[SCRATCH_PATH + 20];

    snprintf(command, sizeof(command), "rm -rf '%s'/*", root);
    if (system(command))
        exit(99);
}

static void
group(const char *lines)
{
    clear();
    put("proc/self/cgroup", lines);
}

static void
check_v2(void)
{
    clear();
    is(thread_quota(root), 0, "no control groups");
    group("0::/\n");
    put("sys/fs/cgroup/cpu.max", "max 100000\n");
    is(thread_quota(root), 0, "no quota");
    put("sys/fs/cgroup/cpu.max", "200000 100000\n");
    is(thread_quota(root), 2, "two processors");
    put("sys/fs/cgroup/cpu.max", "50000 100000\n");
    is(thread_quota(root), 1, "half of one is one");
    put("sys/fs/cgroup/cpu.max", "210000 100000\n");
    is(thread_quota(root), 3, "a bit more than two is three");
    group("0::/user/shell\n");
    put("sys/fs/cgroup/user/shell/cpu.max", "700000 100000\n");
    is(thread_quota(root), 7, "the process's own group");
    put("sys/fs/cgroup/user/cpu.max", "400000 100000\n");
    is(thread_quota(root), 4, "one above it gives less");
    put("sys/fs/cgroup/user/cpu.max", "max 100000\n");
    is(thread_quota(root), 7, "or leaves it");
    group("0::/of/the/host\n");
    put("sys/fs/cgroup/cpu.max", "300000 100000\n");
    is(thread_quota(root), 3, "a container sees the uppermost only");
    group("0::/../../elsewhere\n");
    put("sys/fs/cgroup/cpu.max", "300000 100000\n");
    put("elsewhere/cpu.max", "100000 100000\n");
    is(thread_quota(root), 3, "a group outside is not looked for");
}

static void
check_v1(void)
{
    static const char lines[] = "5:memory:/a\n4:cpu,cpuacct:/a/b\n0::/\n";

    group(lines);
    put("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
    is(thread_quota(root), 0, "version 1: no quota");
    put("sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "150000\n");
    is(thread_quota(root), 2, "version 1: one and a half are two");
    group(lines);
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "500000\n");
    put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    is(thread_quota(root), 5, "a folder of the full name");
    group("4:cpuset:/a\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    is(thread_quota(root), 0, "the group of another controller");
}

static void
check_nonsense(void)
{
    static const char *const texts[] = {
        "",         "max",   "0 100000", "-5 100000",
        "100000 0", "12 -1", "x 100000", "99999999999999999999 1",
        "100000",
    };
    bool good = true;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        group("nonsense\n0:\n0::/\n");
        put("sys/fs/cgroup/cpu.max", texts[i]);
        good = good && thread_quota(root) == 0;
    }
    ok(good, "what makes no sense is no quota");
}

static void
check_memory(void)
{
    const long long k = 1024;

    clear();
    is(cgroup_memory(root), 0, "nothing is known of memory");
    put("proc/meminfo", "MemTotal: 900 kB\nMemAvailable:  500 kB\n");
    is(cgroup_memory(root), 500 * k, "what the machine has free");
    put("proc/self/cgroup", "0::/a\n");
    put("sys/fs/cgroup/a/memory.max", "max\n");
    is(cgroup_memory(root), 500 * k, "a group without a limit");
    put("sys/fs/cgroup/a/memory.max", "300000\n");
    put("sys/fs/cgroup/a/memory.current", "200000\n");
    put("sys/fs/cgroup/a/memory.stat",
        "anon 5\nactive_file 40000\ninactive_file 60000\nslab 7\n");
    is(cgroup_memory(root), 200000, "cached files of a group count as free");
    put("sys/fs/cgroup/a/memory.high", "250000\n");
    is(cgroup_memory(root), 150000, "the lower limit counts");
    put("sys/fs/cgroup/a/memory.current", "900000\n");
    is(cgroup_memory(root), 1, "a group above its limit has nothing left");
    group("9:memory:/b\n");
    put("proc/meminfo", "MemAvailable:  500 kB\n");
    put("sys/fs/cgroup/memory/b/memory.limit_in_bytes",
        "9223372036854771712\n");
    is(cgroup_memory(root), 500 * k, "version 1 without a limit");
    put("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "300000\n");
    put("sys/fs/cgroup/memory/b/memory.usage_in_bytes", "100000\n");
    put("sys/fs/cgroup/memory/b/memory.stat",
        "active_file 9\ntotal_active_file 30000\ntotal_inactive_file 1\n");
    is(cgroup_memory(root), 230001, "version 1 with one");
}

static void
check_mask(void)
{
    cpu_set_t all, one;
    int first = 0;

    if (sched_getaffinity(0, sizeof(all), &all)) {
        ok(true, "the mask cannot be read # SKIP");
        return;
    }
    ok(thread_count_default() >= 1 && thread_count_default() <= CPU_COUNT(&all),
       "no more threads than processors of the mask");
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof(one), &one);
    is(thread_count_default(), 1, "one for a mask of one");
    sched_setaffinity(0, sizeof(all), &all);
}

int
main(void)
{
    strcpy(root, scratch_begin());
    check_v2();
    check_v1();
    check_nonsense();
    check_memory();
    check_mask();
    return tap_done();
}
