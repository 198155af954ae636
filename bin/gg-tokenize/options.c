/* options.c - the command line */
#include <config.h>

#include <stdlib.h>

#include "common/chat.h"
#include "common/cli.h"
#include "gg-tokenize/tokenize.h"

static const char help[] =
    "Usage: gg-tokenize [OPTION]... [FILE]\n"
    "Read a text and write its token ids as one line; with -d, read ids and\n"
    "write their text. Without FILE, or where it is -, read standard input.\n"
    "\n"
    "  -d, --decode         turn ids back into text\n"
    "      --bos, --eos     put BOS in front, EOS behind, whatever the model "
    "says\n"
    "      --no-bos         add no token; with -d: the ids begin a text\n"
    "      --special WHAT   names of control tokens in the text: parse them, "
    "take\n"
    "                       them as text (default), or error; with -d, parse:\n"
    "                       write them\n"
    "      --strict         a byte that has no token is an error, as with\n"
    "                       --special error; else it is left out\n"
    "      --tokenizer WHICH  greedy: the longest token at each place, as "
    "ggml's\n"
    "                       GPT-2 example; exact: the vocabulary's (default)\n"
    "      --lines          each line of text is a numbered sequence\n"
    "  -0, --null           each NUL-ended record is a numbered sequence\n"
    "      --fields         with --lines: a chunk for each field of a line\n"
    "      --escapes        with --lines: \\n, \\t, \\\\ in a line stand for "
    "newline,\n"
    "                       tab, backslash, as -d --lines writes them\n"
    "      --max N          at most N ids for each text; with more it fails, "
    "but\n"
    "      --truncate SIDE  with left, right: cuts them off there\n"
    "  -t, --threads N      threads that encode (default 1)\n"
    "\n"
    "In place of lines of ids:\n"
    "      --count          how many there are\n"
    "      --pieces         a line for each id: the id and its bytes\n"
    "      --offsets        the same with the range of bytes in the text\n"
    "      --binary TYPE    u16 or u32, little-endian; with -d: read them\n"
    "      --budget N       pieces of the text with N tokens at most, cut at "
    "line\n"
    "                       ends: their ranges of bytes; with -0 the pieces\n"
    "\n"
    "      --chat           read messages, {\"role\": ..., \"content\": ...}, "
    "and\n"
    "                       write the ids that let the model answer\n"
    "      --template NAME  the chat template, if not the model's; list: all\n"
    "      --no-answer      with --chat: whole messages only, no answer "
    "begins\n"
    "      --replace-invalid  with -d: write U+FFFD for what is not UTF-8\n"
    "      --raw            with -d: a terminal gets control characters as "
    "they are\n"
    "      --max-held MIB   with -d: memory for sequences that are still open\n"
    "                       (default 1024)\n"
    "\n"
    "  -m, --model MODEL    the model whose vocabulary is used\n"
    "  -f, --file FILE      the same as FILE\n"
    "  -o, --output FILE    write to FILE instead of standard output\n"
    "  -q, --quiet          do not say which model is used when none is named\n"
    "  -v, --verbose        say on stderr what was read and written\n"
    "  -h, --help           print this help\n"
    "  -V, --version        print the version\n";

enum {
    OPT_BOS = 256,
    OPT_NO_BOS,
    OPT_EOS,
    OPT_SPECIAL,
    OPT_STRICT,
    OPT_TOKENIZER,
    OPT_FIELDS,
    OPT_ESCAPES,
    OPT_COUNT,
    OPT_PIECES,
    OPT_OFFSETS,
    OPT_BINARY,
    OPT_MAX,
    OPT_TRUNCATE,
    OPT_BUDGET,
    OPT_CHAT,
    OPT_TEMPLATE,
    OPT_NO_ANSWER,
    OPT_LINES,
    OPT_REPLACE,
    OPT_RAW,
    OPT_MAX_HELD,
};

