/* tool.h - parts of the tools in a fuzz target: what ends a tool ends an input
 *
 * To be linked with $(tool_ldflags), which has exit() and _exit() come here. */
#ifndef FUZZ_TOOL_H
#define FUZZ_TOOL_H

#include <stdbool.h>
#include <stddef.h>

/* Calls work(data). False: it would have ended the tool with a status, which
 * *status gets unless it is NULL; then what it has allocated is freed, where a
 * sanitizer tells of it. Messages go nowhere. */
bool
tool_run(void (*work)(void *data), void *data, int *status);

/* A descriptor of a file in memory that holds the data, at its beginning. */
int
tool_file(const void *data, size_t size);
/* A descriptor of a pipe, which takes no more than the system lets it. */
int
tool_pipe(const void *data, size_t size);

#endif
