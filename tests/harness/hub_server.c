/* hub_server.c - a hub of models for the tests of gg-fetch: serves the files of
 * a folder on two ports of this machine, and misbehaves on demand
 *
 *     hub_server FOLDER >ports &
 *
 * /api/models/OWNER/NAME is answered with the file NAME.json, and all else with
 * the file by the last name of the path; NAME, the second one, says how, by the
 * table below. The file `log` gets a line for each request: which port, path,
 * range, token. Ends by itself after a minute. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_REQUEST = 1 << 14,
    PIECE = 1 << 14,
    LIFE = 120, /* seconds */
};

/* Answers to requests for a name's files. `once`: only the first time. */
static struct manner {
    const char *name;
    const char *head; /* in place of the usual; "%d": the other port */
    long cut;         /* bytes of the body that are sent; -1: all */
    long lie;         /* added to the length that is told */
    bool once, no_range, no_length, endless, shifted;
    int seen;
} manners[] = {
    { "plain", .cut = -1 },
    { "redirect",
      .head = "302 Found\r\nLocation: http://127.0.0.1:%d/gg/plain/x/" },
    { "round", .head = "302 Found\r\nLocation: ./" },
    { "nowhere", .head = "302 Found" },
    { "scheme", .head = "302 Found\r\nLocation: file:///etc/" },
    { "cut", .cut = 40000, .once = true },
    { "cut-anew", .cut = 40000, .once = true, .no_range = true },
    { "stuck", .cut = 0 },
    { "half", .cut = 50000 },
    { "busy", .head = "429 Too Many Requests\r\nRetry-After: 1", .once = true },
    { "away", .head = "503 Service Unavailable\r\nRetry-After: 100000" },
    { "gated",
      .head = "403 Forbidden\r\nX-Error-Message: ask its\tauthor \033[31m" },
    { "longer", .cut = -1, .lie = 10 },
    { "shorter", .cut = -1, .lie = -10 },
    { "silent", .cut = -1, .no_length = true },
    { "quits", .cut = 50000, .no_length = true, .no_range = true },
    { "endless", .endless = true, .no_length = true },
    { "shifted", .cut = 40000, .shifted = true },
};

struct request {
    char path[1024], range[64], token[128];
    int port, other; /* 1 or 2; the number of the other one */
    long from;
};

static FILE *requests; /* the log */

static void
die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- what is asked ------------------------------------------------------- */

static void
read_line(const char *head, const char *name, char *buf, size_t size)
{
    const char *p = head;
    size_t n = strlen(name);

    snprintf(buf, size, "-");
    while ((p = strstr(p, "\r\n"))) {
        p += 2;
        if (strncasecmp(p, name, n) == 0)
            snprintf(buf, size, "%.*s", (int)strcspn(p + n, "\r\n"), p + n);
    }
}

static bool
read_request(int fd, struct request *q)
{
    char head[MAX_REQUEST + 1];
    size_t n = 0;

    do {
        ssize_t got = read(fd, head + n, MAX_REQUEST - n);

        if (got <= 0)
            return false;
        n += (size_t)got;
        head[n] = '\0';
    } while (!strstr(head, "\r\n\r\n"));
    if (sscanf(head, "GET %1000[^ ?]", q->path) != 1)
        return false;
    read_line(head, "Range: bytes=", q->range, sizeof(q->range));
    read_line(head, "Authorization: Bearer ", q->token, sizeof(q->token));
    q->from = atol(q->range[0] == '-' ? "0" : q->range);
    fprintf(requests, "%d %s %s %s\n", q->port, q->path, q->range, q->token);
    fflush(requests);
    return true;
}

/* ---- what is answered ---------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void
send_text(int fd, const char *fmt, ...)
{
    char text[4096];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    /* Who requested it may have been killed. */
    if (write(fd, text, (size_t)n) < 0 && errno != EPIPE && errno != ECONNRESET)
        perror("write");
}

/* Sends n bytes of the file from `from` on; without a file, blanks for ever. */
static void
send_body(int fd, FILE *f, long from, long n)
{
    char piece[PIECE];

    memset(piece, ' ', sizeof(piece));
    if (f)
        fseek(f, from, SEEK_SET);
    while (!f || n > 0) {
        size_t some = f && n < PIECE ? (size_t)n : PIECE;

        if (f && fread(piece, 1, some, f) != some)
            return;
        if (write(fd, piece, some) != (ssize_t)some)
            return;
        n -= (long)some;
    }
}

static const char *
last_name(const char *path)
{
    return strrchr(path, '/') + 1;
}

/* A head of its own; what it redirects to has the name of what was requested.
 */
