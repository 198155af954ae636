/* main.c - gg-loop: feeds a command's output back to its input */
#include <config.h>

#include <stdlib.h>

#include "common/cli.h"
#include "gg-loop/loop.h"

const char cli_name[] = "gg-loop";

static const char help[] =
    "Usage: gg-loop [OPTION]... COMMAND\n"
    "Feed standard input, and then what COMMAND prints, to COMMAND.\n"
    "\n"
    "      --batch N        numbered sequences under way at once (default 1)\n"
    "  -h, --help           print this\n"
    "  -V, --version        print the version\n";

enum {
    OPT_BATCH = 256,
    BATCH_MAX = 65536,
};

static const struct option long_options[] = {
    { "batch", required_argument, NULL, OPT_BATCH },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { 0 },
};

int
main(int argc, char **argv)
{
    size_t batch = 1;
    int c;

    cli_start();
    /* Options behind COMMAND are not ours. */
    while ((c = cli_getopt(argc, argv, "+hV", long_options)) != -1)
        switch (c) {
        case OPT_BATCH:
            batch = (size_t)cli_int("--batch", optarg, 1, BATCH_MAX);
            break;
        case 'h':
            cli_help(help);
        case 'V':
            cli_version();
        }
    if (optind == argc)
        cli_misuse("no COMMAND");
    if (optind + 1 < argc)
        cli_misuse("COMMAND is one argument: '%s' is another",
                   argv[optind + 1]);
    return cli_finish(loop_run(argv[optind], batch));
}
