/* foreign.c - options that other programs call otherwise, as llama.cpp */
#include <config.h>

#include "common/cli.h"

#include <string.h>

/* What is typed, and what to write. Words of one letter more that would be
 * options of ours with their arguments (-fa, -md) are not here. */
static const struct foreign {
    const char *name, *ours; /* NULL: nothing at all */
} table[] = {
    { "--ctx-size", "-c N" },
    { "--n-ctx", "-c N" },
    { "--predict", "-n N" },
    { "-tb", "-t N" },
    { "--threads-batch", "-t N" },
    { "-b", "--batch-size N" },
    { "-ub", "--batch-size N" },
    { "--ubatch-size", "--batch-size N" },
    { "-np", "--batch N" },
    { "--parallel", "--batch N" },
    { "-dev", "--device DEVICE" },
    { "-ctk", "--cache-type-k TYPE" },
    { "-ctv", "--cache-type-v TYPE" },
    { "--context-shift", "--shift" },
    { "--rope-scale", "--rope-factor X" },
    { "--rope-freq-base", "--rope-base X" },
    { "--rope-freq-scale", "--rope-factor, with 1/X" },
    { "--yarn-orig-ctx", "--rope-context N" },
    { "--top-nsigma", "--top-n-sigma N" },
    { "--ignore-eos", "--ignore-eog" },
    { "-l", "--logit-bias ID=X" },
    { "--grammar-file", "--grammar FILE" },
    { "-j", "--json-schema FILE" },
    { "-jf", "--json-schema FILE" },
    { "--json-schema-file", "--json-schema FILE" },
    { "-r", "--stop STRING" },
    { "--reverse-prompt", "--stop STRING" },
    { "-sp", "--special parse" },
    { "--parse-special", "--special parse" },
    { "--show-count", "--count" },
    { "-sys", "--system TEXT" },
    { "--system-prompt", "--system TEXT" },
    { "-sysf", "--system, with the text itself" },
    { "--system-prompt-file", "--system, with the text itself" },
    { "-cnv", "-i" },
    { "--conversation", "-i" },
    { "--interactive-first", "-i" },
    { "-st", "--chat" },
    { "--single-turn", "--chat" },
    { "--chat-template", "--template NAME" },
    { "--model-draft", "--draft MODEL" },
    { "--spec-draft-model", "--draft MODEL" },
    { "--prompt-cache", "--state FILE" },
    { "--in-file", "-f FILE" },
    { "--pooling", "--embed KIND" },
    { "-no-cnv", NULL },
    { "--no-conversation", NULL },
    { "--no-context-shift", NULL },
    { "--no-display-prompt", NULL },
    { "--no-warmup", NULL },
    { "--no-perf", NULL },
    { "--flash-attn", NULL },
    { "--jinja", NULL },
    { "--mmap", NULL },
    { "--simple-io", NULL },
    { "--log-disable", NULL },
};

static bool
has_long(const struct option *options, const char *name, size_t len)
{
    for (; options->name; options++)
        if (strncmp(options->name, name, len) == 0 && !options->name[len])
            return true;
    return false;
}

/* True where the text begins with an option of the tool's. */
static bool
is_own(const char *text, const char *letters, const struct option *options)
{
    size_t len = strcspn(text, " ,=");

    return strncmp(text, "--", 2) == 0 ? has_long(options, text + 2, len - 2)
                                       : len == 2 && strchr(letters, text[1]);
}

/* The index of the next option of the command line; argc: there is none. */
static int
next_option(int argc, char **argv, bool first_only)
{
    int i = optind ? optind : 1;

    while (i < argc && !first_only && (argv[i][0] != '-' || !argv[i][1]))
        i++;
    return i < argc && strcmp(argv[i], "--") != 0 ? i : argc;
}

void
cli_check_foreign(int argc, char **argv, const char *letters,
                  const struct option *options)
{
    int i = next_option(argc, argv, *letters == '+');
    char *text = i < argc ? argv[i] : NULL;
    static char gpu_layers[] = "--gpu-layers";
    size_t len = text ? strcspn(text, "=") : 0;

    if (text && strcmp(text, "-ngl") == 0 &&
        is_own(gpu_layers, letters, options))
        argv[i] = text = gpu_layers; /* else -n with an argument */
    for (size_t k = 0; text && k < sizeof(table) / sizeof(table[0]); k++) {
        const struct foreign *f = &table[k];

        if (strncmp(f->name, text, len) != 0 || f->name[len] ||
            is_own(text, letters, options))
            continue;
        if (!f->ours)
            cli_misuse("%s: leave it out, it is so anyway", f->name);
        if (is_own(f->ours, letters, options))
            cli_misuse("%s: write %s", f->name, f->ours);
    }
}
