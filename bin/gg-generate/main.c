/* main.c - gg-generate: a prompt -> its continuation, in one process */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/terminal.h"
#include "gg-generate/records.h"

enum {
    DEFAULT_BATCH = 8,
    MAX_BATCH = 1024,
};

const char cli_name[] = "gg-generate";

static const char help[] =
    "Usage: gg-generate [OPTION]... [FILE]\n"
    "Continue the text of FILE, or of standard input.\n"
    "\n"
    "  -p, --prompt TEXT       continue TEXT; with a FILE, both; with records, "
    "each\n"
    "                          behind TEXT\n"
    "  -f, --file FILE         continue the text of FILE\n" SAMPLING_HELP
    "      --bos, --no-bos     put the vocabulary's BOS first, or nothing\n"
    "      --echo              write the prompt, too\n"
    "      --special WHAT      names of control tokens in texts: parse and "
    "write\n"
    "                          them, take them as text (default), or error\n"
    "      --strict            a byte that has no token is an error, as with\n"
    "                          --special error; else it is left out\n"
    "      --raw               a terminal gets control characters as they are\n"
    "      --stop STRING       end before STRING; may be given more than once\n"
    "      --draft MODEL       faster: guess tokens by a smaller model, or "
    "with\n"
    "                          prompt by what was there before\n"
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
    "      --lines             answer to each line of the input, a line each\n"
    "  -0, --null              to each NUL-ended record, NUL-ended\n"
    "      --numbered          with these: records begin with a number and a "
    "tab,\n"
    "                          answers as well\n"
    "      --jsonl             to each object in JSON, a line each: members "
    "are\n"
    "                          prompt or messages, and options\n"
    "      --batch N           records answered at once (8)\n"
    "      --resume FILE       add to FILE the answers that it has not yet\n"
    "\n" STATE_HELP "  -o, --output FILE       write to FILE\n" ENGINE_HELP;

static const struct option long_options[] = {
    { "prompt", required_argument, NULL, 'p' },
    { "file", required_argument, NULL, 'f' },
    SAMPLING_LONG_OPTIONS,
    STATE_LONG_OPTIONS,
    { "bos", no_argument, NULL, OPT_BOS },
    { "no-bos", no_argument, NULL, OPT_NO_BOS },
    { "echo", no_argument, NULL, OPT_ECHO },
    { "special", required_argument, NULL, OPT_SPECIAL },
    { "strict", no_argument, NULL, OPT_STRICT },
    { "raw", no_argument, NULL, OPT_RAW },
    { "stop", required_argument, NULL, OPT_STOP },
    { "draft", required_argument, NULL, OPT_DRAFT },
    { "choice", required_argument, NULL, OPT_CHOICE },
    { "scores", no_argument, NULL, OPT_SCORES },
    { "chat", no_argument, NULL, OPT_CHAT },
    { "system", required_argument, NULL, OPT_SYSTEM },
    { "interactive", no_argument, NULL, 'i' },
    { "messages", no_argument, NULL, OPT_MESSAGES },
    { "template", required_argument, NULL, OPT_TEMPLATE },
    { "lines", no_argument, NULL, OPT_LINES },
    { "null", no_argument, NULL, '0' },
    { "numbered", no_argument, NULL, OPT_NUMBERED },
    { "jsonl", no_argument, NULL, OPT_JSONL },
    { "batch", required_argument, NULL, OPT_BATCH },
    { "resume", required_argument, NULL, OPT_RESUME },
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

/* True: it is an option of records. */
static bool
set_record_option(struct options *o, int c)
{
    switch (c) {
    case OPT_LINES:
        o->form = FORM_LINES;
        return true;
    case '0':
        o->form = FORM_NULL;
        return true;
    case OPT_JSONL:
        o->form = FORM_JSONL;
        return true;
    case OPT_NUMBERED:
        o->numbered = true;
        return true;
    case OPT_BATCH:
        o->n_batch = (int32_t)cli_int("--batch", optarg, 1, MAX_BATCH);
        return true;
    case OPT_RESUME:
        o->resume = optarg;
        return true;
    default:
        return false;
    }
}

static void
add_stop(struct options *o)
{
    struct gg_error err;

    if (!o->stop)
        cli_check(gg_stop_new(&o->stop, &err), &err);
    cli_check(gg_stop_add(o->stop, optarg, strlen(optarg), &err), &err);
}

static void
set_option(struct options *o, int c)
{
    struct gg_error err;

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
    case OPT_RAW:
        o->raw = true;
        break;
    case OPT_SPECIAL:
        o->special = cli_special(optarg);
        break;
    case OPT_STRICT:
        o->strict = true;
        break;
    case OPT_STOP:
        if (!*optarg)
            cli_misuse("--stop: the string is empty");
        add_stop(o);
        break;
    case OPT_DRAFT:
        o->draft = optarg;
        break;
    case OPT_CHOICE:
        if (choices_add_list(&o->choices, optarg, &err) != GG_OK)
            cli_misuse("%s", err.message);
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
        if (!set_record_option(o, c) && !sampling_set_option(&o->sampling, c) &&
            !state_set_option(&o->state, c))
            engine_set_option(&o->engine, c, help);
    }
}

