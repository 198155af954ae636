/* command.c - the command that the loop goes through */
#include <config.h>

#include "gg-loop/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cli.h"

static void
make_pipe(int fd[2])
{
    if (pipe2(fd, O_CLOEXEC))
        cli_die("pipe: %s", strerror(errno));
}

/* A shell keeps its copy of a pipeline's output until the last program has
 * ended, so that we cannot see that gg-sample has closed it. This is where it
 * tells us; by name, so that no descriptor has to be kept free for it. */
static int
offer_news(void)
{
    static int fd[2]; /* the writing end stays open: the read end never ends */
    char name[64];

    make_pipe(fd);
    fcntl(fd[0], F_SETFL, O_NONBLOCK);
    snprintf(name, sizeof(name), "/proc/%ld/fd/%d", (long)getpid(), fd[1]);
    if (setenv("GG_LOOP", name, 1))
        cli_die("out of memory");
    return fd[0];
}

/* dup2() to itself would leave close-on-exec set. */
static void
become(int fd, int standard)
{
    if (fd == standard)
        fcntl(fd, F_SETFD, 0);
    else if (dup2(fd, standard) < 0)
        _exit(126);
}

CLI_NORETURN static void
run_shell(const char *text, int input, int output)
{
    sigset_t none;

    setpgid(0, 0);
    become(input, STDIN_FILENO);
    become(output, STDOUT_FILENO);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execl("/bin/sh", "sh", "-c", text, (char *)NULL);
    cli_warn("/bin/sh: %s", strerror(errno));
    _exit(127);
}

void
command_start(struct command *c, const char *text)
{
    int input[2], output[2];

    make_pipe(input);
    make_pipe(output);
    c->news = offer_news();
    c->pid = fork();
    if (c->pid < 0)
        cli_die("fork: %s", strerror(errno));
    if (c->pid == 0)
        run_shell(text, input[0], output[1]);
    setpgid(c->pid, c->pid); /* whoever comes first */
    close(input[0]);
    close(output[1]);
    fcntl(input[1], F_SETFL, O_NONBLOCK);
    c->input = input[1];
    c->output = output[0];
}

void
command_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void
command_kill(const struct command *c, int sig)
{
    if (c->pid > 0)
        kill(-c->pid, sig);
}

int
command_has_ended(struct command *c, int *status)
{
    int how;

    if (waitpid(c->pid, &how, WNOHANG) <= 0)
        return 0;
    *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return 1;
}
