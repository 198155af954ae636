/* media_worker.c - decodes media in a process of its own
 *
 * The worker waits on a pair of sockets. For each medium it makes another pair,
 * forks a child with one end and passes the other to the tool: by that pair the
 * bytes go in, and pixels or samples come back. */
#include <config.h>

#include "common/media_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/pass.h"
#include "common/sandbox_files.h"

enum {
    MOST_SECONDS = 180,   /* of a medium */
    MOST_PROCESSOR = 120, /* seconds of it that are computed */
    MOST_BYTES_LOG2 = 32, /* of memory */
    MOST_INPUT_LOG2 = 30, /* bytes of a file */
    PIECE = 1 << 20,      /* bytes that are moved at a time */
};

struct request {
    uint64_t size; /* of the bytes that follow */
    struct gg_decode_limits limits;
};

struct response {
    int status;
    struct gg_error error;
    struct gg_decoded medium; /* its pointers do not count */
};

static int tool_end = -1; /* of the worker's pair; -1: there is none */
static pid_t worker;

/* ---- streams ------------------------------------------------------------- */

/* False: the other end is closed, or it took too long (errno EAGAIN). */
static bool
send_all(int socket, const void *data, size_t size)
{
    const char *p = data;

    while (size) {
        struct iovec part = { (void *)p, size < PIECE ? size : PIECE };
        struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
        ssize_t n = sendmsg(socket, &m, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static time_t
seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static bool
receive_all(int socket, void *data, size_t size, time_t end)
{
    char *p = data;

    while (size) {
        struct iovec part = { p, size < PIECE ? size : PIECE };
        struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
        ssize_t n = recvmsg(socket, &m, 0);

        if (n < 0 && errno == EINTR && seconds_now() <= end)
            continue;
        if (n > 0 && seconds_now() > end) {
            errno = EAGAIN;
            return false;
        }
        if (n <= 0) {
            errno = n ? errno : EPIPE;
            return false;
        }
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static size_t
bytes_of(const struct gg_decoded *m)
{
    if (m->kind == GG_MEDIA_IMAGE)
        return (size_t)m->width * m->height * 3;
    return m->n_samples * sizeof(float);
}

/* ---- the child, which decodes one medium -----------------------------------
 */

static void
bound_resource(int what, rlim_t most)
{
    struct rlimit old, wanted = { most, most };

    if (getrlimit(what, &old) == 0 && old.rlim_max < most)
        wanted = (struct rlimit){ old.rlim_max, old.rlim_max };
    (void)setrlimit(what, &wanted);
}

/* A process that may have no descriptor more opens neither file nor socket;
 * what is done by name alone, Landlock and seccomp refuse. */
static void
confine_child(void)
{
    bool no_more = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (no_more)
        (void)sandbox_confine_files(NULL, 0);
#ifndef GG_INSTRUMENTED
    bound_resource(RLIMIT_AS, (rlim_t)1 << MOST_BYTES_LOG2);
#endif
    bound_resource(RLIMIT_CPU, MOST_PROCESSOR);
    bound_resource(RLIMIT_CORE, 0);
    bound_resource(RLIMIT_FSIZE, 0);
    bound_resource(RLIMIT_NOFILE, 0);
    if (no_more)
        (void)sandbox_refuse_calls(SANDBOX_FILTER, 0);
}

static void *
receive_bytes(int socket, const struct request *q, time_t end)
{
    void *bytes = malloc(q->size + 1);

    if (bytes && receive_all(socket, bytes, q->size, end))
        return bytes;
    free(bytes);
    return NULL;
}

CLI_NORETURN static void
decode_one(int socket)
{
    time_t end = seconds_now() + MOST_SECONDS;
    struct request q;
    struct response r = { .status = GG_ERR_NOMEM,
                          .error.message = "out of memory" };
    struct gg_decoded *m;
    void *bytes;

    confine_child();
    if (!receive_all(socket, &q, sizeof(q), end))
        _exit(1);
    bytes = receive_bytes(socket, &q, end);
    if (bytes)
        r.status = (int)gg_media_decode(bytes, q.size, &q.limits, &m, &r.error);
    if (r.status == GG_OK)
        r.medium = *m;
    if (send_all(socket, &r, sizeof(r)) && r.status == GG_OK)
        (void)send_all(socket, m->rgb ? (void *)m->rgb : (void *)m->samples,
                       bytes_of(m));
    _exit(0);
}

/* ---- the worker ------------------------------------------------------------
 */

/* The tool's end for a child that was started, or -1. */
static int
start_child(int socket)
{
    struct timeval most = { MOST_SECONDS, 0 };
    int pair[2];
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return -1;
    (void)setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
    (void)setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
    child = fork();
    if (child == 0) {
        close(socket);
        close(pair[0]);
        decode_one(pair[1]);
    }
    close(pair[1]);
    if (child > 0)
        return pair[0];
    close(pair[0]);
    return -1;
}

/* The socket becomes descriptor 0; what libraries print goes nowhere. */
CLI_NORETURN static void
serve_media(int socket)
{
    int none = open("/dev/null", O_RDWR), given;
    sigset_t all;
    char byte;

    sigfillset(&all);
    sigdelset(&all, SIGSYS);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_IGN); /* nobody waits for a child */
    (void)setsid();
    dup2(socket, 0);
    dup2(none >= 0 ? none : 0, 1);
    dup2(none >= 0 ? none : 0, 2);
    pass_close_from(3);
    (void)gg_media_formats();
    while (pass_receive(0, &byte, 1, &given)) {
        int fd = start_child(0);
        bool sent = pass_send(0, &byte, 1, fd);

        if (fd >= 0)
            close(fd);
        if (given >= 0)
            close(given);
        if (!sent)
            break;
    }
    _exit(chdir("/"));
}

bool
media_worker_start(void)
{
    return tool_end >= 0 || pass_start(serve_media, &worker, &tool_end);
}

/* ---- the tool --------------------------------------------------------------
 */

static enum gg_status
lost(struct gg_error *err)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return cli_error(err, GG_ERR_FORMAT,
                         "decoding took more than %d seconds", MOST_SECONDS);
    return cli_error(err, GG_ERR_FORMAT,
                     "its decoder died: a damaged file, or it wanted too much "
                     "memory or time");
}

/* The child may be in the hands of its medium's author: all that it says is
 * checked. */
static enum gg_status
refuse_medium(const struct response *r, struct gg_error *err)
{
    bool known = r->status > GG_OK && r->status <= GG_ERR_TRUNCATED;
    char text[sizeof(err->message)];

    cli_escape(text, sizeof(text), r->error.message);
    return cli_error(err, known ? (enum gg_status)r->status : GG_ERR_FORMAT,
                     "%s", text);
}

static enum gg_status
receive_medium(int socket, const struct gg_decode_limits *limits, time_t end,
               struct gg_decoded **out, struct gg_error *err)
{
    struct response r;
    struct gg_decoded *m;
    enum gg_status st;

    if (!receive_all(socket, &r, sizeof(r), end))
        return lost(err);
    r.error.message[sizeof(r.error.message) - 1] = '\0';
    if (r.status != GG_OK)
        return refuse_medium(&r, err);
    st = gg_decoded_new(&r.medium, limits, &m, err);
    if (st != GG_OK)
        return st;
    if (receive_all(socket, m->rgb ? (void *)m->rgb : (void *)m->samples,
                    bytes_of(m), end))
        st = gg_decoded_check(m, err);
    else
        st = lost(err);
    if (st == GG_OK)
        *out = m;
    else
        gg_decoded_free(m);
    return st;
}

enum gg_status
media_worker_decode(const void *bytes, size_t size,
                    const struct gg_decode_limits *limits,
                    struct gg_decoded **out, struct gg_error *err)
{
    time_t end = seconds_now() + MOST_SECONDS;
    struct request q = { .size = size };
    char byte = 0;
    int socket;
    enum gg_status st;

    if (size >> MOST_INPUT_LOG2)
        return cli_error(err, GG_ERR_NOMEM, "more than %d MiB are not decoded",
                         1 << (MOST_INPUT_LOG2 - 20));
    if (tool_end < 0 || !pass_send(tool_end, &byte, 1, -1) ||
        !pass_receive(tool_end, &byte, 1, &socket) || socket < 0)
        return cli_error(err, GG_ERR_IO, "there is no process that decodes");
    if (limits)
        q.limits = *limits;
    if (!send_all(socket, &q, sizeof(q)) || !send_all(socket, bytes, size))
        st = lost(err);
    else
        st = receive_medium(socket, limits, end, out, err);
    close(socket);
    return st;
}

void
media_worker_end(void)
{
    if (tool_end < 0)
        return;
    close(tool_end);
    tool_end = -1;
    (void)waitpid(worker, NULL, 0);
}
