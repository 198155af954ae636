/* loop.h - what goes round */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <stddef.h>

/* Feeds standard input, then the command's own output, to the command, and
 * copies its output to standard output; at most `batch` numbered sequences are
 * begun at once. Returns the status to exit with. */
int
loop_run(const char *command, size_t batch);

#endif
