/* cut_short.c - cut_short SIGNAL SIZE CMD...: makes a file "out" and runs a
 * command that is to replace it, or to make others next to it, until that has
 * written more than SIZE bytes to temporary files; sends it the signal, and
 * says how it ended. One that was done before is run again. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TRIALS = 200,
};

/* "out.XXXXXX", or of several files "out-00002-of-00009.gguf.XXXXXX". */
static int
is_temporary(const char *name)
{
    size_t n = strlen(name);

    return n > 9 && name[n - 7] == '.';
}

/* The sizes of temporary files, or -1; or removes all files of the name. */
static long long
look(int removes)
{
    DIR *d = opendir(".");
    long long size = -1;
    struct dirent *e;
    struct stat st;

    while (d && (e = readdir(d))) {
        if (strncmp(e->d_name, "out", 3) != 0)
            continue;
        if (removes)
            unlink(e->d_name);
        else if (is_temporary(e->d_name) && stat(e->d_name, &st) == 0)
            size = (size < 0 ? 0 : size) + st.st_size;
    }
    if (d)
        closedir(d);
    return size;
}

static pid_t
start(char **argv)
{
    FILE *f;
    pid_t child;

    look(1);
    f = fopen("out", "w");
    if (!f || fputs("old\n", f) < 0 || fclose(f))
        return -1;
    child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL); /* a shell's background has it ignored */
        execvp(argv[0], argv);
        _exit(127);
    }
    return child;
}

/* False: it was too fast. */
static int
cut(int sig, long long size, char **argv, int *status)
{
    pid_t child = start(argv);

    if (child < 0)
        exit(99);
    while (look(0) <= size)
        if (waitpid(child, status, WNOHANG))
            return *status != 0;
    kill(child, sig);
    waitpid(child, status, 0);
    return !WIFEXITED(*status) || WEXITSTATUS(*status) != 0;
}

int
main(int argc, char **argv)
{
    int sig = argc > 3 ? atoi(argv[1]) : 0, status = 0, i = 0;

    if (!sig)
        return 2;
    while (i < TRIALS && !cut(sig, atoll(argv[2]), argv + 3, &status))
        i++;
    if (WIFSIGNALED(status))
        printf("signal %d\n", WTERMSIG(status));
    else
        printf("status %d\n", WEXITSTATUS(status));
    return 0;
}