static const struct option long_options[] = {
    { "decode", no_argument, NULL, 'd' },
    { "bos", no_argument, NULL, OPT_BOS },
    { "no-bos", no_argument, NULL, OPT_NO_BOS },
    { "eos", no_argument, NULL, OPT_EOS },
    { "special", required_argument, NULL, OPT_SPECIAL },
    { "strict", no_argument, NULL, OPT_STRICT },
    { "tokenizer", required_argument, NULL, OPT_TOKENIZER },
    { "lines", no_argument, NULL, OPT_LINES },
    { "null", no_argument, NULL, '0' },
    { "fields", no_argument, NULL, OPT_FIELDS },
    { "escapes", no_argument, NULL, OPT_ESCAPES },
    { "count", no_argument, NULL, OPT_COUNT },
    { "pieces", no_argument, NULL, OPT_PIECES },
    { "offsets", no_argument, NULL, OPT_OFFSETS },
    { "binary", required_argument, NULL, OPT_BINARY },
    { "max", required_argument, NULL, OPT_MAX },
    { "truncate", required_argument, NULL, OPT_TRUNCATE },
    { "budget", required_argument, NULL, OPT_BUDGET },
    { "threads", required_argument, NULL, 't' },
    { "chat", no_argument, NULL, OPT_CHAT },
    { "template", required_argument, NULL, OPT_TEMPLATE },
    { "no-answer", no_argument, NULL, OPT_NO_ANSWER },
    { "replace-invalid", no_argument, NULL, OPT_REPLACE },
    { "raw", no_argument, NULL, OPT_RAW },
    { "max-held", required_argument, NULL, OPT_MAX_HELD },
    { "model", required_argument, NULL, 'm' },
    { "file", required_argument, NULL, 'f' },
    { "output", required_argument, NULL, 'o' },
    { "quiet", no_argument, NULL, 'q' },
    { "verbose", no_argument, NULL, 'v' },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { NULL, 0, NULL, 0 },
};

/* Which token goes around a text, and how it is cut. */
static bool
set_text_option(struct arguments *a, int c)
{
    static const char *const sides[] = { "left", "right", NULL };
    static const char *const tokenizers[] = { "exact", "greedy", NULL };
    struct tokenize_options *o = &a->options;

    switch (c) {
    case OPT_BOS:
        a->bos = true;
        o->no_bos = false;
        return true;
    case OPT_NO_BOS:
        o->no_bos = true;
        a->bos = false;
        return true;
    case OPT_EOS:
        a->eos = true;
        return true;
    case OPT_SPECIAL:
        o->special = cli_special(optarg);
        return true;
    case OPT_STRICT:
        o->strict = true;
        return true;
    case OPT_TOKENIZER:
        o->greedy = cli_choice("--tokenizer", optarg, tokenizers);
        return true;
    case OPT_MAX:
        o->max = (size_t)cli_int("--max", optarg, 1, INT32_MAX);
        return true;
    case OPT_TRUNCATE:
        o->truncate = TRUNCATE_LEFT + cli_choice("--truncate", optarg, sides);
        return true;
    case OPT_BUDGET:
        o->budget = (size_t)cli_int("--budget", optarg, 1, INT32_MAX / 64);
        return true;
    default:
        return false;
    }
}

/* What is read, and in which form it is written. */
static bool
set_form_option(struct arguments *a, int c)
{
    static const char *const types[] = { "u16", "u32", NULL };
    struct tokenize_options *o = &a->options;

    switch (c) {
    case OPT_LINES:
    case '0':
        o->records = true;
        o->end = c == '0' ? '\0' : '\n';
        return true;
    case OPT_ESCAPES:
        o->escapes = true;
        return true;
    case OPT_FIELDS:
        o->fields = true;
        return true;
    case OPT_COUNT:
        o->count = true;
        return true;
    case OPT_PIECES:
        o->pieces = true;
        return true;
    case OPT_OFFSETS:
        o->offsets = true;
        return true;
    case OPT_BINARY:
        o->binary = cli_choice("--binary", optarg, types) ? 4 : 2;
        return true;
    case OPT_REPLACE:
        o->clean = true;
        return true;
    case OPT_RAW:
        o->raw = true;
        return true;
    case OPT_CHAT:
        a->chat = true;
        return true;
    case OPT_TEMPLATE:
        o->chat = chat_template(optarg);
        return true;
    case OPT_NO_ANSWER:
        a->no_answer = true;
        return true;
    default:
        return false;
    }
}

static void
set_option(struct arguments *a, int c)
{
    struct tokenize_options *o = &a->options;

    switch (c) {
    case 'd':
        a->decode = true;
        break;
    case 't':
        o->threads = (int)cli_int("-t", optarg, 1, 1024);
        break;
    case OPT_MAX_HELD:
        o->max_held = (uint64_t)cli_int("--max-held", optarg, 1, INT32_MAX)
                      << 20;
        break;
    case 'm':
        a->model = optarg;
        break;
    case 'f':
        a->file = optarg;
        break;
    case 'o':
        a->output = optarg;
        break;
    case 'q':
        a->quiet = true;
        break;
    case 'v':
        o->verbose = true;
        break;
    case 'h':
        cli_help(help);
    case 'V':
        cli_version();
    default:
        if (!set_text_option(a, c))
            set_form_option(a, c);
    }
}

