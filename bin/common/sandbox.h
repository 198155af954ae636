/* sandbox.h - what a tool cannot do any more once its command line is read,
 * whatever the files that it reads make of it
 *
 * Landlock lets it read below the folders of the files that are named, write in
 * those of named outputs, and open nothing else, but for a few files of the
 * system; seccomp allows the system calls of the tool's role (sandbox_calls.h).
 * cli_parse() collects the names by the table of options and enters; a tool
 * with `own_sandbox` adds what it needs and enters by itself. Where the kernel
 * has neither, nothing changes.
 */
#ifndef COMMON_SANDBOX_H
#define COMMON_SANDBOX_H

#include <stdbool.h>

#include "common/sandbox_calls.h"

/* What is done with a file, or in a folder. */
enum sandbox_use {
    SANDBOX_BY_NAME,    /* for tables: read, if the argument is a FILE, MODEL,
                           LIST or DIR; else it names none */
    SANDBOX_READ,       /* it, and what is below its folder */
    SANDBOX_READ_ALONE, /* it, and nothing beside it */
    SANDBOX_WRITE,      /* the same; and files are made there, and removed */
    SANDBOX_HERE, /* for tables: the option reads and writes below the working
                     folder */
    SANDBOX_JOB,  /* for tables: of an MPI job, SANDBOX_MPI is kept */
};

/* What a tool keeps. */
enum {
    SANDBOX_SOCKETS = 1,
    SANDBOX_GPU = 2, /* all that a driver may want: it reads anything, writes to
                        devices and its caches, and starts its programs */
    SANDBOX_MPI = 4, /* as MPI libraries want: all files, and most calls */
    SANDBOX_TERMINAL = 8, /* the terminal's modes are changed */
};

/* Adds a file or folder; NULL and "-" are none. The name is copied. */
void
sandbox_add(const char *path, enum sandbox_use use);

void
sandbox_keep(unsigned what);

/* The tool has this role, else SANDBOX_READER; who may write files is a writer. */
void
sandbox_play(enum sandbox_role role);

/* There will be none. */
void
sandbox_off(void);

/* From now on, for this thread and those that it starts. With `verbose` a
 * message says what the kernel does not have. */
void
sandbox_enter(bool verbose);

#endif
