/* sandbox_table.h - the system calls of sandbox_calls.list that this processor
 * has */
#ifndef COMMON_SANDBOX_TABLE_H
#define COMMON_SANDBOX_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Who keeps a call: the list says what each is. */
enum call_kept {
    CALL_ANY,
    CALL_FILES,
    CALL_READER,
    CALL_WRITER,
    CALL_SOCKETS,
    CALL_SERVED,
    CALL_FRONT,
    CALL_DRIVER,
    CALL_MPI,
    CALL_NEVER,
    CALL_ABSENT,
};

/* Which arguments a call may have: rows of `checks` in sandbox_filter.c. */
enum call_check {
    CHECK_NONE,
    CHECK_IOCTL,
    CHECK_FCNTL,
    CHECK_SOCKETCALL,
    CHECK_MMAP,
    CHECK_NOEXEC,
    CHECK_KILL,
    CHECK_OWN,
    CHECK_THREADS,
    CHECK_ITSELF,
    CHECK_LIMITS,
    CHECK_PRCTL,
    CHECK_ARCH,
    CHECK_FAMILY,
    CHECK_PAIR,
    CHECK_USER,
    CHECK_USER_GROUP,
    N_CHECKS,
};

struct sandbox_call {
    const char *name;
    uint32_t number;
    enum call_kept kept;
    enum call_check check;
};

extern const struct sandbox_call sandbox_table[];
extern const size_t sandbox_n_calls;

#endif