static void
send_head(int fd, const struct manner *m, const struct request *q)
{
    char head[256];

    snprintf(head, sizeof(head), m->head, q->other);
    send_text(fd, "HTTP/1.1 %s%s\r\nContent-Length: 2\r\n\r\nno", head,
              head[strlen(head) - 1] == '/' ? last_name(q->path) : "");
}

static void
send_file(int fd, const struct manner *m, const struct request *q, FILE *f)
{
    bool part = q->from && !m->no_range;
    long size, n, from = part ? q->from : 0;

    fseek(f, 0, SEEK_END);
    size = ftell(f);
    n = size - from;
    if (part)
        send_text(fd,
                  "HTTP/1.1 206 Partial Content\r\n"
                  "Content-Range: bytes %ld-%ld/%ld\r\n",
                  from + (m->shifted ? 1 : 0), size - 1, size);
    else
        send_text(fd, "HTTP/1.1 200 OK\r\n");
    if (!m->no_length)
        send_text(fd, "Content-Length: %ld\r\n", n + m->lie);
    send_text(fd, "Connection: close\r\n\r\n");
    send_body(fd, f, from, m->cut >= 0 && m->cut < n ? m->cut : n);
}

static struct manner *
find_manner(const char *path)
{
    const char *name = strchr(path + 1, '/');
    static struct manner plain = { "", .cut = -1 };
    size_t n = name ? strcspn(name + 1, "/") : 0;

    for (size_t i = 0; n && i < sizeof(manners) / sizeof(manners[0]); i++)
        if (strlen(manners[i].name) == n &&
            strncmp(manners[i].name, name + 1, n) == 0) {
            if (manners[i].once && manners[i].seen++)
                break;
            return &manners[i];
        }
    return &plain;
}

/* A list that comes byte by byte, or a head that has no end. False: the name is
 * none of these. */
static bool
send_strange(int fd, const char *name)
{
    bool trickles = strcmp(name, "trickle.json") == 0;
    const struct timespec pause = { .tv_nsec = 500000000 };
    const char *piece = trickles ? " " : "X-More: and more\r\n";
    ssize_t n = (ssize_t)strlen(piece);

    if (!trickles && strcmp(name, "heads.json") != 0)
        return false;
    send_text(fd, "HTTP/1.1 200 OK\r\n%s",
              trickles ? "Content-Length: 1000000\r\n\r\n" : "");
    while (write(fd, piece, (size_t)n) == n)
        if (trickles)
            nanosleep(&pause, NULL);
    return true;
}

static void
answer(int fd, const struct request *q)
{
    static struct manner plain = { "", .cut = -1 };
    bool api = strncmp(q->path, "/api/models/", 12) == 0;
    struct manner *m = api ? &plain : find_manner(q->path);
    char name[256];
    FILE *f;

    if (api && strstr(q->path, "/revision/"))
        snprintf(name, sizeof(name), "%.*s.json",
                 (int)(strstr(q->path, "/revision/") - q->path - 15),
                 q->path + 15);
    else
        snprintf(name, sizeof(name), "%.200s%s", last_name(q->path),
                 api ? ".json" : "");
    if (m->head) {
        send_head(fd, m, q);
        return;
    }
    if (m->endless || strcmp(name, "flood.json") == 0) {
        send_text(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nGGUF12345");
        send_body(fd, NULL, 0, 0);
        return;
    }
    if (send_strange(fd, name))
        return;
    f = fopen(name, "rb");
    if (f)
        send_file(fd, m, q, f);
    else
        send_text(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"
                      "X-Error-Message: Repository not found\r\n\r\n");
    if (f)
        fclose(f);
}

/* ---- ports --------------------------------------------------------------- */

static int
listen_on(int *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) || listen(fd, 8) ||
        getsockname(fd, (struct sockaddr *)&at, &n))
        die("socket");
    *port = ntohs(at.sin_port);
    return fd;
}

static void
serve(struct pollfd *fds, const int *ports)
{
    for (int i = 0; i < 2; i++) {
        struct request q = { .port = i + 1, .other = ports[1 - i] };
        int fd;

        if (!fds[i].revents || (fd = accept(fds[i].fd, NULL, NULL)) < 0)
            continue;
        if (read_request(fd, &q))
            answer(fd, &q);
        shutdown(fd, SHUT_WR);
        close(fd);
    }
}

int
main(int argc, char **argv)
{
    struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
    int ports[2];

    if (argc != 2 || chdir(argv[1]) || !(requests = fopen("log", "a")))
        die("hub_server FOLDER");
    signal(SIGPIPE, SIG_IGN);
    alarm(LIFE);
    for (int i = 0; i < 2; i++)
        fds[i].fd = listen_on(&ports[i]);
    printf("%d %d\n", ports[0], ports[1]);
    fclose(stdout);
    while (poll(fds, 2, -1) >= 0)
        serve(fds, ports);
    return 1;
}
