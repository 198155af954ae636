/* outside_files.h - for outside.c: what is done with files, and which may be */
#ifndef COMMON_OUTSIDE_FILES_H
#define COMMON_OUTSIDE_FILES_H

#include <limits.h>
#include <sys/stat.h>

#include "common/outside.h"

/* ---- outside_files.c: deeds ---- */

/* The name without symbolic links of a file that is there (*st), or is to be in
 * a folder that is there: 1, 0; -1: errno; or a link leads to nothing. */
enum {
    OUTSIDE_DANGLES = -2
};
int
outside_resolve(const char *path, char final[PATH_MAX], struct stat *st);

/* As outside_do(), in this process. *failed is for OUTSIDE_COMMIT. */
int
outside_act(enum outside_deed deed, const char *path, int flags, int *failed);

/* ---- outside_names.c: names ---- */

/* The path by which the deed may be done with it; NULL: it may not. */
const char *
outside_permit(enum outside_deed deed, const char *path, int flags);

bool
outside_has_names(void);

/* Whether `path` may have what is in the temporary file, which matters for a
 * name that a user typed only: 0 or errno. */
int
outside_check_content(const char *path, const char *temporary);

#endif
