/* pass.c - messages with descriptors between processes */
#include <config.h>

#include "common/pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A message, with room for a descriptor. */
struct message {
    struct msghdr head;
    struct iovec part;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
};

static void
begin_message(struct message *m, void *data, size_t size)
{
    memset(m, 0, sizeof(*m));
    m->part = (struct iovec){ data, size };
    m->head.msg_iov = &m->part;
    m->head.msg_iovlen = 1;
}

bool
pass_send(int socket, void *data, size_t size, int fd)
{
    struct message m;
    ssize_t n;

    begin_message(&m, data, size);
    if (fd >= 0) {
        struct cmsghdr *c = &m.control.align;

        m.head.msg_control = &m.control;
        m.head.msg_controllen = sizeof(m.control);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(fd));
        memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    }
    do
        n = sendmsg(socket, &m.head, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)size;
}

bool
pass_receive(int socket, void *data, size_t size, int *fd)
{
    struct message m;
    struct cmsghdr *c;
    ssize_t n;

    begin_message(&m, data, size);
    m.head.msg_control = &m.control;
    m.head.msg_controllen = sizeof(m.control);
    do
        n = recvmsg(socket, &m.head, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    *fd = -1;
    c = n >= 0 ? CMSG_FIRSTHDR(&m.head) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(*fd)))
        memcpy(fd, CMSG_DATA(c), sizeof(*fd));
    return n == (ssize_t)size;
}

bool
pass_start(void (*serve)(int socket), pid_t *process, int *tool_end)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return false;
    *process = fork();
    if (*process == 0) {
        close(pair[0]);
        serve(pair[1]);
    }
    close(pair[1]);
    if (*process < 0) {
        close(pair[0]);
        return false;
    }
    *tool_end = pair[0];
    return true;
}

void
pass_close_from(int first)
{
    bool done = false;

#ifdef SYS_close_range
    done = syscall(SYS_close_range, (unsigned)first, ~0u, 0) == 0;
#endif
    for (int fd = first; !done && fd < 1 << 16; fd++)
        close(fd);
}
