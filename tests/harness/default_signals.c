/* default_signals.c - default_signals CMD...: runs a command that HUP, INT and
 * TERM end, although a shell lets its background commands ignore INT. */
#include <signal.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
    signal(SIGHUP, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (argc > 1)
        execvp(argv[1], argv + 1);
    return 127;
}
