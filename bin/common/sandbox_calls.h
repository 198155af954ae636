/* sandbox_calls.h - system calls that a tool has no use for */
#ifndef COMMON_SANDBOX_CALLS_H
#define COMMON_SANDBOX_CALLS_H

#include <stdbool.h>

/* Has the kernel refuse new programs and, unless SANDBOX_SOCKETS is kept,
 * sockets: EPERM. False: it cannot. PR_SET_NO_NEW_PRIVS must be set. */
bool
sandbox_refuse_calls(unsigned kept);

#endif
