/* options.c - the command line of gg-bench */
#include <config.h>

#include <ggml.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gg-bench/bench.h"

static const char usage[] =
    "Usage: gg-bench [OPTION]... [MODEL]...\n"
    "Measure how many tokens per second models evaluate in prefill and in "
    "decoding,\n"
    "and which fraction of the machine's bound that is. COUNTS are numbers\n"
    "separated by commas.\n"
    "\n";

/* ---- lists ---- */

static enum gg_status
add_value(struct bench_list *list, const struct cli_option *row, int32_t value,
          struct gg_error *err)
{
    if (list->n == BENCH_MAX_VALUES)
        return cli_error(err, GG_ERR_ARG, "--%s: more than %d values",
                         row->name, BENCH_MAX_VALUES);
    list->p[list->n++] = value;
    return GG_OK;
}

/* Calls `add` with each part of "a,b,c". */
static enum gg_status
each_part(void *options, const struct cli_option *row, const char *value,
          enum gg_status (*add)(void *options, const struct cli_option *row,
                                const char *part, struct gg_error *err),
          struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (const char *p = value; st == GG_OK && p; p = strchr(p, ',')) {
        char *part;

        p += p > value || *p == ',';
        part = cli_copy(p, strcspn(p, ","));
        st = add(options, row, part, err);
        free(part);
    }
    return st;
}

static enum gg_status
add_number(void *options, const struct cli_option *row, const char *part,
           struct gg_error *err)
{
    char name[CLI_OPTION_NAME];
    int64_t n;
    enum gg_status st =
        cli_read_int(cli_option_name(row, name), part, (int64_t)row->min,
                     (int64_t)row->max, &n, err);

    if (st != GG_OK)
        return st;
    return add_value((void *)((char *)options + row->at), row, (int32_t)n, err);
}

static enum gg_status
add_numbers(void *options, const struct cli_option *row, const char *value,
            struct gg_error *err)
{
    return each_part(options, row, value, add_number, err);
}

static enum gg_status
add_word(void *options, const struct cli_option *row, const char *part,
         struct gg_error *err)
{
    int word;
    enum gg_status st = cli_read_word(row, part, &word, err);

    if (st != GG_OK)
        return st;
    return add_value((void *)((char *)options + row->at), row, word, err);
}

static enum gg_status
add_words(void *options, const struct cli_option *row, const char *value,
          struct gg_error *err)
{
    return each_part(options, row, value, add_word, err);
}

/* "512,128": a prompt, and what is decoded after it. */
static enum gg_status
add_pair(void *options, const struct cli_option *row, const char *value,
         struct gg_error *err)
{
    struct bench_list *both = ((struct bench_options *)options)->both;
    struct bench_list pair = { .n = 0 };
    struct cli_option to = *row;
    enum gg_status st;

    to.at = 0;
    st = each_part(&pair, &to, value, add_number, err);
    if (st == GG_OK && pair.n != 2)
        return cli_error(err, GG_ERR_ARG,
                         "--%s: '%s' is no pair of numbers, as 512,128 is",
                         row->name, value);
    for (int i = 0; i < 2 && st == GG_OK; i++)
        st = add_value(&both[i], row, pair.p[i], err);
    return st;
}

static void
add_model(struct bench_options *o, const char *name)
{
    if (o->n_models == BENCH_MAX_VALUES)
        cli_misuse("more than %d models", BENCH_MAX_VALUES);
    o->models[o->n_models++] = name;
}

static enum gg_status
set_model(void *options, const struct cli_option *row, const char *value,
          struct gg_error *err)
{
    (void)row, (void)err;
    add_model(options, value);
    return GG_OK;
}

/* ---- rows ---- */

