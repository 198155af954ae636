/* main.c - gg-fetch: brings a model to this machine */
#include <config.h>

#include <stddef.h>

#include "common/options.h"
#include "gg-fetch/fetch.h"

const char cli_name[] = "gg-fetch";

static const char usage[] =
    "Usage: gg-fetch [OPTION]... hf:OWNER/NAME[@REVISION][:WHICH]\n"
    "  or:  gg-fetch [OPTION]... URL\n"
    "  or:  gg-fetch [OPTION]... [ollama:]NAME:TAG\n"
    "  or:  gg-fetch --where NAME | --remove NAME | --installed\n"
    "Fetch a model to where -m of the other tools finds it, verify it, and\n"
    "print its path.\n"
    "\n";

#define AT(field) .at = offsetof(struct fetch_options, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "list", 'l', CLI_FLAG, NULL,
      "print the models of the repository: WHICH, bytes, files, the first file",
      AT(list) },
    { "dry-run", 0, CLI_FLAG, NULL,
      "print the bytes, URL and path of the files to fetch, and fetch nothing",
      AT(dry_run),
      .not_with = "list" },
    { "where", 0, CLI_FLAG, NULL,
      "print the path of a model on this machine, including the caches of the "
      "hub and of ollama", AT(where),
      .not_with = "list|dry-run|dir|output|sha256" },
    { "installed", 0, CLI_FLAG, NULL,
      "list the models in the folder: name, bytes, name it was fetched by",
      AT(installed), .not_with = "list|dry-run|where|remove|output|sha256" },
    { "remove", 0, CLI_FLAG, NULL,
      "remove a model from the folder, by its name or the name it was fetched "
      "by",
      AT(remove), .not_with = "list|dry-run|where|output|sha256" },
    { "dir", 0, CLI_TEXT, "DIR",
      "folder to put the model in (else the first of $GG_MODEL_PATH, or "
      "$XDG_DATA_HOME/gg)", AT(dir), .not_with = "output" },
    { "output", 'o', CLI_TEXT, "FILE",
      "write the model to FILE, replacing it if it exists", AT(output) },
    { "sha256", 0, CLI_TEXT, "HEX", "expected SHA-256 of the file at a URL",
      AT(sha256) },
    { "no-mmproj", 0, CLI_FLAG, NULL,
      "do not fetch the projector of images or sounds next to the model",
      AT(no_mmproj) },
    { "retries", 0, CLI_INT, "N",
      "try again N times without any progress (4)",
      AT(http.retries), 0, 100 },
    { "timeout", 0, CLI_INT, "SECONDS",
      "wait SECONDS for a server that sends nothing, and for a list (60)",
      AT(http.timeout), 1, 86400 },
    { "quiet", 'q', CLI_FLAG, NULL, "show no progress and no notes",
      AT(quiet) },
    { "verbose", 'v', CLI_FLAG, NULL, "report the reason for each new attempt",
      AT(http.verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

int
main(int argc, char **argv)
{
    static const struct cli_tool tool = { usage, rows, 23,
                                          .own_sandbox = true };
    struct fetch_options o = { .http = { .retries = 4, .timeout = 60 } };
    int first;

    cli_start();
    first = cli_parse(argc, argv, &tool, &o);
    if (o.installed && first < argc)
        cli_misuse("--installed names no model: %s is one too many",
                   argv[first]);
    if (!o.installed && first == argc)
        cli_misuse("no model is named");
    if (first + 1 < argc)
        cli_misuse("one model at a time: %s is one too many", argv[first + 1]);
    if (o.installed)
        fetch_installed(&o);
    else if (o.remove)
        fetch_remove(argv[first], &o);
    else if (o.where)
        fetch_where(argv[first], o.http.verbose);
    else
        fetch_run(argv[first], &o);
    return cli_finish(EXIT_SUCCESS);
}
