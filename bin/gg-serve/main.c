/* main.c - gg-serve: an HTTP front for gg-generate's records */
#include <config.h>

#include <stddef.h>

#include "common/options.h"
#include "gg-serve/try.h"

const char cli_name[] = "gg-serve";

static const char usage[] =
    "Usage: gg-serve --translate API [--answer FILE] [FILE]\n"
    "Answer HTTP requests, as programs for OpenAI's and Anthropic's "
    "interfaces\nsend them, by gg-generate.\n"
    "\n";

struct options {
    struct try_options try;
    const char *file;
};

#define AT(field) .at = offsetof(struct options, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "translate", 0, CLI_TEXT, "API",
      "serve nothing: print the record that a request in FILE becomes",
      AT(try.api),
      .values = "chat|completions|messages|count|responses|embeddings|"
                "tokenize|detokenize|transcriptions|models" },
    { "answer", 0, CLI_TEXT, "FILE",
      "print what the client gets for records of the engine", AT(try.answer),
      .only_with = "translate" },
    { "content-type", 0, CLI_TEXT, "TYPE", "of the request in FILE",
      AT(try.type), .only_with = "translate" },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

static void
parse_options(int argc, char **argv, struct options *o)
{
    static const struct cli_tool tool = { usage, rows, 25,
                                          .role = SANDBOX_FILTER };
    int first = cli_parse(argc, argv, &tool, o);

    if (!o->try.api)
        cli_misuse("--translate is needed");
    o->file = cli_one_file(argc, argv, first, NULL);
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };

    cli_start();
    parse_options(argc, argv, &o);
    return cli_finish(try_translate(&o.try, o.file));
}
