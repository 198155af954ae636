/* pass.h - messages with descriptors between processes of a tool */
#ifndef COMMON_PASS_H
#define COMMON_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Sends all of a message by a pair of sockets, with a descriptor unless fd is
 * -1. False: the other end is closed. */
bool
pass_send(int socket, void *data, size_t size, int fd);

/* Receives one of that size; *fd gets the descriptor that came, or -1. */
bool
pass_receive(int socket, void *data, size_t size, int *fd);

/* Forks a process that runs serve() with one end of a pair of sockets, and does
 * not come back from it; *tool_end gets the other end. False: errno says why
 * there is none. */
bool
pass_start(void (*serve)(int socket), pid_t *process, int *tool_end);

/* Closes all descriptors from `first` on: nothing is kept open that somebody
 * waits to see closed. */
void
pass_close_from(int first);

#endif
