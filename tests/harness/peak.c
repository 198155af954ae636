/* peak.c - peak CMD...: runs a command and says how many kilobytes of memory it
 * had at most, as the last line on stderr */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    struct rusage usage = { 0 };
    int status = 0;
    pid_t child;

    if (argc < 2)
        return 2;
    child = fork();
    if (child == 0) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return 99;
    fprintf(stderr, "%ld\n", usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