#define AT(field) .at = offsetof(struct bench_options, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "model", 'm', CLI_CALL, "MODEL",
      "model file, one of several (else $GG_MODEL, else the demo model)",
      .set = set_model },
    { "prompt", 'p', CLI_CALL, "COUNTS", "ids to evaluate in prefill (512)",
      AT(prompts), 0, ENGINE_MAX_CONTEXT, .set = add_numbers,
      .aliases = "n-prompt" },
    { "generate", 'n', CLI_CALL, "COUNTS", "ids to decode (128)",
      AT(counts), 0, ENGINE_MAX_CONTEXT, .set = add_numbers,
      .aliases = "n-gen" },
    { "pg", 0, CLI_CALL, "P,N",
      "measure prefill of P ids and decoding of N ids together",
      .min = 1, .max = ENGINE_MAX_CONTEXT, .set = add_pair },
    { "depth", 'd', CLI_CALL, "COUNTS",
      "ids in the KV cache before the measurement (0)",
      AT(depths), 0, ENGINE_MAX_CONTEXT, .set = add_numbers,
      .aliases = "n-depth" },
    { "batch", 'b', CLI_CALL, "COUNTS", "sequences evaluated at once (1)",
      AT(batches), 1, BENCH_MAX_BATCH, .set = add_numbers },
    { "runs", 'r', CLI_INT, "N", "runs that count in each measurement (5)",
      AT(runs), 1, BENCH_MAX_RUNS, .aliases = "repetitions" },
    { "tsv", 0, CLI_CONST, NULL, "write tab-separated fields",
      AT(form), BENCH_TSV, .not_with = "json" },
    { "json", 0, CLI_CONST, NULL, "write an array of objects",
      AT(form), BENCH_JSON },
    { "bandwidth", 0, CLI_DOUBLE, "GB/S",
      "memory bandwidth of the machine (else measured on the CPU)",
      AT(bandwidth), 1e-9, 1e12 },
    { "peak", 0, CLI_DOUBLE, "GOP/S",
      "peak arithmetic rate of the machine (else measured on the CPU)",
      AT(peak), 1e-9, 1e12 },
    { "bounds", 0, CLI_FLAG, NULL, "measure only the machine's bounds",
      AT(bounds), .not_with = "model|bandwidth|peak" },
    { "threads", 't', CLI_CALL, "COUNTS",
      "threads (else one for each processor)", AT(threads), 1,
      GGML_MAX_N_THREADS, .set = add_numbers },
    { .part = device_rows, AT(engine.devices) },
    { "numa", 0, CLI_WORD, "HOW",
      "place threads and weights on NUMA nodes: off (default), distribute over "
      "all nodes, or isolate on one", AT(engine.numa),
      .values = "off|distribute|isolate" },
    { "cache-type", 0, CLI_CALL, "TYPES",
      "types of the KV cache, separated by commas: f16 (default), f32, q8_0, "
      "bf16, q5_0, q4_0",
      AT(types), .values = ENGINE_CACHE_TYPES, .set = add_words },
    { "cache-type-k", 0, CLI_CALL, "TYPES", "type of the cache's keys only",
      AT(keys), .values = ENGINE_CACHE_TYPES, .set = add_words },
    { "cache-type-v", 0, CLI_CALL, "TYPES", "type of the cache's values only",
      AT(values), .values = ENGINE_CACHE_TYPES, .set = add_words },
    { "cache-rotation", 0, CLI_WORD, "HOW",
      "rotate keys and values of less than 8 bits: on (default), off",
      AT(engine.cache.no_rotation), .values = "on|off" },
    { "batch-size", 0, CLI_INT, "N",
      "ids per batch in prefill (512)",
      AT(engine.n_batch), 1, ENGINE_MAX_BATCH },
    { "precision", 0, CLI_WORD, "KIND",
      "precision of products with F16: exact (default), bf16", AT(engine.bf16),
      .values = "exact|bf16" },
    { "no-mmap", 0, CLI_FLAG, NULL,
      "read the model into memory instead of mapping it",
      AT(engine.no_mmap) },
    { "quiet", 'q', CLI_FLAG, NULL, "fewer messages", AT(engine.quiet) },
    { "verbose", 'v', CLI_FLAG, NULL, "more messages", AT(engine.verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

static void
allow(const void *options)
{
    engine_allow(&((const struct bench_options *)options)->engine);
}

/* Gives a list its only value where no option filled it. */
static void
set_default(struct bench_list *list, int32_t value)
{
    if (list->n == 0)
        *list = (struct bench_list){ { value }, 1 };
}

static int32_t
largest(const struct bench_list *list)
{
    int32_t most = 0;

    for (size_t i = 0; i < list->n; i++)
        most = list->p[i] > most ? list->p[i] : most;
    return most;
}

static void
check_tests(const struct bench_options *o)
{
    int64_t most = (int64_t)largest(&o->both[0]) + largest(&o->both[1]);

    if (largest(&o->prompts) == 0 && largest(&o->counts) == 0 && most == 0)
        cli_misuse("nothing is measured: -p, -n or --pg says what");
    most = largest(&o->prompts) > most ? largest(&o->prompts) : most;
    most = largest(&o->counts) > most ? largest(&o->counts) : most;
    if (most + largest(&o->depths) > ENGINE_MAX_CONTEXT)
        cli_misuse("%lld ids at a depth of %d: no more than %d are taken",
                   (long long)most, (int)largest(&o->depths),
                   (int)ENGINE_MAX_CONTEXT);
}

void
bench_parse(int argc, char **argv, struct bench_options *o)
{
    static const struct cli_tool tool = { usage, rows, 25, .allow = allow };
    int first;

    *o =
        (struct bench_options){ .engine = engine_options_default(), .runs = 5 };
    first = cli_parse(argc, argv, &tool, o);
    if (o->bounds && first < argc)
        cli_misuse("--bounds takes no MODEL: '%s'", argv[first]);
    for (int i = first; i < argc; i++)
        add_model(o, argv[i]);
    if (o->n_models == 0)
        add_model(o, NULL);
    set_default(&o->prompts, 512);
    set_default(&o->counts, 128);
    set_default(&o->depths, 0);
    set_default(&o->batches, 1);
    set_default(&o->threads, gg_default_threads());
    set_default(&o->types, GG_CACHE_F16);
    check_tests(o);
}
