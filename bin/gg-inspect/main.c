/* main.c - gg-inspect: what is in a model file */
#include <config.h>

#include "common/engine.h"
#include "gg-inspect/bins.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char cli_name[] = "gg-inspect";

/* Where 1 is an answer, errors are 2, as of diff and cmp. */
enum {
    EXIT_TROUBLE = 2,
    MAX_SLOTS = 65536,
    MAX_SIDE = 1 << 14, /* of an image, in pixels */
    USUAL_WIDTH = 1024,
    USUAL_HEIGHT = 768,
};

static const char usage[] =
    "Usage: gg-inspect [OPTION]... [FILE]\n"
    "  or:  gg-inspect --diff [OPTION]... FILE OTHER\n"
    "Show the model file FILE, or the one that -m or $GG_MODEL names.\n"
    "\n";

struct arguments {
    struct inspect_options show;
    const char *model, *output;
    const char *binary;            /* a file to write: --npy, --png */
    const struct cli_option *mode; /* that says what is done; NULL: it is
                                      shown */
};

/* ---- options ---- */

/* Sets the mode, which only one option may do. */
static enum gg_status
set_mode(void *options, const struct cli_option *row, const char *value,
         struct gg_error *err)
{
    struct arguments *a = options;
    char name[CLI_OPTION_NAME], other[CLI_OPTION_NAME];

    (void)value, (void)err;
    if (a->mode && a->mode != row)
        cli_misuse("%s and %s do not go together",
                   cli_option_name(a->mode, other), cli_option_name(row, name));
    a->mode = row;
    return GG_OK;
}

static bool
mode_is(const struct arguments *a, const char *name)
{
    return a->mode && strcmp(a->mode->name, name) == 0;
}

static enum gg_status
set_key(void *options, const struct cli_option *row, const char *value,
        struct gg_error *err)
{
    ((struct arguments *)options)->show.key = value;
    return set_mode(options, row, value, err);
}

static enum gg_status
set_hash_list(void *options, const struct cli_option *row, const char *value,
              struct gg_error *err)
{
    ((struct arguments *)options)->show.hash_list = value;
    return set_mode(options, row, value, err);
}

static enum gg_status
set_npy(void *options, const struct cli_option *row, const char *value,
        struct gg_error *err)
{
    ((struct arguments *)options)->binary = value;
    return set_mode(options, row, value, err);
}

/* "1024x768" */
static enum gg_status
set_image_size(void *options, const struct cli_option *row, const char *value,
               struct gg_error *err)
{
    struct arguments *a = options;
    const char *by = strchr(value, 'x');
    char *width = cli_copy(value, by ? (size_t)(by - value) : strlen(value));
    int64_t x = 0, y = 0;
    bool good = by && cli_read_int("", width, 1, MAX_SIDE, &x, err) == GG_OK &&
                cli_read_int("", by + 1, 1, MAX_SIDE, &y, err) == GG_OK;

    (void)row;
    free(width);
    if (!good)
        return cli_error(err, GG_ERR_ARG,
                         "--image-size: '%s' is not WIDTHxHEIGHT, of 1 to %d",
                         value, MAX_SIDE);
    a->show.image.width = (uint32_t)x;
    a->show.image.height = (uint32_t)y;
    return GG_OK;
}

/* With --histogram it is no mode. */
static enum gg_status
set_png(void *options, const struct cli_option *row, const char *value,
        struct gg_error *err)
{
    struct arguments *a = options;

    (void)row, (void)err;
    a->show.png = true;
    a->binary = value;
    return GG_OK;
}