static void
refuse(bool given, const char *option, const char *with, const char *why)
{
    if (given)
        cli_misuse("%s does not go with %s: %s", option, with, why);
}

static const char *
save_option(const struct options *o)
{
    return o->state.maybe ? "--state" : "--save";
}

static void
check_records(const struct options *o)
{
    static const char *const names[] = { "one text", "--lines", "-0",
                                         "--jsonl" };
    const char *form = names[o->form];
    bool plain = o->form == FORM_LINES || o->form == FORM_NULL;

    if (o->form == FORM_TEXT && (o->n_batch || o->resume || o->numbered))
        cli_misuse("%s goes with --lines, -0 or --jsonl only",
                   o->n_batch  ? "--batch"
                   : o->resume ? "--resume"
                               : "--numbered");
    if (o->form == FORM_TEXT)
        return;
    refuse(o->prompt && o->messages, "-p", "--messages in records",
           "they are JSON");
    refuse(o->sampling.none, "-n 0", form, "nothing would be left");
    refuse(o->interactive, "-i", form,
           "the next line of a conversation waits for an answer");
    refuse(o->state.save != NULL, save_option(o), form,
           "a state here is that of one text");
    refuse(o->resume && o->output, "-o", "--resume", "it names the output");
    refuse(!plain && o->numbered, "--numbered", form,
           "an answer has the other members of its record");
    refuse(!plain && o->messages, "--messages", form,
           "records have a member of that name");
#ifndef HAVE_JANSSON
    if (!plain)
        cli_die("--jsonl: this gg-generate was built without Jansson, and "
                "reads no JSON");
#endif
}

static void
parse_options(int argc, char **argv, struct options *o)
{
    static const char letters[] = "p:f:o:i0" SAMPLING_LETTERS ENGINE_LETTERS;
    int c;

    while ((c = cli_getopt(argc, argv, letters, long_options)) != -1)
        set_option(o, c);
    if (optind < argc && (o->input || optind + 1 < argc))
        cli_misuse("%s: one FILE is enough", argv[argc - 1]);
    if (optind < argc)
        o->input = argv[optind];
    refuse(o->chat && o->echo, "--echo", "a conversation",
           "its prompt is not only text");
    if (o->messages && o->system)
        cli_misuse(
            "--system does not go with --messages, which have their own");
    refuse(o->choices.n && o->interactive, "--choice", "-i",
           "answers are drawn");
    refuse(o->choices.n && o->draft, "--choice", "--draft", "nothing is drawn");
    if (o->scores && !o->choices.n && o->form != FORM_JSONL)
        cli_misuse("--scores goes with --choice only");
    refuse(o->interactive && o->sampling.none, "-n 0", "-i",
           "there would be no answers");
    if (o->interactive && o->input && strcmp(o->input, "-") == 0)
        cli_misuse("-i reads standard input line by line, not as a prompt");
    check_records(o);
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
}

