/* outside.c - the process that makes the files of a confined tool */
#include <config.h>

#include "common/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/outside_files.h"
#include "common/pass.h"
#include "common/sandbox_calls.h"

struct request {
    int deed, flags;
    char path[PATH_MAX];
};

struct reply {
    int error, failed;
    bool refused; /* it was not tried */
};

static int tool_end = -1; /* of the pair of sockets; -1: no such process */
static pid_t process;
static bool has_ended;
static char forbidden[PATH_MAX]; /* the last that was tried, and EACCES */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* one request */

/* ---- the process --------------------------------------------------------- */

/* A descriptor, or -1 with an error. */
static int
answer(struct request *q, struct reply *r)
{
    const char *path;
    int fd;

    q->path[sizeof(q->path) - 1] = '\0';
    path = outside_permit((enum outside_deed)q->deed, q->path, q->flags);
    *r = (struct reply){ .error = EACCES, .refused = !path };
    if (!path)
        return -1;
    fd = outside_act((enum outside_deed)q->deed, path, q->flags, &r->failed);
    r->error = fd < 0 ? errno : 0;
    return fd;
}

/* The socket has descriptor 0, which so stands for no file. */
CLI_NORETURN static void
serve(int socket)
{
    struct request q;
    struct reply r;
    sigset_t all;
    int given;

    sigfillset(&all);
    sigdelset(&all, SIGSYS); /* tells of refused calls, by GG_SANDBOX=log */
    sigprocmask(SIG_SETMASK, &all, NULL);
    (void)setsid(); /* who kills all of a job does not mean this one */
    dup2(socket, 0);
    pass_close_from(1);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)sandbox_refuse_calls(SANDBOX_WRITER, 0);
    while (pass_receive(0, &q, sizeof(q), &given)) {
        int fd = answer(&q, &r);
        bool sent = pass_send(0, &r, sizeof(r), fd > 0 ? fd : -1);

        if (fd > 0)
            close(fd);
        if (given >= 0)
            close(given);
        if (!sent)
            break;
    }
    outside_act(OUTSIDE_DISCARD, "", 0, NULL);
    _exit(chdir("/")); /* who waits may unmount the folder then */
}

bool
outside_start(void)
{
    return !outside_has_names() || pass_start(serve, &process, &tool_end);
}

/* ---- the tool ------------------------------------------------------------ */

static int
ask(enum outside_deed deed, const char *path, int flags, int *failed)
{
    struct request q = { .deed = (int)deed, .flags = flags };
    struct reply r;
    int fd;

    if (strlen(path) >= sizeof(q.path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(q.path, path);
    if (has_ended || !pass_send(tool_end, &q, sizeof(q), -1) ||
        !pass_receive(tool_end, &r, sizeof(r), &fd)) {
        errno = EPIPE;
        return -1;
    }
    *failed = r.failed;
    if (r.error == EACCES && !r.refused)
        strcpy(forbidden, path);
    errno = r.error;
    return r.error ? -1 : fd < 0 ? 0 : fd;
}

/* No signal comes meanwhile: what it has to remove is known, then. */
static int
do_alone(enum outside_deed deed, const char *path, int flags, int *failed)
{
    sigset_t all, before;
    int fd, error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&mutex);
    fd = tool_end < 0 ? outside_act(deed, path, flags, failed)
                      : ask(deed, path, flags, failed);
    error = errno;
    pthread_mutex_unlock(&mutex);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

int
outside_do(enum outside_deed deed, const char *path, int flags)
{
    int failed;

    return do_alone(deed, path, flags, &failed);
}

int
outside_open(const char *path, int flags)
{
    bool there = tool_end >= 0 && outside_permit(OUTSIDE_OPEN, path, flags);
    struct stat st;
    int unused, fd;

    fd = there ? outside_do(OUTSIDE_OPEN, path, flags)
               : outside_act(OUTSIDE_OPEN, path, flags, &unused);
    if (fd < 0 && errno == EACCES)
        errno = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? EISDIR : EACCES;
    return fd;
}

bool
outside_was_forbidden(const char *path)
{
    return strcmp(path, forbidden) == 0;
}

int
outside_commit(int *failed)
{
    return do_alone(OUTSIDE_COMMIT, "", 0, failed) < 0 ? errno : 0;
}

void
outside_end(void)
{
    char byte;
    ssize_t n;
    int unused;

    if (tool_end < 0) {
        outside_act(OUTSIDE_DISCARD, "", 0, &unused);
        return;
    }
    if (has_ended)
        return;
    has_ended = true;
    shutdown(tool_end, SHUT_WR);
    do
        n = read(tool_end, &byte, 1);
    while (n > 0 || (n < 0 && errno == EINTR));
    (void)waitpid(process, NULL, 0);
}
