/* scratch.h - a folder for a test's files, gone when the test ends */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_folder[] = "/tmp/gg-test-XXXXXX";
static char scratch_file[64];

static inline void
scratch_remove(void)
{
    unlink(scratch_file);
    rmdir(scratch_folder);
}

/* The path of the one file that a test has at a time. */
static inline const char *
scratch_path(void)
{
    if (!scratch_file[0]) {
        if (!mkdtemp(scratch_folder))
            exit(99);
        snprintf(scratch_file, sizeof(scratch_file), "%s/model.gguf",
                 scratch_folder);
        atexit(scratch_remove);
    }
    return scratch_file;
}

#endif
