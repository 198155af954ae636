/* main.c - gg-generate: a prompt -> its continuation, in one process */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gg-generate/generate.h"

const char cli_name[] = "gg-generate";

static const char help[] =
    "Usage: gg-generate [OPTION]... [FILE]\n"
    "Continue the text of FILE, or of standard input.\n"
    "\n"
    "  -p, --prompt TEXT       continue TEXT\n"
    "  -f, --file FILE         continue the text of FILE\n" SAMPLING_HELP
    "      --bos, --no-bos     put the vocabulary's BOS first, or nothing\n"
    "      --echo              write the prompt, too\n"
    "      --special WHAT      names of control tokens in texts: parse and "
    "write\n"
    "                          them, take them as text (default), or error\n"
    "      --stop STRING       end before STRING; may be given more than once\n"
    "      --choice A,B,...    write which of A, B and so on is likeliest to "
    "follow\n"
    "      --scores            with --choice: a line for each, with its "
    "score\n"
    "\n"
    "      --chat              the prompt is a message; write the answer to "
    "it\n"
    "      --system TEXT       what the model is told before it\n"
    "  -i, --interactive       answer to each line of standard input\n"
    "      --messages          the prompt is a conversation in JSON\n"
    "      --template NAME     the chat template, if not the model's; list: "
    "all\n"
    "\n"
    "  -o, --output FILE       write to FILE\n" ENGINE_HELP;

static const struct option long_options[] = {
    { "prompt", required_argument, NULL, 'p' },
    { "file", required_argument, NULL, 'f' },
    SAMPLING_LONG_OPTIONS,
    { "bos", no_argument, NULL, OPT_BOS },
    { "no-bos", no_argument, NULL, OPT_NO_BOS },
    { "echo", no_argument, NULL, OPT_ECHO },
    { "special", required_argument, NULL, OPT_SPECIAL },
    { "stop", required_argument, NULL, OPT_STOP },
    { "choice", required_argument, NULL, OPT_CHOICE },
    { "scores", no_argument, NULL, OPT_SCORES },
    { "chat", no_argument, NULL, OPT_CHAT },
    { "system", required_argument, NULL, OPT_SYSTEM },
    { "interactive", no_argument, NULL, 'i' },
    { "messages", no_argument, NULL, OPT_MESSAGES },
    { "template", required_argument, NULL, OPT_TEMPLATE },
    { "output", required_argument, NULL, 'o' },
    ENGINE_LONG_OPTIONS,
};

/* The options of a conversation, each of which makes the prompt one. */
static void
set_chat_option(struct options *o, int c)
{
    o->chat = true;
    switch (c) {
    case 'i':
        o->interactive = true;
        break;
    case OPT_SYSTEM:
        o->system = optarg;
        break;
    case OPT_MESSAGES:
        o->messages = true;
        break;
    case OPT_TEMPLATE:
        o->template = chat_template(optarg);
        break;
    default: /* --chat */
        break;
    }
}

static void
set_option(struct options *o, int c)
{
    switch (c) {
    case 'p':
        o->prompt = optarg;
        break;
    case 'f':
        o->input = optarg;
        break;
    case 'o':
        o->output = optarg;
        break;
    case OPT_BOS:
    case OPT_NO_BOS:
        o->bos = c;
        break;
    case OPT_ECHO:
        o->echo = true;
        break;
    case OPT_SPECIAL:
        o->special = cli_special(optarg);
        break;
    case OPT_STOP:
        if (!*optarg)
            cli_misuse("--stop: the string is empty");
        stop_strings_add(&o->stop, optarg, strlen(optarg));
        break;
    case OPT_CHOICE:
        choices_add(&o->choices, optarg);
        break;
    case OPT_SCORES:
        o->scores = true;
        break;
    case OPT_CHAT:
    case OPT_SYSTEM:
    case OPT_MESSAGES:
    case OPT_TEMPLATE:
    case 'i':
        set_chat_option(o, c);
        break;
    default:
        if (!sampling_set_option(&o->sampling, c))
            engine_set_option(&o->engine, c, help);
    }
}

static void
parse_options(int argc, char **argv, struct options *o)
{
    static const char letters[] = "p:f:o:i" SAMPLING_LETTERS ENGINE_LETTERS;
    int c;

    while ((c = cli_getopt(argc, argv, letters, long_options)) != -1)
        set_option(o, c);
    if (optind < argc && (o->prompt || o->input || optind + 1 < argc))
        cli_misuse("%s: one prompt is enough", argv[argc - 1]);
    if (optind < argc)
        o->input = argv[optind];
    if (o->prompt && o->input)
        cli_misuse("-p and a FILE are two prompts; one is enough");
    if (o->chat && o->echo)
        cli_misuse("--echo does not go with a conversation");
    if (o->messages && o->system)
        cli_misuse(
            "--system does not go with --messages, which have their own");
    if (o->choices.n && o->interactive)
        cli_misuse("--choice does not go with -i");
    if (o->scores && !o->choices.n)
        cli_misuse("--scores goes with --choice only");
    if (o->interactive && o->input && strcmp(o->input, "-") == 0)
        cli_misuse("-i reads standard input line by line, not as a prompt");
}

static void
start_chat(struct generate *g)
{
    struct options *o = g->o;

    if (!o->template)
        o->template = chat_detect(g->engine.vocab, g->engine.path);
    if (o->engine.verbose)
        cli_warn("chat template %s", gg_chat_name(o->template));
    if (o->interactive)
        chat_check(g->engine.vocab, o->template);
    if (o->system)
        chat_add(&g->chat, GG_ROLE_SYSTEM, o->system, strlen(o->system));
}

static void
run(struct generate *g)
{
    const struct options *o = g->o;
    bool prompt = !o->interactive || o->prompt || o->input;
    int32_t *ids = NULL;
    size_t n = 0;

    answer_init(&g->answer, &g->engine, 0);
    g->answer.sampler = sampling_start(&g->o->sampling, o->engine.verbose);
    g->answer.flags = o->special == SPECIAL_PARSE ? GG_DECODE_SPECIAL : 0;
    if (o->chat)
        start_chat(g);
    if (prompt && !o->choices.n)
        ids = generate_prompt(g, &n);
    if (o->choices.n)
        generate_choice(g);
    else if (o->interactive)
        generate_interactive(g, ids, n);
    else
        (void)generate_loop(g, ids, n);
    if (o->engine.verbose && !o->choices.n)
        generate_describe(g);
    free(ids);
    free(g->prompt.p);
    choices_clear(&g->o->choices);
    answer_clear(&g->answer);
    chat_clear(&g->chat);
    stop_strings_clear(&g->o->stop);
}

/* Sequences that are evaluated together. */
static int32_t
count_slots(const struct options *o)
{
    size_t n = o->choices.n;

    return n > CHOICES_AT_ONCE ? CHOICES_AT_ONCE : n ? (int32_t)n : 1;
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };
    struct generate g = { .o = &o };

    cli_start();
    o.engine = engine_options_default();
    o.sampling = sampling_options_default();
    parse_options(argc, argv, &o);
    cli_output(o.output);
    cli_catch_signals();
    engine_open(&g.engine, &o.engine, count_slots(&o), true);
    run(&g);
    engine_close(&g.engine);
    if (cli_signal())
        cli_raise(cli_signal());
    return cli_finish(EXIT_SUCCESS);
}
