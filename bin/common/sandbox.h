/* sandbox.h - what a tool cannot do any more once its command line is read,
 * whatever the files that it reads make of it
 *
 * Landlock lets it read the files that are named, and open nothing else, but
 * for a few files of the system; the process of outside.h makes and replaces
 * the named outputs; seccomp allows the system calls of the tool's role
 * (sandbox_calls.h). cli_parse() collects the names by the table of options and
 * enters; a tool with `own_sandbox` adds what it needs and enters by itself.
 * Where the kernel has neither, nothing changes but who makes the outputs.
 *
 * For that process a tool needs sendmsg, recvmsg, read and shutdown of a socket
 * that is open before, and wait4 at its end; it learns names by stat, lstat,
 * access, readlink, getcwd.
 */
#ifndef COMMON_SANDBOX_H
#define COMMON_SANDBOX_H

#include <stdbool.h>

#include "common/sandbox_calls.h"

/* The use of a file, or of a folder. */
enum sandbox_use {
    SANDBOX_BY_NAME, /* for tables: read, if the argument is a FILE, MODEL,
                        LIST or DIR; else it names none */
    SANDBOX_READ,    /* a file, with other shards and a projector if it is a
                        model's; or the files of a model's folder */
    SANDBOX_TREE,    /* a file, or a folder with all that is below */
    SANDBOX_WRITE,   /* an output: a file that is replaced, or a device */
    SANDBOX_SHARDS,  /* the same, and OUT-00001-of-00002.gguf and so on */
    SANDBOX_UPDATE,  /* read, written where it lies, and replaced */
    SANDBOX_PARTS,   /* a file that comes as FILE.part, which may stay */
    SANDBOX_ARRAYS,  /* a folder in which NAME.npy is made */
    SANDBOX_SCRATCH, /* a folder for files without names */
    SANDBOX_STORE,   /* a folder: all that is below is read, made and removed */
    SANDBOX_CACHE,   /* a folder of which only a store is granted: its bound */
    SANDBOX_TYPED,   /* for tables: names come later, from a user */
    SANDBOX_JOB,     /* for tables: of an MPI job, SANDBOX_MPI is kept */
};

/* Rights that a tool keeps. */
enum {
    SANDBOX_SOCKETS = 1,
    SANDBOX_GPU = 2, /* all that a driver may want: it reads anything, writes to
                        devices and its caches, and starts its programs */
    SANDBOX_MPI = 4, /* as MPI libraries want: all files, and most calls */
    SANDBOX_TERMINAL = 8, /* the terminal's modes are changed */
    SANDBOX_MEDIA = 16,   /* media are decoded, by media_worker.h */
};

/* Adds a file or folder; NULL and "-" are none. The name is copied. */
void
sandbox_add(const char *path, enum sandbox_use use);

void
sandbox_keep(unsigned what);

/* The tool has this role, else SANDBOX_READER; one that may write files is a
 * writer. */
void
sandbox_play(enum sandbox_role role);

/* There will be none. */
void
sandbox_off(void);

/* From now on, for this thread and those that it starts. With `verbose` a
 * message says what the kernel does not have. */
void
sandbox_enter(bool verbose);

/* True if EACCES of that path is the sandbox's: modes of files and folders
 * would let it be read, or made. */
bool
sandbox_refuses(const char *path);

#endif
