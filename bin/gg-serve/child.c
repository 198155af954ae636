/* child.c - programs that the monitor starts */
#include <config.h>

#include "gg-serve/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cli.h"
#include "gg-serve/models.h"

enum {
    MOST_ANSWER = 1 << 16, /* bytes of gg-inspect */
    MOST_SECONDS = 20,
};

/* ---- start --------------------------------------------------------------- */

static void
path_of(const char *tool, char path[PATH_MAX])
{
    size_t n = cli_program_folder(path) ? strlen(path) : 0;
    int more = snprintf(path + n, PATH_MAX - n, "/%s", tool);

    if (n == 0 || (size_t)more >= PATH_MAX - n)
        *path = '\0';
}

static void
become(const char *tool, char *const *args, int in, int out, pid_t monitor)
{
    char path[PATH_MAX];
    sigset_t none;

    /* None is left where the monitor is killed. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != monitor)
        _exit(126);
    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
        _exit(126);
    path_of(tool, path);
    if (*path)
        execv(path, args);
    execvp(tool, args);
    cli_warn("%s: %s", tool, strerror(errno));
    _exit(127);
}

pid_t
child_start(const char *tool, char *const *args, int in, int out)
{
    pid_t monitor = getpid(), pid = fork();

    if (pid == 0) {
        int none = open("/dev/null", O_RDWR);

        become(tool, args, in < 0 ? none : in, out < 0 ? none : out, monitor);
    }
    return pid;
}

pid_t
child_start_engine(char *const *args, int *tool_end)
{
    static char *const always[] = { (char *)"gg-generate",
                                    (char *)"-q",
                                    (char *)"--jsonl",
                                    (char *)"--unordered",
                                    (char *)"--heartbeat",
                                    (char *)"1",
                                    NULL };
    char *all[MODEL_MAX_ARGS + 12];
    int pair[2], n = 0;
    pid_t pid;

    for (int i = 0; always[i]; i++)
        all[n++] = always[i];
    for (int i = 0; i < MODEL_MAX_ARGS && args[i]; i++)
        all[n++] = args[i];
    all[n] = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return -1;
    pid = child_start("gg-generate", all, pair[1], pair[1]);
    close(pair[1]);
    if (pid < 0)
        close(pair[0]);
    else
        *tool_end = pair[0];
    return pid;
}

/* ---- options ------------------------------------------------------------- */

const char *
child_option(char *const *args, char letter, const char *name, int *at)
{
    size_t n = strlen(name);

    for (int i = 0; args[i]; i++) {
        const char *a = args[i];

        *at = i;
        if (a[0] != '-')
            continue;
        if (a[1] == '-' && strncmp(a + 2, name, n) == 0 && a[2 + n] == '=')
            return a + 3 + n;
        if ((a[1] == letter && letter && !a[2]) ||
            (a[1] == '-' && strcmp(a + 2, name) == 0))
            return args[i + 1];
        if (a[1] == letter && letter)
            return a + 2;
    }
    return NULL;
}

/* ---- memory -------------------------------------------------------------- */

/* Options of gg-generate that change what is kept, and their names in
 * gg-inspect. */
static const struct {
    char letter;
    const char *name, *there;
} kept[] = {
    { 'c', "context", "--context" },
    { 0, "slots", "--slots" },
    { 0, "cache-type", "--cache-type" },
    { 0, "cache-type-k", "--cache-type-k" },
    { 0, "cache-type-v", "--cache-type-v" },
    { 0, "batch-size", "--batch-size" },
};

enum {
    N_KEPT = sizeof(kept) / sizeof(*kept),
};

static void
inspect_args(char *const *args, char *out[2 * N_KEPT + 6])
{
    const char *model, *slots;
    int n = 0, at;

    out[n++] = (char *)"gg-inspect";
    out[n++] = (char *)"--memory";
    for (int i = 0; i < N_KEPT; i++) {
        const char *v = child_option(args, kept[i].letter, kept[i].name, &at);

        if (v) {
            out[n++] = (char *)kept[i].there;
            out[n++] = (char *)v;
        }
    }
    slots = child_option(args, 0, "batch", &at);
    if (slots && !child_option(args, 0, "slots", &at)) {
        out[n++] = (char *)"--slots";
        out[n++] = (char *)slots;
    }
    model = child_option(args, 'm', "model", &at);
    out[n++] = (char *)(model ? model : cli_model(NULL, true));
    out[n] = NULL;
}

/* The line "sum N MiB". */
static uint64_t
read_sum(const char *text)
{
    const char *line = strstr(text, "\nsum");
    char unit[8];
    double v;

    if (!line || sscanf(line + 4, "%lf %7s", &v, unit) != 2 || v < 0)
        return 0;
    return (uint64_t)(v * (*unit == 'G'   ? 1 << 30
                           : *unit == 'M' ? 1 << 20
                           : *unit == 'K' ? 1 << 10
                                          : 1));
}

/* All that comes in time. */
static size_t
read_answer(int fd, char *text, size_t size)
{
    struct pollfd p = { fd, POLLIN, 0 };
    size_t n = 0;
    ssize_t got = 1;

    while (got > 0 && n < size - 1 && poll(&p, 1, MOST_SECONDS * 1000) > 0) {
        got = read(fd, text + n, size - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    text[n] = '\0';
    return n;
}

uint64_t
child_memory(char *const *args)
{
    char *all[2 * N_KEPT + 6];
    char *text = cli_alloc(NULL, MOST_ANSWER, 1);
    uint64_t sum;
    int ends[2];
    pid_t pid;

    inspect_args(args, all);
    if (pipe2(ends, O_CLOEXEC)) {
        free(text);
        return 0;
    }
    pid = child_start("gg-inspect", all, -1, ends[1]);
    close(ends[1]);
    read_answer(ends[0], text, MOST_ANSWER);
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL); /* it has closed its output, or takes too long */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    sum = read_sum(text);
    free(text);
    return sum;
}