/* Two options that do not go together; the first was given if it is true. */
struct pair {
    bool first, second;
    const char *name, *with;
};

static void
refuse(const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (pairs[i].first && pairs[i].second)
            cli_misuse("%s does not go with %s", pairs[i].name, pairs[i].with);
}

static const char *
form(const struct tokenize_options *o)
{
    return o->count     ? "--count"
           : o->pieces  ? "--pieces"
           : o->offsets ? "--offsets"
           : o->budget  ? "--budget"
                        : NULL;
}

static void
check_decode(const struct arguments *a)
{
    const struct tokenize_options *o = &a->options;
    const bool d = a->decode, binary = d && o->binary;
    const struct pair pairs[] = {
        { d, a->bos, "--bos", "-d" },
        { d, a->eos, "--eos", "-d" },
        { d, a->chat, "-d", "--chat" },
        { d, o->special == SPECIAL_ERROR, "--special error", "-d" },
        { d, o->strict, "--strict", "-d" },
        { d, o->greedy, "--tokenizer", "-d" },
        { d, o->fields, "--fields", "-d" },
        { d, o->escapes, "--escapes", "-d" },
        { d, o->max, "--max", "-d" },
        { d, o->threads > 0, "-t", "-d" },
        { d, form(o), form(o), "-d" },
        { binary, o->records, "--binary", "records" },
        { !d, o->clean, "--replace-invalid", "encoding" },
        { !d, o->raw, "--raw", "encoding" },
    };

    refuse(pairs, sizeof(pairs) / sizeof(pairs[0]));
}

static void
check_encode(const struct arguments *a)
{
    const struct tokenize_options *o = &a->options;
    const bool table = o->pieces || o->offsets, lines = o->end == '\n';
    const char *rows = o->pieces ? "--pieces" : "--offsets";
    const struct pair pairs[] = {
        { a->chat, o->special != SPECIAL_TEXT, "--special", "--chat" },
        { a->chat, o->greedy, "--tokenizer", "--chat" },
        { o->budget, o->greedy, "--tokenizer", "--budget" },
        { a->chat, o->offsets, "--offsets", "--chat" },
        { a->chat, o->fields, "--fields", "--chat" },
        { a->chat, o->escapes, "--escapes", "--chat" },
        { o->offsets, o->escapes, "--escapes", "--offsets" },
        { a->chat, a->eos, "--eos", "--chat" },
        { a->chat, o->truncate != TRUNCATE_NOT, "--truncate", "--chat" },
        { o->count, table, "--count", rows },
        { o->budget, table, "--budget", rows },
        { o->budget, o->count, "--budget", "--count" },
        { o->binary, form(o), "--binary", form(o) },
        { o->fields, o->binary, "--fields", "--binary" },
        { o->fields, table, "--fields", rows },
        { o->fields, o->max, "--fields", "--max" },
        { o->fields, o->budget, "--fields", "--budget" },
        { o->budget, o->records && lines, "--budget", "--lines" },
        { o->budget, a->chat, "--budget", "--chat" },
        { o->budget, o->max, "--budget", "--max" },
        { o->budget, o->threads > 1, "--budget", "-t" },
    };

    refuse(pairs, sizeof(pairs) / sizeof(pairs[0]));
    if (o->fields && (!o->records || !lines))
        cli_misuse("--fields goes with --lines only");
    if (o->escapes && (!o->records || !lines))
        cli_misuse("--escapes goes with --lines only");
    if (o->truncate != TRUNCATE_NOT && !o->max)
        cli_misuse("--truncate goes with --max only");
    if (!a->chat && (o->chat || a->no_answer))
        cli_misuse("%s goes with --chat only",
                   a->no_answer ? "--no-answer" : "--template");
}

void
parse_arguments(int argc, char **argv, struct arguments *a)
{
    int c;

    *a = (struct arguments){ .options = { .end = '\n',
                                          .max_held = UINT64_C(1) << 30 } };
    while ((c = cli_getopt(argc, argv, "d0t:m:f:o:qvhV", long_options)) != -1)
        set_option(a, c);
    if (optind < argc && !a->file)
        a->file = argv[optind++];
    if (optind < argc)
        cli_misuse("only one file can be read, not '%s' as well", argv[optind]);
    check_decode(a);
    check_encode(a);
}
