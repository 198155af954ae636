/* main.c - gg-tokenize: text to token ids, and back */
#include <config.h>

#include "common/chat.h"
#include "common/cli.h"
#include "gg-tokenize/tokenize.h"

const char cli_name[] = "gg-tokenize";

static const char help[] =
    "Usage: gg-tokenize [OPTION]... [FILE]\n"
    "Read a text and write its token ids as one line; with -d, read ids and\n"
    "write their text. Without FILE, or where it is -, read standard input.\n"
    "\n"
    "  -d, --decode         turn ids back into text\n"
    "      --bos            put BOS in front, whatever the model says\n"
    "      --no-bos         add no token; with -d: the ids begin a text\n"
    "      --special        control tokens stand in the text as their names\n"
    "      --chat           read messages, {\"role\": ..., \"content\": ...}, "
    "and\n"
    "                       write the ids that let the model answer\n"
    "      --template NAME  the chat template, if not the model's; list: all\n"
    "      --no-answer      with --chat: whole messages only, no answer "
    "begins\n"
    "      --lines          each line of text is a numbered sequence\n"
    "  -0, --null           each NUL-ended record is a numbered sequence\n"
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
    OPT_SPECIAL,
    OPT_CHAT,
    OPT_TEMPLATE,
    OPT_NO_ANSWER,
    OPT_LINES,
    OPT_MAX_HELD,
};

static const struct option long_options[] = {
    { "decode", no_argument, NULL, 'd' },
    { "bos", no_argument, NULL, OPT_BOS },
    { "no-bos", no_argument, NULL, OPT_NO_BOS },
    { "special", no_argument, NULL, OPT_SPECIAL },
    { "chat", no_argument, NULL, OPT_CHAT },
    { "template", required_argument, NULL, OPT_TEMPLATE },
    { "no-answer", no_argument, NULL, OPT_NO_ANSWER },
    { "lines", no_argument, NULL, OPT_LINES },
    { "null", no_argument, NULL, '0' },
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

struct arguments {
    struct tokenize_options options;
    const char *model, *file, *output;
    bool decode, bos, quiet, chat, no_answer;
};

static void
set_option(struct arguments *a, int c)
{
    struct tokenize_options *o = &a->options;

    switch (c) {
    case 'd':
        a->decode = true;
        break;
    case OPT_BOS:
        a->bos = true;
        o->no_bos = false;
        break;
    case OPT_NO_BOS:
        o->no_bos = true;
        a->bos = false;
        break;
    case OPT_SPECIAL:
        o->special = true;
        break;
    case OPT_CHAT:
        a->chat = true;
        break;
    case OPT_TEMPLATE:
        o->chat = chat_template(optarg);
        break;
    case OPT_NO_ANSWER:
        a->no_answer = true;
        break;
    case OPT_LINES:
        o->records = true;
        o->end = '\n';
        break;
    case '0':
        o->records = true;
        o->end = '\0';
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
    default:
        cli_version();
    }
}

static void
parse(int argc, char **argv, struct arguments *a)
{
    int c;

    while ((c = cli_getopt(argc, argv, "d0m:f:o:qvhV", long_options)) != -1)
        set_option(a, c);
    if (optind < argc && !a->file)
        a->file = argv[optind++];
    if (optind < argc)
        cli_misuse("only one file can be read, not '%s' as well", argv[optind]);
    if (a->decode && a->bos)
        cli_misuse("--bos does not go with -d");
    if (a->chat && (a->decode || a->options.special))
        cli_misuse("%s does not go with --chat",
                   a->decode ? "-d" : "--special");
    if (!a->chat && (a->options.chat || a->no_answer))
        cli_misuse("%s goes with --chat only",
                   a->no_answer ? "--no-answer" : "--template");
}

/* Whether BOS goes in front: what the model says, unless an option does. */
static bool
wants_bos(const struct gg_vocab *vocab, const struct arguments *a,
          const char *model)
{
    if (a->bos && gg_vocab_bos(vocab) < 0)
        cli_die("%s: the vocabulary has no BOS token", model);
    return a->bos || (gg_vocab_add_bos(vocab) && !a->options.no_bos);
}

static void
choose_chat(const struct gg_vocab *vocab, struct arguments *a,
            const char *model)
{
    struct tokenize_options *o = &a->options;

    if (!o->chat)
        o->chat = chat_detect(vocab, model);
    if (o->verbose)
        cli_warn("%s: chat template %s", model, gg_chat_name(o->chat));
    o->chat_flags = (a->no_answer ? 0 : GG_CHAT_ANSWER) |
                    (a->bos ? GG_CHAT_BOS : 0) |
                    (o->no_bos ? GG_CHAT_NO_BOS : 0);
}

static int
run(struct arguments *a)
{
    struct tokenize_options *o = &a->options;
    const char *model = cli_model(a->model, a->quiet);
    struct gg_vocab *vocab;
    struct gg_error err;
    int status;

    o->fd = cli_open_input(a->file);
    o->input = cli_input_name(a->file);
    cli_check(gg_vocab_open(model, &vocab, &err), &err);
    if (gg_vocab_note(vocab))
        cli_warn("%s: %s", model, gg_vocab_note(vocab));
    if (o->verbose)
        cli_warn("%s: %d tokens", model, (int)gg_vocab_size(vocab));
    o->bos = wants_bos(vocab, a, model);
    o->empty = a->bos;
    if (a->chat)
        choose_chat(vocab, a, model);
    cli_output(a->output);
    status = a->decode ? tokenize_decode(vocab, o) : tokenize_encode(vocab, o);
    gg_vocab_free(vocab);
    return status;
}

int
main(int argc, char **argv)
{
    struct arguments a = { .options = { .end = '\n',
                                        .max_held = UINT64_C(1) << 30 } };

    cli_start();
    parse(argc, argv, &a);
    return cli_finish(run(&a));
}
