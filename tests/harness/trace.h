/* trace.h - a command whose system calls fail as a test wants it */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    TRACE_CALLS = 8,
};

/* Which calls, and how they fail. */
struct fault {
    const char *name;
    long calls[TRACE_CALLS]; /* their numbers, then -1 */
    int error;               /* errno; 0: half of the bytes are written */
    bool done;               /* it is done all the same: close() */
    const char *words; /* for outcome_judge(): what the message says of it */
};

/* That of the name; NULL: there is none, or none on this processor. */
const struct fault *
trace_fault(const char *name);

/* Runs the command, whose streams outcome_redirect() has, from its first
 * instruction on: what loads it is not counted, nor what it writes to standard
 * error. The call of that kind after `first` others fails, with `all` those
 * after it, too; -1: none. Returns the status of wait(); *n gets how many there
 * were. */
int
trace_run(char **argv, const struct fault *fault, long first, bool all,
          long *n);

#endif
