/* outside.h - the process that makes the files of a confined tool
 *
 * It is forked before anything foreign is read, is not confined, and knows by
 * then the names of all outputs: whatever the tool asks for later, no other
 * file is written, replaced or removed. A request is one message on a pair of
 * sockets, a reply another one, with a descriptor where a file was opened. It
 * ends when the tool does, also by SIGKILL, and removes temporary files then.
 * Without such a process (no sandbox) the tool does the same by itself.
 */
#ifndef COMMON_OUTSIDE_H
#define COMMON_OUTSIDE_H

#include <stdbool.h>

/* Uses that a name is allowed for. */
enum outside_use {
    OUTSIDE_OUTPUT = 1,   /* a file that is replaced whole */
    OUTSIDE_SHARDS = 2,   /* OUT-00001-of-00003.gguf and so on, of OUT.gguf */
    OUTSIDE_UPDATE = 4,   /* a file that is opened in place, or replaced */
    OUTSIDE_ARRAYS = 8,   /* a folder in which NAME.npy is made */
    OUTSIDE_SCRATCH = 16, /* a folder for files without names */
    OUTSIDE_PARTS = 32,   /* a file that comes as FILE.part or FILE.HASH.part */
    OUTSIDE_CACHE = 128,  /* the folder of a prefix cache */
    OUTSIDE_TYPED = 64,   /* any that the user types: see outside_names.c */
};

/* For `flags` of OUTSIDE_OPEN: a new file is its user's alone. */
enum {
    OUTSIDE_PRIVATE = 1 << 30
};

enum outside_deed {
    OUTSIDE_CREATE, /* opens a temporary file for the name; it comes first */
    OUTSIDE_ADD,    /* the same; it comes last. `flags` 1: the file that has the
                       name is an empty one of this tool's */
    OUTSIDE_COMMIT, /* they get their names, all or none: see outside_commit()
                     */
    OUTSIDE_DISCARD,    /* they are removed */
    OUTSIDE_DOOM,       /* that removes the file, too; "": none any more */
    OUTSIDE_OPEN,       /* opens the file itself: see outside_open() */
    OUTSIDE_ASIDE,      /* opens a temporary file apart from the others */
    OUTSIDE_ASIDE_END,  /* it gets its name */
    OUTSIDE_ASIDE_DROP, /* it is removed */
    OUTSIDE_MOVE,       /* a part becomes the file: the first `flags` bytes of
                           its name are the file's */
    OUTSIDE_REMOVE,     /* a part */
    OUTSIDE_MAKE_FOLDER,
    OUTSIDE_MAKE_SCRATCH, /* opens a file without a name in the folder */
    OUTSIDE_TRIM, /* files of the cache go where these are above `flags` KiB */
};

/* Allows the name, before outside_start(). */
void
outside_allow(const char *path, enum outside_use use);

/* Forks the process, if something was allowed. False: errno says why not. */
bool
outside_start(void);

/* Done there or here: a descriptor, or 0; -1: errno says why not. */
int
outside_do(enum outside_deed deed, const char *path, int flags);

/* open() with mode 0666, of a name that was allowed there, else here. Flags are
 * those of open() and OUTSIDE_PRIVATE. EISDIR, where it is one, goes before
 * EACCES, which the sandbox gives. */
int
outside_open(const char *path, int flags);

/* True if it tried, and the permissions of the file or folder forbade it. */
bool
outside_was_forbidden(const char *path);

/* All temporary files get their names. Returns 0 or errno; then all is as it
 * was, and *failed is the number of the one that has none. */
int
outside_commit(int *failed);

/* Removes what has a temporary name, and waits for the end of the process. Safe
 * in a signal handler. */
void
outside_end(void);

#endif
