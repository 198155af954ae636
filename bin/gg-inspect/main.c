/* main.c - gg-inspect: what is in a model file */
#include <config.h>

#include "common/engine.h"
#include "gg-inspect/bins.h"

#include <stdlib.h>
#include <string.h>

const char cli_name[] = "gg-inspect";

/* Where 1 is an answer, errors are 2, as of diff and cmp. */
enum {
    EXIT_TROUBLE = 2,
};

static const char help[] =
    "Usage: gg-inspect [OPTION]... [FILE]\n"
    "  or:  gg-inspect --diff [OPTION]... FILE OTHER\n"
    "Say what is in the model file FILE, or in the one that -m or $GG_MODEL "
    "names.\n"
    "\n"
    "  -k, --key KEY      print the value of KEY, raw; of an array, one\n"
    "                     element a line\n"
    "  -0, --null         with -k: end each value with NUL, and escape "
    "nothing\n"
    "      --tensor NAME  print statistics and a histogram of one tensor\n"
    "      --metadata     print the metadata only\n"
    "      --tensors      print the tensors only; with --metadata all there "
    "is\n"
    "      --json         print JSON\n"
    "      --memory       print how much memory the model needs to run\n"
    "      --stats        print a line of statistics for each tensor\n"
    "      --check        print what is wrong with tensors and names\n"
    "      --diff         print what FILE and OTHER do not have in common\n"
    "      --histogram    print how the values of each tensor are spread\n"
    "      --hash         print a SHA-256 of each tensor and of the whole\n"
    "      --hash-check LIST\n"
    "                     check hashes that were printed before\n"
    "      --npy FILE     write the tensor that --tensor names for NumPy\n"
    "      --png FILE     draw it, or, with --histogram, what that prints\n"
    "\n"
    "With these --tensor takes a pattern of the shell, but for --hash-check.\n"
    "\n"
    "With --memory:\n"
    "  -c, --context N    positions a sequence can hold (else the model's)\n"
    "      --slots N      sequences held at once (1)\n"
    "      --cache-type T of keys and values: f16 (default), f32, q8_0\n"
    "      --batch-size N ids of a prompt evaluated together (512)\n"
    "\n"
    "  -t, --threads N    threads (else one for each processor)\n"
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
    OPT_STATS,
    OPT_CHECK,
    OPT_DIFF,
    OPT_HASH,
    OPT_HASH_CHECK,
    OPT_HISTOGRAM,
    OPT_NPY,
    OPT_PNG,
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
    { "stats", no_argument, NULL, OPT_STATS },
    { "check", no_argument, NULL, OPT_CHECK },
    { "diff", no_argument, NULL, OPT_DIFF },
    { "hash", no_argument, NULL, OPT_HASH },
    { "hash-check", required_argument, NULL, OPT_HASH_CHECK },
    { "histogram", no_argument, NULL, OPT_HISTOGRAM },
    { "npy", required_argument, NULL, OPT_NPY },
    { "png", required_argument, NULL, OPT_PNG },
    { "threads", required_argument, NULL, 't' },
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
    const char *binary;       /* a file to write: --npy, --png */
    const char *needs_memory; /* an option that goes with --memory */
    const char *mode; /* the option that says what is done; NULL: it is shown */
};

/* What is done is said once. */
static void
set_mode(struct arguments *a, const char *name)
{
    if (a->mode && strcmp(a->mode, name) != 0)
        cli_misuse("%s and %s do not go together", a->mode, name);
    a->mode = name;
}

static bool
mode_is(const struct arguments *a, const char *name)
{
    return a->mode && strcmp(a->mode, name) == 0;
}

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

/* The options that say what is done. */
static bool
set_what(struct arguments *a, int c)
{
    switch (c) {
    case 'k':
        set_mode(a, "-k");
        a->show.key = optarg;
        return true;
    case OPT_MEMORY:
        set_mode(a, "--memory");
        return true;
    case OPT_STATS:
        set_mode(a, "--stats");
        return true;
    case OPT_CHECK:
        set_mode(a, "--check");
        return true;
    case OPT_DIFF:
        set_mode(a, "--diff");
        return true;
    case OPT_HASH:
        set_mode(a, "--hash");
        return true;
    case OPT_HASH_CHECK:
        set_mode(a, "--hash-check");
        a->show.hash_list = optarg;
        return true;
    case OPT_HISTOGRAM:
        set_mode(a, "--histogram");
        return true;
    case OPT_NPY:
        set_mode(a, "--npy");
        a->binary = optarg;
        return true;
    case OPT_PNG:
        a->show.png = true;
        a->binary = optarg;
        return true;
    default:
        return false;
    }
}

