/* cgroup.c - limits of the control groups that the process is in */
#include <config.h>

#include "core/cgroup.h"

#include <stdbool.h>
#include <string.h>

enum {
    MAX_PATH = 1024, /* bytes; longer names of groups have no limit here */
};

FILE *
cgroup_open(const char *dir, const char *name)
{
    char path[3 * MAX_PATH + 64];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return fopen(path, "re");
}

/* Seen from inside a container a group may be named as the host does, and only
 * the uppermost folder exists. */
static uint64_t
least_upwards(const char *mount, const char *group,
              uint64_t (*number)(const char *dir))
{
    char dir[3 * MAX_PATH];
    size_t top = strlen(mount);
    uint64_t least = 0;

    if (strstr(group, "/..") ||
        snprintf(dir, sizeof(dir), "%s%s", mount, group) >= (int)sizeof(dir))
        snprintf(dir, sizeof(dir), "%s", mount);
    for (;;) {
        uint64_t n = number(dir);
        char *slash = strrchr(dir, '/');

        if (n && (!least || n < least))
            least = n;
        if (strlen(dir) <= top || !slash)
            return least;
        *slash = '\0';
    }
}

/* True if the controller is one of the words, which commas part. */
static bool
names_controller(const char *words, const char *controller)
{
    size_t n = strlen(controller);

    for (const char *w = words; w; w = strchr(w, ',')) {
        w += *w == ',';
        if (!strncmp(w, controller, n) && (w[n] == ',' || w[n] == '\0'))
            return true;
    }
    return false;
}

/* A line of /proc/self/cgroup, "4:cpu,cpuacct:/a/group" or "0::/a/group". */
static uint64_t
least_of_line(const char *root, const struct cgroup_number *number, char *line)
{
    char mount[2 * MAX_PATH];
    uint64_t n;
    char *words = strchr(line, ':'),
         *group = words ? strchr(words + 1, ':') : NULL;

    if (!group)
        return 0;
    *words++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (*words == '\0') {
        snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
        return least_upwards(mount, group, number->v2);
    }
    if (!names_controller(words, number->controller))
        return 0;
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/%s", root,
             number->controller);
    n = least_upwards(mount, group, number->v1);
    if (n)
        return n;
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/%s", root, words);
    return least_upwards(mount, group, number->v1);
}

uint64_t
cgroup_least(const char *root, const struct cgroup_number *number)
{
    char path[2 * MAX_PATH], line[MAX_PATH];
    uint64_t least = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    f = fopen(path, "re");
    if (!f)
        return 0;
    while (fgets(line, sizeof(line), f)) {
        uint64_t n = least_of_line(root, number, line);

        if (n && (!least || n < least))
            least = n;
    }
    fclose(f);
    return least;
}

/* ---- memory -------------------------------------------------------------- */

/* The number of a file that has one; "max" and a missing file are `other`. */
static uint64_t
number_in(const char *dir, const char *name, uint64_t other)
{
    FILE *f = cgroup_open(dir, name);
    unsigned long long n;

    if (f && fscanf(f, "%llu", &n) == 1)
        other = n;
    if (f)
        fclose(f);
    return other;
}

/* The sum of lines "NAME NUMBER" of a file whose name is one of the two. */
static uint64_t
sum_of_lines(FILE *f, const char *a, const char *b)
{
    char line[256], name[128];
    unsigned long long n;
    uint64_t sum = 0;

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "%127s %llu", name, &n) == 2 &&
            (!strcmp(name, a) || !strcmp(name, b)))
            sum += n;
    if (f)
        fclose(f);
    return sum;
}

/* Below a limit, where `used` bytes are taken and some of these are files'. */
static uint64_t
room_below(uint64_t limit, uint64_t used, uint64_t files)
{
    used = used > files ? used - files : 0;
    return limit > used ? limit - used : 1;
}

static uint64_t
room_v1(const char *dir)
{
    uint64_t limit = number_in(dir, "memory.limit_in_bytes", UINT64_MAX);

    if (limit > INT64_MAX / 2) /* none is written as a large number */
        return 0;
    return room_below(limit, number_in(dir, "memory.usage_in_bytes", 0),
                      sum_of_lines(cgroup_open(dir, "memory.stat"),
                                   "total_active_file", "total_inactive_file"));
}

static uint64_t
room_v2(const char *dir)
{
    uint64_t limit = number_in(dir, "memory.max", UINT64_MAX);
    uint64_t high = number_in(dir, "memory.high", UINT64_MAX);

    limit = high < limit ? high : limit;
    if (limit == UINT64_MAX)
        return 0;
    return room_below(limit, number_in(dir, "memory.current", 0),
                      sum_of_lines(cgroup_open(dir, "memory.stat"),
                                   "active_file", "inactive_file"));
}

static uint64_t
room_of_machine(const char *root)
{
    char dir[MAX_PATH];

    snprintf(dir, sizeof(dir), "%s/proc", root);
    return 1024 *
           sum_of_lines(cgroup_open(dir, "meminfo"), "MemAvailable:", "");
}

uint64_t
cgroup_memory(const char *root)
{
    static const struct cgroup_number room = { "memory", room_v1, room_v2 };
    uint64_t machine = room_of_machine(root),
             groups = cgroup_least(root, &room);

    if (!machine || (groups && groups < machine))
        return groups;
    return machine;
}
