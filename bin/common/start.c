/* start.c - what every tool begins with */
#include <config.h>

#include "common/cli.h"
#include "common/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/json.h"
#include "common/sandbox.h"

/* A file must not become standard input or output by being opened while one
 * of them is closed. What stands in for it fails as a closed one would. */
static void
fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            exit(EXIT_FAILURE);
}

void
cli_start(void)
{
    fill_standard();
    cli_json_start();
    cli_init_signals();
    files_init();
    cli_explain_by(sandbox_refuses);
    cli_discard_by(cli_drop_output);
    atexit(cli_discard_output);
}

void
cli_version(void)
{
    printf("%s (gg) %s\n", cli_name, gg_version());
    exit(cli_finish(EXIT_SUCCESS));
}
