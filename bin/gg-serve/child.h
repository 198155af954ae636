/* child.h - programs that the monitor starts: engines, and what it asks of
 * gg-inspect and gg-fetch */
#ifndef SERVE_CHILD_H
#define SERVE_CHILD_H

#include <stdint.h>
#include <sys/types.h>

/* Starts the tool that lies next to this one, or on PATH, in a session of its
 * own in which SIGINT and SIGHUP are ignored. `in` and `out` become its
 * standard input and output; -1: /dev/null. Returns -1 where it cannot be
 * forked; a tool that is not there ends with status 127. */
pid_t
child_start(const char *tool, char *const *args, int in, int out);

/* An engine, joined by *socket. -1: errno says why there is none. */
pid_t
child_start_engine(char *const *args, int *socket);

/* The bytes that an engine of these arguments takes, as gg-inspect --memory
 * computes; 0: it could not. Waits for it, some seconds at most. */
uint64_t
child_memory(char *const *args);

/* The value of the option among arguments of gg-generate, by its letter or its
 * name; NULL. Its place is *at. */
const char *
child_option(char *const *args, char letter, const char *name, int *at);

#endif
