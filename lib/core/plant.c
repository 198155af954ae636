/* plant.c - what a parser that was taken over might do */
#include <config.h>

#include "core/plant.h"

#ifdef GG_PLANT

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_PARSERS = 64,
};

/* The error number of open(), or 0. */
static int
open_elsewhere(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* Tries far from all files that are named, then next to one. */
static int
open_either(const char *far, const char *near, int flags)
{
    int why = open_elsewhere(far, flags);

    return why && open_elsewhere(near, flags) == 0 ? 0 : why;
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
    if (child < 0)
        return errno;
    waitpid(child, &how, 0);
    return WEXITSTATUS(how);
}

/* Types into the terminal, which need not be one. */
static int
type_character(void)
{
    return ioctl(STDIN_FILENO, TIOCSTI, "") ? errno : 0;
}

static int
change_mode(void)
{
    struct stat st;

    return stat(".", &st) || chmod(".", st.st_mode & 07777) ? errno : 0;
}

static int
signal_parent(void)
{
    return kill(getppid(), 0) ? errno : 0;
}

static int
leave_namespace(void)
{
    return unshare(CLONE_FS) ? errno : 0;
}

/* Memory that could be run as a program. */
static int
make_program(void)
{
    int fd = memfd_create("planted", MFD_CLOEXEC);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static const struct {
    const char *name;
    int (*act)(void); /* errno, or 0 */
} deeds[] = {
    { "connect", connect_somewhere }, { "execute", start_program },
    { "type", type_character },       { "chmod", change_mode },
    { "kill", signal_parent },        { "unshare", leave_namespace },
    { "memfd", make_program },
};

void
gg_plant(const char *parser)
{
    static const char *seen[MAX_PARSERS];
    size_t n = 0;
    char line[300];
    int len;

    while (n < MAX_PARSERS && seen[n] && strcmp(seen[n], parser) != 0)
        n++;
    if (n == MAX_PARSERS || seen[n])
        return;
    seen[n] = parser;
    len = snprintf(
        line, sizeof(line), "planted in %s: read %d write %d", parser,
        open_either("/etc/passwd", "private", O_RDONLY),
        open_either("/var/tmp/gg-planted", "planted-too", O_WRONLY | O_CREAT));
    for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++)
        len += snprintf(line + len, sizeof(line) - (size_t)len, " %s %d",
                        deeds[i].name, deeds[i].act());
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)len) < 0)
        _exit(1);
}

#endif
