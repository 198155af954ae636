/* command.h - the command that the loop goes through */
#ifndef LOOP_COMMAND_H
#define LOOP_COMMAND_H

#include <sys/types.h>

struct command {
    pid_t pid; /* of the shell, and of the process group */
    int input; /* what it reads; ours does not block */
    int output;
    int news; /* a byte comes when something in it says that it is done */
};

/* Runs `text` with sh, in a process group of its own. */
void
command_start(struct command *c, const char *text);

/* Closes what is open; takes a descriptor that is closed. */
void
command_close(int *fd);

/* Sends a signal to all of it. */
void
command_kill(const struct command *c, int sig);

/* 0 while it runs, else true, and *status is as the shell would tell it. */
int
command_has_ended(struct command *c, int *status);

#endif
