/* main.c - gg-inspect: what is in a model file */
#include <config.h>

#include "common/engine.h"
#include "gg-inspect/inspect.h"

#include <stdlib.h>
#include <string.h>

const char cli_name[] = "gg-inspect";

static const char help[] =
    "Usage: gg-inspect [OPTION]... [FILE]\n"
    "Say what is in the model file FILE, or in the one that -m or $GG_MODEL "
    "names.\n"
    "\n"
    "  -k, --key KEY      print the value of KEY, raw; of an array, one\n"
    "                     element a line\n"
    "  -0, --null         with -k: end each value with NUL, and escape "
    "nothing\n"
    "      --tensor NAME  print statistics and a histogram of one tensor\n"
    "      --metadata     print the metadata only\n"
    "      --tensors      print the tensors only\n"
    "      --json         print JSON\n"
    "      --memory       print how much memory the model needs to run\n"
    "\n"
    "With --memory:\n"
    "  -c, --context N    positions a sequence can hold (else the model's)\n"
    "      --slots N      sequences held at once (1)\n"
    "      --cache-type T of keys and values: f16 (default), f32, q8_0\n"
    "      --batch-size N ids of a prompt evaluated together (512)\n"
    "\n"
    "  -m, --model MODEL  the file to look at, as in all tools\n"
    "  -o, --output FILE  write to FILE instead of standard output\n"
    "  -q, --quiet        do not say which model is used when none is named\n"
    "  -v, --verbose      shorten no value\n"
    "  -h, --help         print this help\n"
    "  -V, --version      print the version\n";

enum {
    OPT_TENSOR = 256,
    OPT_TENSORS,
    OPT_METADATA,
    OPT_JSON,
    OPT_MEMORY,
    OPT_SLOTS,
};

static const struct option long_options[] = {
    { "key", required_argument, NULL, 'k' },
    { "null", no_argument, NULL, '0' },
    { "tensor", required_argument, NULL, OPT_TENSOR },
    { "tensors", no_argument, NULL, OPT_TENSORS },
    { "metadata", no_argument, NULL, OPT_METADATA },
    { "json", no_argument, NULL, OPT_JSON },
    { "memory", no_argument, NULL, OPT_MEMORY },
    { "context", required_argument, NULL, 'c' },
    { "slots", required_argument, NULL, OPT_SLOTS },
    { "cache-type", required_argument, NULL, ENGINE_OPT_CACHE_TYPE },
    { "batch-size", required_argument, NULL, ENGINE_OPT_BATCH_SIZE },
    { "model", required_argument, NULL, 'm' },
    { "output", required_argument, NULL, 'o' },
    { "quiet", no_argument, NULL, 'q' },
    { "verbose", no_argument, NULL, 'v' },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { NULL, 0, NULL, 0 },
};

struct arguments {
    struct inspect_options show;
    struct engine_options engine; /* what gg-eval would be given */
    const char *model, *output;
    const char *needs_memory; /* an option that goes with --memory */
    bool quiet;
};

/* The options of gg-eval that change what it needs. */
static bool
set_session(struct arguments *a, int c)
{
    switch (c) {
    case 'c':
        a->needs_memory = "-c";
        break;
    case OPT_SLOTS:
        a->needs_memory = "--slots";
        a->show.session.n_slots = (int32_t)cli_int("--slots", optarg, 1, 65536);
        return true;
    case ENGINE_OPT_CACHE_TYPE:
        a->needs_memory = "--cache-type";
        break;
    case ENGINE_OPT_BATCH_SIZE:
        a->needs_memory = "--batch-size";
        break;
    default:
        return false;
    }
    return engine_set_option(&a->engine, c, help);
}

static void
set_option(struct arguments *a, int c)
{
    if (set_session(a, c))
        return;
    switch (c) {
    case 'k':
        a->show.key = optarg;
        break;
    case '0':
        a->show.nul_ended = true;
        break;
    case OPT_TENSOR:
        a->show.tensor = optarg;
        break;
    case OPT_TENSORS:
        a->show.tensors = true;
        break;
    case OPT_METADATA:
        a->show.metadata = true;
        break;
    case OPT_JSON:
        a->show.json = true;
        break;
    case OPT_MEMORY:
        a->show.memory = true;
        break;
    case 'm':
        a->model = optarg;
        break;
    case 'o':
        a->output = optarg;
        break;
    case 'q':
        a->quiet = true;
        break;
    case 'v':
        a->show.verbose = true;
        break;
    case 'h':
        cli_help(help);
    case 'V':
        cli_version();
    }
}

static void
check_arguments(const struct arguments *a)
{
    const struct inspect_options *o = &a->show;

    if (o->nul_ended && !o->key)
        cli_misuse("-0 goes with -k");
    if (o->key && (o->tensor || o->json || o->metadata || o->tensors))
        cli_misuse("-k stands alone");
    if (o->tensor && (o->metadata || o->tensors))
        cli_misuse("--tensor stands alone, or with --json");
    if (o->memory && (o->key || o->tensor || o->metadata || o->tensors))
        cli_misuse("--memory stands alone, or with --json");
    if (a->needs_memory && !o->memory)
        cli_misuse("%s goes with --memory", a->needs_memory);
}

static void
parse_arguments(int argc, char **argv, struct arguments *a)
{
    int c;

    while ((c = cli_getopt(argc, argv, "k:0c:m:o:qvhV", long_options)) != -1)
        set_option(a, c);
    if (argc - optind > 1)
        cli_misuse("one FILE at a time: %s is one too many", argv[optind + 1]);
    if (optind < argc && a->model)
        cli_misuse("-m and FILE both name a file");
    if (optind < argc)
        a->model = argv[optind];
    check_arguments(a);
    a->show.session.n_ctx = a->engine.n_ctx;
    a->show.session.n_batch = a->engine.n_batch;
    a->show.session.type_kv = a->engine.type_kv;
    if (a->model && strcmp(a->model, "-") == 0)
        a->show.path = "/dev/stdin";
    else
        a->show.path = cli_model(a->model, a->quiet);
}

static int
show_file(const struct inspect_options *o)
{
    bool alone = o->key || (o->metadata && !o->tensors); /* in the first */
    struct inspected f;
    int status = EXIT_SUCCESS;

    inspect_open(o->path, alone, &f);
    if (o->key)
        raw_show(f.gguf, o);
    else if (o->tensor)
        status = tensor_show(&f, o);
    else if (o->json)
        json_show(&f, o);
    else
        text_show(&f, o);
    inspect_close(&f);
    return status;
}

static int
show(const struct inspect_options *o)
{
    if (!o->memory)
        return show_file(o);
    memory_show(o);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    struct arguments a = {
        .show.session = gg_session_params_default(),
        .engine = engine_options_default(),
    };

    a.show.session.n_slots = 1;
    cli_start();
    parse_arguments(argc, argv, &a);
    cli_output(a.output);
    return cli_finish(show(&a.show));
}
