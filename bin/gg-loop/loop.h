/* loop.h - what goes round */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include "common/shard.h"

struct loop_options {
    size_t batch;       /* numbered sequences begun at once, at most */
    struct shard shard; /* others of standard input are left out */
    bool verbose;       /* what the sandbox lacks is told */
};

/* Feeds standard input, then the command's own output, to the command, and
 * copies its output to standard output. Returns the status to exit with. */
int
loop_run(const char *command, const struct loop_options *o);

#endif
