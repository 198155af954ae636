/* listen.c - sockets that listen: given by systemd, or made here */
#include <config.h>

#include "gg-serve/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/cli.h"

enum {
    FIRST_PASSED = 3, /* sd_listen_fds(3) */
    BACKLOG = 1024,
};

static void
add_socket(struct listen *l, int socket, const char *name, bool is_made)
{
    l->sockets[l->n] = socket;
    l->is_made[l->n] = is_made;
    snprintf(l->names[l->n], sizeof(l->names[l->n]), "%s", name);
    l->n++;
}

static enum gg_status
no_socket(struct gg_error *err, const char *where, int error)
{
    return cli_error(err, GG_ERR_IO, "%s: %s", where, strerror(error));
}

static bool
is_loopback(const struct sockaddr *at)
{
    const struct sockaddr_in *v4 = (const void *)at;
    const struct sockaddr_in6 *v6 = (const void *)at;

    if (at->sa_family == AF_INET)
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    return at->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* ---- passed -------------------------------------------------------------- */

static int
number_in(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    long v = text ? strtol(text, &end, 10) : 0;

    return text && *text && !*end && v > 0 && v < 1 << 24 ? (int)v : 0;
}

/* Who may reach what another program has made is that program's business; a key
 * is wanted where it is no socket of this machine. */
static void
take_one(struct listen *l, int fd)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof(at);
    int listens = 0;
    socklen_t int_size = sizeof(listens);
    char name[32];

    if (getsockname(fd, (struct sockaddr *)&at, &size) ||
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &int_size) ||
        !listens)
        cli_die("descriptor %d of LISTEN_FDS is no socket that listens", fd);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (at.ss_family != AF_UNIX && !is_loopback((struct sockaddr *)&at))
        l->is_open = true;
    snprintf(name, sizeof(name), "descriptor %d", fd);
    add_socket(l, fd, name, false);
}

int
listen_take_passed(struct listen *l)
{
    int n = number_in("LISTEN_FDS");

    if (n && number_in("LISTEN_PID") == (int)getpid()) {
        if (n > LISTEN_MAX)
            cli_die("LISTEN_FDS: more than %d sockets", LISTEN_MAX);
        for (int i = 0; i < n; i++)
            take_one(l, FIRST_PASSED + i);
    } else {
        n = 0;
    }
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    return n;
}

/* ---- Unix sockets -------------------------------------------------------- */

/* Whether somebody listens there still. */
static bool
is_alive(const struct sockaddr_un *at)
{
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool alive =
        s >= 0 && connect(s, (const struct sockaddr *)at, sizeof(*at)) == 0;

    if (s >= 0)
        close(s);
    return alive;
}

static enum gg_status
remove_dead(const struct sockaddr_un *at, struct gg_error *err)
{
    struct stat st;

    if (lstat(at->sun_path, &st))
        return GG_OK;
    if (!S_ISSOCK(st.st_mode))
        return no_socket(err, at->sun_path, EEXIST);
    if (is_alive(at))
        return cli_error(err, GG_ERR_IO, "%s: another server listens there",
                         at->sun_path);
    unlink(at->sun_path);
    return GG_OK;
}

static enum gg_status
listen_unix(struct listen *l, const char *path, struct gg_error *err)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    enum gg_status st;
    mode_t mask;
    int s, bound;

    if (strlen(path) >= sizeof(at.sun_path))
        return cli_error(err, GG_ERR_ARG,
                         "%s: a socket's path has at most %d "
                         "bytes",
                         path, (int)sizeof(at.sun_path) - 1);
    strcpy(at.sun_path, path);
    st = remove_dead(&at, err);
    if (st != GG_OK)
        return st;
    s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    mask = umask(0177);
    bound = s < 0 ? -1 : bind(s, (struct sockaddr *)&at, sizeof(at));
    umask(mask);
    if (bound || listen(s, BACKLOG))
        return no_socket(err, path, errno);
    add_socket(l, s, path, true);
    return GG_OK;
}

const char *
listen_own_socket(void)
{
    static char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    const char *dir = getenv("XDG_RUNTIME_DIR");
    int n;

    if (!dir || *dir != '/')
        return NULL;
    n = snprintf(path, sizeof(path), "%s/gg", dir);
    if (n < 0 || (size_t)n + sizeof("/serve.sock") > sizeof(path) ||
        (mkdir(path, 0700) && errno != EEXIST))
        return NULL;
    strcat(path, "/serve.sock");
    return path;
}

/* ---- addresses ----------------------------------------------------------- */

/* "[::1]:8080" into "::1" and "8080". */
static bool
split_address(const char *where, char *host, size_t size, const char **port)
{
    const char *colon = strrchr(where, ':');
    size_t n = colon ? (size_t)(colon - where) : 0;

    if (!colon || !colon[1] || n == 0)
        return false;
    if (*where == '[') {
        if (n < 3 || where[n - 1] != ']')
            return false;
        where++;
        n -= 2;
    } else if (memchr(where, ':', n)) {
        return false;
    }
    if (n >= size)
        return false;
    memcpy(host, where, n);
    host[n] = '\0';
    *port = colon + 1;
    return true;
}

/* Names the port that the kernel chose in the place of 0. */
static void
name_address(int s, char *name, size_t size)
{
    struct sockaddr_storage at;
    socklen_t at_size = sizeof(at);
    char host[64] = "?", port[8] = "?";

    if (getsockname(s, (struct sockaddr *)&at, &at_size) == 0)
        (void)getnameinfo((struct sockaddr *)&at, at_size, host, sizeof(host),
                          port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(name, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static enum gg_status
listen_at(struct listen *l, const char *where, const struct addrinfo *a,
          struct gg_error *err)
{
    char name[128];
    int s = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (s < 0)
        return no_socket(err, where, errno);
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(s, a->ai_addr, a->ai_addrlen) || listen(s, BACKLOG)) {
        int error = errno;

        close(s);
        return no_socket(err, where, error);
    }
    l->is_open |= !is_loopback(a->ai_addr);
    name_address(s, name, sizeof(name));
    add_socket(l, s, name, false);
    return GG_OK;
}

static enum gg_status
listen_tcp(struct listen *l, const char *where, struct gg_error *err)
{
    struct addrinfo want = { .ai_flags =
                                 AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                             .ai_socktype = SOCK_STREAM };
    struct addrinfo *a;
    const char *port;
    char host[64];
    enum gg_status st;

    if (!split_address(where, host, sizeof(host), &port) ||
        getaddrinfo(strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, port,
                    &want, &a))
        return cli_error(err, GG_ERR_ARG,
                         "'%s' is neither ADDRESS:PORT nor a path with a "
                         "slash",
                         where);
    st = listen_at(l, where, a, err);
    freeaddrinfo(a);
    return st;
}

/* ---- all ----------------------------------------------------------------- */

enum gg_status
listen_add(struct listen *l, const char *where, struct gg_error *err)
{
    if (l->n == LISTEN_MAX)
        return cli_error(err, GG_ERR_ARG, "more than %d sockets", LISTEN_MAX);
    return strchr(where, '/') ? listen_unix(l, where, err)
                              : listen_tcp(l, where, err);
}

void
listen_forget(const struct listen *l)
{
    for (int i = 0; i < l->n; i++)
        if (l->is_made[i])
            unlink(l->names[i]);
}
