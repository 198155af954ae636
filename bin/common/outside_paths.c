/* outside_paths.c - where a name leads */
#include <config.h>

#include "common/outside_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The name of what is not there yet, in a folder that is. */
static int
resolve_new(const char *path, char final[PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char folder[PATH_MAX];
    size_t len;

    snprintf(folder, sizeof(folder), "%.*s", (int)(base - path), path);
    if (!realpath(slash ? folder : ".", final))
        return -1;
    len = strlen(final);
    if (len + strlen(base) + 2 > PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    snprintf(final + len, PATH_MAX - len, "/%s", base);
    return 0;
}

int
outside_resolve(const char *path, char final[PATH_MAX], struct stat *st)
{
    struct stat link;

    if (stat(path, st) == 0)
        return S_ISREG(st->st_mode) && !realpath(path, final) ? -1 : 1;
    if (errno != ENOENT)
        return -1;
    if (lstat(path, &link) == 0)
        return OUTSIDE_DANGLES;
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return resolve_new(path, final);
}