#define AT(field) .at = offsetof(struct arguments, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "key", 'k', CLI_CALL, "KEY",
      "print the raw value of KEY; of an array, one element per line",
      .set = set_key, .shown = "-k" },
    { "null", '0', CLI_FLAG, NULL,
      "with -k: end each value with NUL, and escape nothing",
      AT(show.nul_ended), .shown = "-0", .only_with = "key" },
    { "tensor", 0, CLI_TEXT, "NAME",
      "print statistics and a histogram of one tensor", AT(show.tensor),
      .not_with = "key|memory|hash-check|metadata|tensors" },
    { "metadata", 0, CLI_FLAG, NULL, "print the metadata only",
      AT(show.metadata), .not_with = "key|memory|stats|check|hash-check|histogram|npy|png" },
    { "tensors", 0, CLI_FLAG, NULL,
      "print the tensors only; with --metadata, print everything",
      AT(show.tensors), .not_with = "key|memory|stats|check|hash-check|histogram|npy|png" },
    { "sort", 0, CLI_WORD, "WHAT",
      "order the list of tensors by name, size (largest first) or type",
      AT(show.sort), ORDER_NAME, .values = "name|size|type",
      .not_with = "tensor|memory|stats|check|diff|histogram|hash|families",
      .only_with = "tensors|json" },
    { "json", 0, CLI_FLAG, NULL, "print JSON", AT(show.json),
      .not_with = "key|hash-check|npy|png" },
    { "memory", 0, CLI_CALL, NULL,
      "print the memory of weights, KV cache and buffers", .set = set_mode },
    { "stats", 0, CLI_CALL, NULL,
      "print a line of statistics for each tensor", .set = set_mode },
    { "check", 0, CLI_CALL, NULL,
      "print faults of tensors and names", .set = set_mode },
    { "diff", 0, CLI_CALL, NULL,
      "print the differences between FILE and OTHER", .set = set_mode },
    { "histogram", 0, CLI_CALL, NULL,
      "print a histogram of the values of each tensor", .set = set_mode },
    { "hash", 0, CLI_CALL, NULL,
      "print a SHA-256 of each tensor and of the whole", .set = set_mode },
    { "hash-check", 0, CLI_CALL, "LIST",
      "check the hashes in LIST, which --hash printed", .set = set_hash_list },
    { "npy", 0, CLI_CALL, "FILE",
      "write the tensor that --tensor names for NumPy", .set = set_npy,
      .use = SANDBOX_WRITE },
    { "png", 0, CLI_CALL, "FILE",
      "draw the tensor to FILE; with --histogram, draw the histograms",
      .set = set_png,
      .use = SANDBOX_WRITE },
    { "families", 0, CLI_CALL, NULL,
      "print the architectures that the tools can run, one a line",
      .set = set_mode },
    { .help = "\nWith these, except --hash-check, --tensor takes a shell "
              "pattern.\n\nWith --memory:" },
    { "context", 'c', CLI_INT, "N",
      "size of the context, in tokens (else the model's)",
      AT(show.session.n_ctx), 1, ENGINE_MAX_CONTEXT, .only_with = "memory" },
    { "slots", 0, CLI_INT, "N", "sequences in the KV cache (1)",
      AT(show.session.n_slots), 1, MAX_SLOTS, .only_with = "memory" },
    { "cache-type", 0, CLI_WORD, "T",
      "type of the KV cache: f16 (default), f32, q8_0, bf16, q5_0, q4_0",
      AT(show.cache.type), .values = ENGINE_CACHE_TYPES,
      .only_with = "memory" },
    { "cache-type-k", 0, CLI_WORD, "T", "type of the cache's keys only",
      AT(show.cache.keys), 1, .values = ENGINE_CACHE_TYPES,
      .only_with = "memory" },
    { "cache-type-v", 0, CLI_WORD, "T", "type of the cache's values only",
      AT(show.cache.values), 1, .values = ENGINE_CACHE_TYPES,
      .only_with = "memory" },
    { "cache-rotation", 0, CLI_WORD, "HOW",
      "rotate keys and values of less than 8 bits: on (default), off",
      AT(show.cache.no_rotation), .values = "on|off", .only_with = "memory" },
    { "batch-size", 0, CLI_INT, "N",
      "ids per batch in prefill (512)",
      AT(show.session.n_batch), 1, ENGINE_MAX_BATCH, .only_with = "memory" },
    { "parts", 0, CLI_TEXT, "N",
      "print the memory of each of N ranks, or of ranks with 24,24,16 layers",
      AT(show.parts), .only_with = "memory" },
    { "mmproj", 0, CLI_TEXT, "FILE",
      "the projector of images or sounds that the model has",
      AT(show.mmproj), .only_with = "memory", .not_with = "parts" },
    { "image-size", 0, CLI_CALL, "WIDTHxHEIGHT",
      "size of the image for the figures of a projector (1024x768)",
      .set = set_image_size },
    { .part = adapter_rows, AT(show.adapters) },
    { .help = "" },
    { "threads", 't', CLI_INT, "N", "threads (else one for each processor)",
      AT(show.n_threads), 1, GGML_MAX_N_THREADS },
    { "model", 'm', CLI_TEXT, "MODEL", "the file to inspect, as in all tools",
      AT(model) },
    { "output", 'o', CLI_TEXT, "FILE",
      "write to FILE instead of standard output", AT(output),
      .use = SANDBOX_WRITE },
    { "quiet", 'q', CLI_FLAG, NULL,
      "do not report which model is used when none is named", AT(show.quiet) },
    { "verbose", 'v', CLI_FLAG, NULL,
      "print values in full", AT(show.verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

/* Checks the options that write to a file of its own. */
static void
check_binary(const struct arguments *a)
{
    const char *name = a->show.png ? "--png" : "--npy";

    if (!a->binary)
        return;
    if (!a->show.tensor && !mode_is(a, "histogram"))
        cli_misuse("%s needs --tensor", name);
    if (a->output)
        cli_misuse("%s says what is written: -o does not go with it", name);
}

/* Alone --png is what is done. */
static void
settle_png(struct arguments *a)
{
    static const struct cli_option png = { .name = "png" };
    struct gg_error err;

    if (a->show.png && !mode_is(a, "histogram"))
        (void)set_mode(a, &png, NULL, &err);
}

static void
take_files(struct arguments *a, int n, char **files)
{
    int most = mode_is(a, "diff") ? 2 : 1;

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
path_of_model(const char *name, bool quiet)
{
    if (name && strcmp(name, "-") == 0)
        return "/dev/stdin";
    return cli_model(name, quiet);
}

static void
parse_arguments(int argc, char **argv, struct arguments *a)
{
    static const struct cli_tool tool = { .usage = usage,
                                          .options = rows,
                                          .column = 21 };
    int first = cli_parse(argc, argv, &tool, a);

    for (int i = first; i < argc; i++)
        cli_check_model_file(argv[i]);
    settle_png(a);
    if (a->show.adapters.n && !mode_is(a, "memory"))
        cli_misuse("--lora and --control-vector need --memory");
    if (a->show.sort && a->show.metadata && !a->show.tensors)
        cli_misuse("--sort does not go with --metadata alone");
    if (mode_is(a, "families")) {
        if (first < argc || a->model)
            cli_misuse("--families looks into no file");
        return;
    }
    take_files(a, argc - first, argv + first);
    check_binary(a);
    a->show.path = path_of_model(a->model, a->show.quiet);
}

static void
show_families(void)
{
    for (size_t i = 0; gg_model_family(i); i++)
        puts(gg_model_family(i));
}

/* Both files of --diff. */
static int
show_diff(struct inspect_options *o)
{
    struct inspected a, b;
    int status;

    inspect_open(o->path, o->metadata && !o->tensors, &a);
    inspect_open(path_of_model(o->other, true), o->metadata && !o->tensors, &b);
    status = diff_show(&a, &b, o);
    inspect_close(&b);
    inspect_close(&a);
    return status;
}

static int
show_open(const struct arguments *a, struct inspected *f)
{
    const struct inspect_options *o = &a->show;

    if (mode_is(a, "stats"))
        return stats_table_show(f, o);
    if (mode_is(a, "histogram"))
        return bins_show(f, o);
    if (mode_is(a, "npy"))
        return npy_show(f, o);
    if (mode_is(a, "png"))
        return picture_tensor(f, o);
    if (mode_is(a, "check"))
        return check_show(f, o);
    if (mode_is(a, "hash"))
        return hash_show(f, o);
    if (mode_is(a, "hash-check"))
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
show_file(struct arguments *a)
{
    struct inspect_options *o = &a->show;
    bool alone = o->key || (o->metadata && !o->tensors && !a->mode);
    struct inspected f;
    int status;

    if (mode_is(a, "families")) {
        show_families();
        return EXIT_SUCCESS;
    }
    if (mode_is(a, "memory")) {
        memory_show(o);
        adapters_clear(&o->adapters);
        return EXIT_SUCCESS;
    }
    if (mode_is(a, "hash-check") || mode_is(a, "diff") || mode_is(a, "check"))
        cli_fail_with(EXIT_TROUBLE);
    if (mode_is(a, "diff"))
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
        .show.image = { USUAL_WIDTH, USUAL_HEIGHT },
    };

    a.show.session.n_slots = 1;
    cli_start();
    parse_arguments(argc, argv, &a);
    engine_set_cache(&a.show.session, &a.show.cache);
    if (a.show.png)
        picture_check();
    cli_output(a.binary ? a.binary : a.output);
    if (a.binary)
        cli_refuse_terminal();
    return cli_finish(show_file(&a));
}
