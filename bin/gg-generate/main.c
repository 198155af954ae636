/* main.c - gg-generate: a prompt -> its continuation, in one process */
#include <config.h>

#include <stdlib.h>

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
    "      --special           control tokens stand in texts as their names\n"
    "  -o, --output FILE       write to FILE\n" ENGINE_HELP;

static const struct option long_options[] = {
    { "prompt", required_argument, NULL, 'p' },
    { "file", required_argument, NULL, 'f' },
    SAMPLING_LONG_OPTIONS,
    { "bos", no_argument, NULL, OPT_BOS },
    { "no-bos", no_argument, NULL, OPT_NO_BOS },
    { "echo", no_argument, NULL, OPT_ECHO },
    { "special", no_argument, NULL, OPT_SPECIAL },
    { "output", required_argument, NULL, 'o' },
    ENGINE_LONG_OPTIONS,
};

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
        o->special = true;
        break;
    default:
        if (!sampling_set_option(&o->sampling, c))
            engine_set_option(&o->engine, c, help);
    }
}

static void
parse_options(int argc, char **argv, struct options *o)
{
    static const char letters[] = "p:f:o:" SAMPLING_LETTERS ENGINE_LETTERS;
    int c;

    while ((c = cli_getopt(argc, argv, letters, long_options)) != -1)
        set_option(o, c);
    if (optind < argc && (o->prompt || o->input || optind + 1 < argc))
        cli_misuse("%s: one prompt is enough", argv[argc - 1]);
    if (optind < argc)
        o->input = argv[optind];
    if (o->prompt && o->input)
        cli_misuse("-p and a FILE are two prompts; one is enough");
}

static void
run(struct generate *g)
{
    int32_t *ids;
    size_t n;

    g->sampler = sampling_start(&g->o->sampling, g->o->engine.verbose);
    g->logits = cli_alloc(NULL, (size_t)gg_model_n_vocab(g->engine.model),
                          sizeof(*g->logits));
    ids = generate_prompt(g, &n);
    generate_loop(g, ids, n);
    if (g->o->engine.verbose)
        generate_describe(g);
    free(ids);
    free(g->logits);
    free(g->piece);
    gg_sampler_free(g->sampler);
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
    engine_open(&g.engine, &o.engine, 1, true);
    run(&g);
    engine_close(&g.engine);
    if (cli_signal())
        cli_raise(cli_signal());
    return cli_finish(EXIT_SUCCESS);
}
