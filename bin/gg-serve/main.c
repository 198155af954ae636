/* main.c - gg-serve: an HTTP front for gg-generate's records */
#include <config.h>

#include <stddef.h>
#include <string.h>

#include "common/options.h"
#include "gg-serve/serve.h"
#include "gg-serve/try.h"

const char cli_name[] = "gg-serve";

static const char usage[] =
    "Usage: gg-serve [OPTION]... [-- ARGUMENT...]\n"
    "  or:  gg-serve --translate API [--answer FILE] [FILE]\n"
    "Answer HTTP requests for OpenAI's and Anthropic's APIs with gg-generate,\n"
    "which gets each ARGUMENT.\n"
    "\n";

struct options {
    struct serve_options serve;
    struct try_options try;
};

#define AT(field) .at = offsetof(struct options, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { .part = serve_options, AT(serve) },
    { .help = "" },
    { "translate", 0, CLI_TEXT, "API",
      "print the record for the request in FILE, and serve nothing",
      AT(try.api),
      .values = "chat|completions|messages|count|responses|embeddings|rerank|"
                "tokenize|detokenize|transcriptions|models|completion|infill|"
                "template|chat-count|responses-count" },
    { "answer", 0, CLI_TEXT, "FILE",
      "print the answer to the client for the engine's records in FILE",
      AT(try.answer),
      .only_with = "translate" },
    { "content-type", 0, CLI_TEXT, "TYPE",
      "content type of the request in FILE",
      AT(try.type), .only_with = "translate" },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

/* Translation reads one text; the server's parts are confined one by one. */
static int
translate(const struct try_options *o, int argc, char **argv, int first)
{
    const char *file = cli_one_file(argc, argv, first, NULL);

    sandbox_play(SANDBOX_FILTER);
    sandbox_add(file, SANDBOX_READ);
    sandbox_enter(false);
    return try_translate(o, file);
}

int
main(int argc, char **argv)
{
    static const struct cli_tool tool = { usage, rows, 25,
                                          .own_sandbox = true };
    struct options o = { .try = { 0 } };
    int first;

    cli_start();
    serve_defaults(&o.serve);
    first = cli_parse(argc, argv, &tool, &o);
    if (o.try.api)
        return cli_finish(translate(&o.try, argc, argv, first));
    if (first < argc && strcmp(argv[first - 1], "--") != 0)
        cli_misuse("%s: arguments of gg-generate go after --", argv[first]);
    o.serve.args = argv + first;
    return serve_run(&o.serve);
}
