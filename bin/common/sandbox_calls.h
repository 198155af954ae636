/* sandbox_calls.h - system calls that a tool has no use for
 *
 * The kernel allows those of a role, which sandbox_calls.list names, and
 * refuses all others. */
#ifndef COMMON_SANDBOX_CALLS_H
#define COMMON_SANDBOX_CALLS_H

#include <stdbool.h>
#include <sys/types.h>

/* The work of a process. */
enum sandbox_role {
    SANDBOX_READER, /* reads models, and starts threads */
    SANDBOX_FILTER, /* turns one stream into another: no threads */
    SANDBOX_WRITER, /* a reader that makes, renames and removes files */
    SANDBOX_FRONT,  /* accepts connections: no threads, and no files */
};

/* The group of this leader may still be sent signals, by this process alone. */
void
sandbox_keep_job(pid_t leader);

/* Has the kernel refuse what neither the role nor `kept` (sandbox.h) wants,
 * from now on, for this thread and those that it starts. With "log" in the
 * variable GG_SANDBOX each refused call is told on standard error. False: the
 * kernel cannot. PR_SET_NO_NEW_PRIVS must be set. */
bool
sandbox_refuse_calls(enum sandbox_role role, unsigned kept);

#endif
