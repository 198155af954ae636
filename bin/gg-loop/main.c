/* main.c - gg-loop: feeds a command's output back to its input */
#include <config.h>

#include <stddef.h>
#include <stdlib.h>

#include "common/options.h"
#include "gg-loop/loop.h"

const char cli_name[] = "gg-loop";

static const char usage[] =
    "Usage: gg-loop [OPTION]... COMMAND\n"
    "Feed standard input, and then the output of COMMAND, to COMMAND.\n"
    "\n";

enum {
    BATCH_MAX = 65536,
};

static const struct cli_option rows[] = {
    { "batch", 0, CLI_SIZE, "N",
      "numbered sequences active at once (default 1)",
      offsetof(struct loop_options, batch), .min = 1, .max = BATCH_MAX },
    { "shard", 0, CLI_CALL, "I/N", SHARD_HELP,
      offsetof(struct loop_options, shard), .set = shard_set },
    { "verbose", 'v', CLI_FLAG, NULL,
      "report what the kernel lacks for the sandbox",
      .at = offsetof(struct loop_options, verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};

int
main(int argc, char **argv)
{
    /* Options after COMMAND are not ours. */
    static const struct cli_tool tool = { usage, rows, 23, true,
                                          .own_sandbox = true };
    struct loop_options o = { .batch = 1 };
    int first;

    cli_start();
    first = cli_parse(argc, argv, &tool, &o);
    if (first == argc)
        cli_misuse("no COMMAND");
    if (first + 1 < argc)
        cli_misuse("COMMAND is one argument: '%s' is another", argv[first + 1]);
    return cli_finish(loop_run(argv[first], &o));
}
