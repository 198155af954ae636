/* plant.c - what a parser that was taken over might do */
#include <config.h>

#include "core/plant.h"

#ifdef GG_PLANT

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_PARSERS = 64,
};

/* What open() says, or 0. */
static int
open_elsewhere(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* Far from all that is named, and beside it. */
static int
open_either(const char *far, const char *beside, int flags)
{
    int why = open_elsewhere(far, flags);

    return why && open_elsewhere(beside, flags) == 0 ? 0 : why;
}

static int
connect_somewhere(void)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(1) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), why;

    if (fd < 0)
        return errno;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    why = connect(fd, (struct sockaddr *)&to, sizeof(to)) ? errno : 0;
    close(fd);
    return why == ECONNREFUSED ? 0 : why; /* it went out */
}

static int
start_program(void)
{
    pid_t child = fork();
    int how = 0;

    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(errno);
    }
    waitpid(child, &how, 0);
    return WEXITSTATUS(how);
}

void
gg_plant(const char *parser)
{
    static const char *seen[MAX_PARSERS];
    size_t n = 0;
    char line[200];
    int len;

    while (n < MAX_PARSERS && seen[n] && strcmp(seen[n], parser) != 0)
        n++;
    if (n == MAX_PARSERS || seen[n])
        return;
    seen[n] = parser;
    len = snprintf(
        line, sizeof(line),
        "planted in %s: read %d write %d connect %d execute %d\n", parser,
        open_either("/etc/passwd", "private", O_RDONLY),
        open_either("/var/tmp/gg-planted", "planted-too", O_WRONLY | O_CREAT),
        connect_somewhere(), start_program());
    if (write(STDERR_FILENO, line, (size_t)len) < 0)
        _exit(1);
}

#endif
