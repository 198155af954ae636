/* raw_client.c - a client of HTTP that sends what it is told, byte for byte
 *
 *     raw_client WHERE STEP...
 *
 * WHERE is a port of this machine, or the path of a Unix socket. Steps are
 * words in the order in which they are done:
 *
 *     send TEXT      \r \n \t \\ and \xHH as in C
 *     slow MS TEXT   the same, a byte each MS milliseconds
 *     lines N        N fields of a head
 *     fill N         N times "x"
 *     sleep MS
 *     some           reads until bytes have come
 *     drip N MS      reads N bytes, one each MS milliseconds
 *     heads          reads to the end; prints first lines of answers, and if
 *                    the server has closed the connection
 *     all            reads to the end, and prints it
 *     half           ends what it sends
 *     reset          closes the connection without a word
 *     many N         opens N more connections, and keeps them
 *
 * A read waits for at most ten seconds. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_ANSWER = 1 << 20,
    MAX_WAIT = 10000, /* milliseconds */
};

static const char *where;
static int server;

static void
die(const char *what)
{
    perror(what);
    exit(1);
}

static void
pause_for(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

    nanosleep(&t, NULL);
}

static int
connect_to(void)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    struct sockaddr_in port = { .sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                .sin_port = htons((uint16_t)atoi(where)) };
    bool is_path = where[strspn(where, "0123456789")] != '\0';
    int s = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

    snprintf(name.sun_path, sizeof(name.sun_path), "%s", where);
    if (s < 0 ||
        connect(s,
                is_path ? (struct sockaddr *)&name : (struct sockaddr *)&port,
                is_path ? sizeof(name) : sizeof(port)))
        die(where);
    return s;
}

/* ---- what is sent -------------------------------------------------------- */

/* A server that has enough may close the connection at any byte. */
static void
send_bytes(const char *bytes, size_t n)
{
    while (n) {
        ssize_t m = send(server, bytes, n, MSG_NOSIGNAL);

        if (m <= 0)
            return;
        bytes += m;
        n -= (size_t)m;
    }
}

static char
escaped(const char **text)
{
    char c = *(*text)++, hex[3] = { 0 };

    if (c != '\\' || !**text)
        return c;
    c = *(*text)++;
    if (c == 'x' && (*text)[0] && (*text)[1]) {
        memcpy(hex, *text, 2);
        *text += 2;
        return (char)strtol(hex, NULL, 16);
    }
    return c == 'r' ? '\r' : c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

static void
send_text(const char *text, long ms)
{
    char *bytes = malloc(strlen(text) + 1);
    size_t n = 0;

    if (!bytes)
        die("malloc");
    while (*text)
        bytes[n++] = escaped(&text);
    for (size_t i = 0; ms && i < n; i++) {
        send_bytes(bytes + i, 1);
        pause_for(ms);
    }
    if (!ms)
        send_bytes(bytes, n);
    free(bytes);
}

static void
send_lines(long n)
{
    char line[32];

    for (long i = 0; i < n; i++) {
        snprintf(line, sizeof(line), "X-%ld: a\r\n", i);
        send_bytes(line, strlen(line));
    }
}

static void
send_fill(long n)
{
    static char block[4096];

    memset(block, 'x', sizeof(block));
    for (; n > 0; n -= (long)sizeof(block))
        send_bytes(block, n < (long)sizeof(block) ? (size_t)n : sizeof(block));
}

/* ---- what comes ---------------------------------------------------------- */

/* 0: the end; -1: nothing comes. */
static ssize_t
receive(char *out, size_t size)
{
    struct pollfd p = { server, POLLIN, 0 };
    ssize_t n;

    if (poll(&p, 1, MAX_WAIT) != 1)
        return -1;
    n = recv(server, out, size, 0);
    return n < 0 ? 0 : n;
}

static void
show_heads(char *text)
{
    for (char *at = text; (at = strstr(at, "HTTP/1.")); at++)
        printf("%.*s\n", (int)strcspn(at, "\r\n"), at);
}

static void
read_end(bool all)
{
    static char text[MAX_ANSWER + 1];
    size_t n = 0;
    ssize_t got;

    while (n < MAX_ANSWER && (got = receive(text + n, MAX_ANSWER - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    if (all)
        fwrite(text, 1, n, stdout);
    else
        show_heads(text);
    if (!all)
        puts(got == 0 ? "closed" : "open");
    fflush(stdout);
}

static void
read_drip(long n, long ms)
{
    char c;

    for (; n > 0 && receive(&c, 1) > 0; n--)
        pause_for(ms);
}

/* ---- connections --------------------------------------------------------- */

static void
open_many(long n)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (long i = 0; i < n; i++)
        connect_to();
    printf("%ld connections\n", n);
    fflush(stdout);
}

static void
reset(void)
{
    struct linger none = { 1, 0 };

    setsockopt(server, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
    close(server);
}

/* ---- steps --------------------------------------------------------------- */

/* The number of words that the step took. */
static int
do_step(char **words)
{
    static const char *const plain[] = { "some", "heads", "all", "half",
                                         "reset" };
    const char *step = words[0], *first = words[1];
    const char *second = first ? words[2] : NULL;
    char c;

    for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        if (strcmp(step, plain[i]) == 0) {
            if (i == 0)
                (void)receive(&c, 1);
            else if (i < 3)
                read_end(i == 2);
            else if (i == 3)
                shutdown(server, SHUT_WR);
            else
                reset();
            return 1;
        }
    if (strcmp(step, "send") == 0 && first)
        return send_text(first, 0), 2;
    if (strcmp(step, "lines") == 0 && first)
        return send_lines(atol(first)), 2;
    if (strcmp(step, "fill") == 0 && first)
        return send_fill(atol(first)), 2;
    if (strcmp(step, "sleep") == 0 && first)
        return pause_for(atol(first)), 2;
    if (strcmp(step, "many") == 0 && first)
        return open_many(atol(first)), 2;
    if (strcmp(step, "slow") == 0 && second)
        return send_text(second, atol(first)), 3;
    if (strcmp(step, "drip") == 0 && second)
        return read_drip(atol(first), atol(second)), 3;
    fprintf(stderr, "raw_client: %s: no such step\n", step);
    exit(2);
}

int
main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    where = argv[1];
    server = connect_to();
    for (char **word = argv + 2; *word;)
        word += do_step(word);
    return 0;
}
