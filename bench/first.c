/* first.c - how long a command takes to say something
 *
 *   first COMMAND [ARGUMENT]...
 *
 * Prints two numbers: milliseconds from before its exec to the first byte of
 * its standard output, and to its end. Fails as it fails, or where it said
 * nothing. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void
die(const char *what)
{
    perror(what);
    exit(1);
}

/* The child's standard output; *begin gets the time before its exec. */
static int
start(char **argv, double *begin, pid_t *child)
{
    int fds[2];

    if (pipe(fds))
        die("first");
    *begin = now();
    *child = vfork();
    if (*child < 0)
        die("first");
    if (*child == 0) {
        dup2(fds[1], 1);
        close(fds[0]);
        close(fds[1]);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(fds[1]);
    return fds[0];
}

int
main(int argc, char **argv)
{
    char buffer[65536];
    double begin, first = 0;
    pid_t child;
    int fd, status;

    if (argc < 2)
        return 2;
    fd = start(argv + 1, &begin, &child);
    while (read(fd, buffer, sizeof(buffer)) > 0)
        if (first == 0)
            first = now();
    if (waitpid(child, &status, 0) < 0)
        die("first");
    if (status != 0 || first == 0) {
        fprintf(stderr, "first: %s failed\n", argv[1]);
        return 1;
    }
    printf("%.2f\t%.2f\n", first - begin, now() - begin);
    return fclose(stdout) != 0;
}
