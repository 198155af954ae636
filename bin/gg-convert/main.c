/* main.c - gg-convert: model files of other formats become GGUF */
#include <config.h>

#include <stddef.h>
#include <stdlib.h>

#include "common/gguf.h"
#include "common/options.h"
#include "gg-convert/convert.h"

const char cli_name[] = "gg-convert";

static const char usage[] =
    "Usage: gg-convert [OPTION]... IN OUT\n"
    "  or:  gg-convert {--set KEY=VALUE | --unset KEY}... FILE\n"
    "Write the model IN, a file of any known format or a Hugging Face folder, "
    "as\n"
    "the GGUF file OUT; the shards of a split model become one file.\n"
    "Without OUT, change the keys of the GGUF file FILE.\n"
    "\n";

enum {
    MAX_THREADS = 1024,
};

static enum gg_status
set_type(void *options, const struct cli_option *row, const char *value,
         struct gg_error *err)
{
    struct conversion *a = options;

    (void)err;
    a->mixture = mixture_find(value);
    if (!a->mixture)
        cli_misuse("--%s: '%s' is none; gg-quantize --list shows all",
                   row->name, value);
    return GG_OK;
}

static enum gg_status
set_split(void *options, const struct cli_option *row, const char *value,
          struct gg_error *err)
{
    struct conversion *a = options;

    (void)row, (void)err;
    a->split = split_size(value);
    return GG_OK;
}

/* --set, --unset */
static enum gg_status
change_key(void *options, const struct cli_option *row, const char *value,
           struct gg_error *err)
{
    struct conversion *a = options;

    (void)err;
    keys_add(&a->changes, value, row->name[0] == 'u');
    return GG_OK;
}

#define AT(field) .at = offsetof(struct conversion, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "type", 0, CLI_CALL, "TYPE",
      "quantise the matrices to TYPE, as gg-quantize does, or make them F32, "
      "F16 or BF16", .set = set_type, .list = mixture_name },
    { "to", 0, CLI_WORD, "FORMAT",
      "format of OUT: gguf (default), or safetensors: only tensors, none of "
      "them quantised",
      AT(safetensors), .values = "gguf|safetensors" },
    { "byte-order", 0, CLI_WORD, "ORDER",
      "byte order of the numbers in OUT: little-endian or big-endian (default: "
      "this machine's)", AT(order), .values = "little|big" },
    { "split", 0, CLI_CALL, "SIZE",
      "write several files of at most SIZE of data each, such as 2G: "
      "OUT-00001-of-0000N.gguf", .set = set_split },
    { .part = adapter_lora_rows, AT(adapters) },
    { "base", 0, CLI_TEXT, "DIR",
      "folder of the model that a LoRA adapter of Hugging Face's PEFT, or a "
      "drafter, was made for",
      AT(base) },
    { "mmproj", 0, CLI_FLAG, NULL,
      "write the projector of images and sounds of a Hugging Face folder "
      "instead of the model", AT(mmproj) },
    { "in-place", 0, CLI_FLAG, NULL,
      "let OUT be IN, also with --type, --lora or --to safetensors",
      AT(in_place) },
    { "quiet", 'q', CLI_FLAG, NULL, "show no progress", AT(quiet) },
    { "verbose", 'v', CLI_FLAG, NULL,
      "report what the kernel lacks for the sandbox", AT(verbose) },
    { "threads", 't', CLI_INT, "N",
      "threads (default: one for each processor)", AT(n_threads),
      1, MAX_THREADS },
    { "set", 0, CLI_CALL, "KEY=VALUE",
      "set a key to a value of the key's type; a new key is a u32, i32, f32, "
      "bool or str, depending on the value, or of TYPE with KEY=TYPE:VALUE",
      .set = change_key },
    { "unset", 0, CLI_CALL, "KEY", "remove a key", .set = change_key },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

/* OUT, or the one FILE. */
static enum sandbox_use
argument_use(int i, int n)
{
    return i < n - 1 ? SANDBOX_READ : n == 1 ? SANDBOX_UPDATE : SANDBOX_SHARDS;
}

/* Returns the index of the first argument. */
static int
parse_options(int argc, char **argv, struct conversion *a)
{
    static const struct cli_tool tool = { usage, rows, 23,
                                          .use = argument_use };

    return cli_parse(argc, argv, &tool, a);
}

int
main(int argc, char **argv)
{
    struct conversion a = { .n_threads = gg_default_threads(),
                            .order = GGUF_MACHINE_ORDER };
    int first;

    cli_start();
    first = parse_options(argc, argv, &a);
    if (first < argc)
        cli_check_model_file(argv[first]);
    if (a.mmproj && (a.base || a.adapters.n))
        cli_misuse("--mmproj does not go with %s",
                   a.base ? "--base" : "--lora");
    if (a.mmproj && argc - first == 1)
        cli_misuse("--mmproj: there is no OUT");
    if (a.safetensors && (a.split || a.changes.n))
        cli_misuse("--to safetensors does not go with %s",
                   a.split ? "--split" : "--set or --unset");
    if (a.safetensors && a.order != GGUF_MACHINE_ORDER)
        cli_misuse("--to safetensors: it is little-endian always");
    if (a.safetensors && a.mixture && ggml_is_quantized(a.mixture->type))
        cli_misuse("--to safetensors: F32, F16 and BF16 are its types");
    if (argc - first == 2)
        write_gguf(argv[first], argv[first + 1], &a);
    else if (argc - first == 1 && a.changes.n && !a.mixture && !a.split)
        edit_file(argv[first], &a.changes, a.quiet);
    else if (argc - first == 1)
        cli_misuse("%s becomes what? There is no OUT, nor a key to change",
                   argv[first]);
    else
        cli_misuse(argc == first ? "no IN" : "more than IN and OUT");
    keys_clear(&a.changes);
    adapters_clear(&a.adapters);
    return cli_finish(EXIT_SUCCESS);
}
