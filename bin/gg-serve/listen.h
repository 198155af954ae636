/* listen.h - sockets at which gg-serve listens */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include <stdbool.h>

#include <gg.h>

enum {
    LISTEN_MAX = 8,
};

struct listen {
    int sockets[LISTEN_MAX];
    char names[LISTEN_MAX][128]; /* for messages */
    bool is_made[LISTEN_MAX];    /* a name of ours: removed at the end */
    int n;
    bool is_open; /* another machine or another user reaches one */
};

/* Takes those that systemd passed (LISTEN_FDS, for this process by LISTEN_PID):
 * 0 where there are none. */
int
listen_take_passed(struct listen *l);

/* Listens at ADDRESS:PORT, where an IPv6 address is in brackets, or at a Unix
 * socket: a path with a slash, which its owner alone may use. Sockets of a
 * process that has ended are replaced. */
enum gg_status
listen_add(struct listen *l, const char *where, struct gg_error *err);

/* The Unix socket that is listened at without --listen; NULL: there is no place
 * for it. A static string; its folder is made. */
const char *
listen_own_socket(void);

/* Removes the names of Unix sockets. */
void
listen_forget(const struct listen *l);

#endif
