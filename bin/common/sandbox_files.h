/* sandbox_files.h - for sandbox.c: which files are confined to, by Landlock */
#ifndef COMMON_SANDBOX_FILES_H
#define COMMON_SANDBOX_FILES_H

#include "common/sandbox.h"

struct sandbox_wish {
    struct sandbox_wish *next;
    enum sandbox_use use;
    char path[];
};

/* Returns 0 or errno: ENOSYS where the kernel has no Landlock. */
int
sandbox_confine_files(const struct sandbox_wish *wishes, unsigned kept);

#endif