static void
run_text(struct generate *g, struct gg_sampler *sampler)
{
    const struct options *o = g->o;
    bool prompt = !o->interactive || o->prompt || o->input;
    int32_t *ids = NULL;
    size_t n = 0;

    g->answer.sampler = sampler;
    g->answer.sampling = &g->o->sampling;
    if (o->system && !g->loaded) /* which had one, or none */
        chat_add(&g->chat, GG_ROLE_SYSTEM, o->system, strlen(o->system));
    if (prompt)
        ids = generate_prompt(g, &n);
    if (o->interactive)
        generate_interactive(g, ids, n);
    else
        (void)generate_loop(g, ids, n);
    if (o->engine.verbose)
        generate_describe(g);
    generate_save(g);
    free(ids);
    answer_clear(&g->answer);
}

/* One text is made. */
static bool
is_one(const struct options *o)
{
    return o->form == FORM_TEXT && o->choices.n == 0;
}

/* Returns the exit status. */
static int
run(struct generate *g, int resumed)
{
    struct gg_sampler *sampler =
        sampling_start(&g->o->sampling, g->engine.vocab, g->o->engine.verbose);
    int status = EXIT_SUCCESS;
    struct gg_error err;

    if (is_one(g->o)) {
        cli_check(gg_sequence_new(g->gg, &g->answer.sequence, &err), &err);
        generate_load(g);
    } else {
        generate_load_base(g);
    }
    if (g->o->chat)
        start_chat(g);
    if (is_one(g->o)) {
        run_text(g, sampler);
        status = cli_status(g->cut, true);
    } else {
        gg_sampler_free(sampler); /* each record has its own */
        if (g->o->form == FORM_TEXT)
            generate_choice(g);
        else
            status = cli_status(!generate_records(g, resumed), true);
    }
    gg_stop_free(g->o->stop);
    choices_clear(&g->o->choices);
    gg_sequence_free(g->base.sequence);
    grammars_clear(&g->grammars);
    while (g->n_unknown)
        free(g->unknown[--g->n_unknown]);
    chat_clear(&g->chat);
    return status;
}

/* Sequences that are evaluated together, and what they go on from. */
static int32_t
count_slots(const struct options *o)
{
    size_t n = o->choices.n;
    bool base = o->state.load && !is_one(o);

    if (o->form != FORM_TEXT)
        return (o->n_batch ? o->n_batch : DEFAULT_BATCH) + base;
    return (n > CHOICES_AT_ONCE ? CHOICES_AT_ONCE : n ? (int32_t)n : 1) + base;
}

static void
open_engines(struct generate *g)
{
    struct gg_engine_params params = { .shift = g->o->engine.shift };
    int32_t n_slots = count_slots(g->o);
    struct gg_error err;

    engine_open(&g->engine, &g->o->engine, n_slots, true);
    cli_check(gg_engine_new(g->engine.model, g->engine.session, &params, &g->gg,
                            &err),
              &err);
    draft_open(g, n_slots);
}

static void
close_engines(struct generate *g)
{
    gg_engine_free(g->gg);
    draft_close(g);
    engine_close(&g->engine);
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };
    struct generate g = { .o = &o, .answer.tail = -1 };
    int resumed = -1, status;

    cli_start();
    o.engine = engine_options_default();
    o.sampling = sampling_options_default();
    o.sampling.takes_none = true;
    parse_options(argc, argv, &o);
    state_lock(&g.state, &o.state);
    if (o.resume)
        resumed = resume_open(o.resume);
    else
        cli_output(o.output);
    terminal_open(o.raw);
    cli_catch_signals();
    open_engines(&g);
    status = run(&g, resumed);
    terminal_newline();
    sampling_clear(&o.sampling);
    close_engines(&g);
    if (cli_signal())
        cli_raise(cli_signal());
    return cli_finish(status);
}
