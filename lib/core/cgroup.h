/* cgroup.h - limits of the control groups that the process is in
 *
 * Versions 1 and 2. `root` stands before all paths: "", or for tests a folder
 * with other files. */
#ifndef CORE_CGROUP_H
#define CORE_CGROUP_H

#include <stdint.h>
#include <stdio.h>

/* A number that groups of a controller have, read from the files of a group's
 * folder; 0: this group has none. */
struct cgroup_number {
    const char *controller;
    uint64_t (*v1)(const char *dir);
    uint64_t (*v2)(const char *dir);
};

/* A file of the folder, to be read; or NULL. */
FILE *
cgroup_open(const char *dir, const char *name);

/* The least number of the process's groups and those above them; 0: none. */
uint64_t
cgroup_least(const char *root, const struct cgroup_number *number);

/* Bytes that the process may still take, as far as this machine and its groups
 * say, at least 1: files that the system has cached count as free. 0: this is
 * not known. */
uint64_t
cgroup_memory(const char *root);

#endif