static void
set_option(struct arguments *a, int c)
{
    if (set_session(a, c) || set_what(a, c))
        return;
    switch (c) {
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
    case 't':
        engine_set_option(&a->engine, c, help);
        a->show.n_threads = a->engine.n_threads;
        break;
    case 'm':
        a->model = optarg;
        break;
    case 'o':
        a->output = optarg;
        break;
    case 'q':
        a->show.quiet = true;
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

/* Which of the options below go with what is done. */
static const struct rule {
    const char *mode;
    bool tensor, json, parts; /* --tensor, --json, --metadata and --tensors */
} rules[] = {
    { "-k", false, false, false },
    { "--memory", false, true, false },
    { "--stats", true, true, false },
    { "--check", true, true, false },
    { "--diff", true, true, true },
    { "--hash", true, true, true },
    { "--hash-check", false, false, false },
    { "--histogram", true, true, false },
    { "--npy", true, false, false },
    { "--png", true, false, false },
};

static void
check_rule(const struct arguments *a, const struct rule *r)
{
    const struct inspect_options *o = &a->show;

    if (o->tensor && !r->tensor)
        cli_misuse("--tensor does not go with %s", r->mode);
    if (o->json && !r->json)
        cli_misuse("--json does not go with %s", r->mode);
    if ((o->metadata || o->tensors) && !r->parts)
        cli_misuse("%s does not go with %s",
                   o->metadata ? "--metadata" : "--tensors", r->mode);
}

/* What is written to a file of its own. */
static void
check_binary(const struct arguments *a)
{
    const char *name = a->show.png ? "--png" : "--npy";

    if (!a->binary)
        return;
    if (a->show.png && a->show.json)
        cli_misuse("--json does not go with --png");
    if (!a->show.tensor && !mode_is(a, "--histogram"))
        cli_misuse("%s needs --tensor", name);
    if (a->output)
        cli_misuse("%s says what is written: -o does not go with it", name);
}

static void
check_arguments(struct arguments *a)
{
    const struct inspect_options *o = &a->show;

    if (o->png && !mode_is(a, "--histogram"))
        set_mode(a, "--png");
    check_binary(a);

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (mode_is(a, rules[i].mode))
            check_rule(a, &rules[i]);
    if (o->nul_ended && !o->key)
        cli_misuse("-0 goes with -k");
    if (o->tensor && (o->metadata || o->tensors))
        cli_misuse("--tensor does not go with --metadata and --tensors");
    if (a->needs_memory && !mode_is(a, "--memory"))
        cli_misuse("%s goes with --memory", a->needs_memory);
}

static void
take_files(struct arguments *a, int n, char **files)
{
    int most = mode_is(a, "--diff") ? 2 : 1;

    if (n > most && most == 1)
        cli_misuse("one FILE at a time: %s is one too many", files[1]);
    if (n > most || (most == 2 && n + (a->model != NULL) != 2))
        cli_misuse("--diff takes two files");
    if (n == most && a->model)
        cli_misuse("-m and FILE both name a file");
    if (most == 2)
        a->show.other = files[n - 1];
    if (n > 0 && !a->model)
        a->model = files[0];
}

static const char *
find_file(const char *name, bool quiet)
{
    if (name && strcmp(name, "-") == 0)
        return "/dev/stdin";
    return cli_model(name, quiet);
}

static void
parse_arguments(int argc, char **argv, struct arguments *a)
{
    int c;

    while ((c = cli_getopt(argc, argv, "k:0c:t:m:o:qvhV", long_options)) != -1)
        set_option(a, c);
    take_files(a, argc - optind, argv + optind);
    check_arguments(a);
    a->show.session.n_ctx = a->engine.n_ctx;
    a->show.session.n_batch = a->engine.n_batch;
    a->show.session.cache_type = a->engine.cache_type;
    a->show.path = find_file(a->model, a->show.quiet);
}

/* Both files of --diff. */
static int
show_diff(struct inspect_options *o)
{
    struct inspected a, b;
    int status;

    inspect_open(o->path, o->metadata && !o->tensors, &a);
    inspect_open(find_file(o->other, true), o->metadata && !o->tensors, &b);
    status = diff_show(&a, &b, o);
    inspect_close(&b);
    inspect_close(&a);
    return status;
}

static int
show_open(const struct arguments *a, struct inspected *f)
{
    const struct inspect_options *o = &a->show;

    if (mode_is(a, "--stats"))
        return stats_show(f, o);
    if (mode_is(a, "--histogram"))
        return bins_show(f, o);
    if (mode_is(a, "--npy"))
        return npy_show(f, o);
    if (mode_is(a, "--png"))
        return picture_tensor(f, o);
    if (mode_is(a, "--check"))
        return check_show(f, o);
    if (mode_is(a, "--hash"))
        return hash_show(f, o);
    if (mode_is(a, "--hash-check"))
        return hash_check(f, o);
    if (o->tensor)
        return tensor_show(f, o);
    if (o->key)
        raw_show(f->gguf, o);
    else if (o->json)
        inspect_json_show(f, o);
    else
        text_show(f, o);
    return EXIT_SUCCESS;
}

static int
show(struct arguments *a)
{
    struct inspect_options *o = &a->show;
    bool alone = o->key || (o->metadata && !o->tensors && !a->mode);
    struct inspected f;
    int status;

    if (mode_is(a, "--memory")) {
        memory_show(o);
        return EXIT_SUCCESS;
    }
    if (mode_is(a, "--hash-check") || mode_is(a, "--diff") ||
        mode_is(a, "--check"))
        cli_fail_with(EXIT_TROUBLE);
    if (mode_is(a, "--diff"))
        return show_diff(o);
    inspect_open(o->path, alone, &f);
    status = show_open(a, &f);
    inspect_close(&f);
    return status;
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
    if (a.show.png)
        picture_check();
    cli_output(a.binary ? a.binary : a.output);
    if (a.binary)
        cli_refuse_terminal();
    return cli_finish(show(&a));
}
