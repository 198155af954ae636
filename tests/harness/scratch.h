/* scratch.h - a folder for a test's files, gone with them when the test ends */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SCRATCH_PATH = 4096, /* bytes that a path in the folder has at most */
    SCRATCH_NAME = 200,  /* and a name in it */
};

static char scratch_folder[SCRATCH_PATH - SCRATCH_NAME - 1];
static pid_t scratch_owner;

static inline void
scratch_remove(void)
{
    pid_t child = scratch_owner == getpid() ? fork() : -1;

    if (child == 0) {
        execlp("rm", "rm", "-rf", "--", scratch_folder, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* Makes the folder, below $TMPDIR or /tmp, unless it is there. */
static inline const char *
scratch_begin(void)
{
    const char *dir = getenv("TMPDIR");
    int n;

    if (scratch_owner)
        return scratch_folder;
    n = snprintf(scratch_folder, sizeof(scratch_folder), "%s/gg-test-XXXXXX",
                 dir && *dir ? dir : "/tmp");
    if (n >= (int)sizeof(scratch_folder) || !mkdtemp(scratch_folder)) {
        perror(scratch_folder);
        exit(99);
    }
    scratch_owner = getpid();
    atexit(scratch_remove);
    return scratch_folder;
}

/* The path of a file in the folder; the fourth call from now writes over it. */
static inline char *
scratch_file(const char *name)
{
    static char path[4][SCRATCH_PATH];
    static int i;

    i = (i + 1) % 4;
    snprintf(path[i], SCRATCH_PATH, "%s/%.*s", scratch_begin(), SCRATCH_NAME,
             name);
    return path[i];
}

/* The path of the one model that most tests have at a time. */
static inline const char *
scratch_path(void)
{
    static char path[SCRATCH_PATH];

    if (!path[0])
        strcpy(path, scratch_file("model.gguf"));
    return path;
}

/* Whether a message begins with a path; of a long one the end will do. */
static inline bool
scratch_names(const char *message, const char *path)
{
    return strncmp(message, path, strlen(path)) == 0 ||
           (strncmp(message, "...", 3) == 0 &&
            strstr(message, strrchr(path, '/')));
}

#endif
