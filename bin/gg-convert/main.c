/* main.c - gg-convert: model files of other formats become GGUF */
#include <config.h>

#include <stdlib.h>

#include "common/cli.h"
#include "gg-convert/convert.h"

const char cli_name[] = "gg-convert";

static const char help[] =
    "Usage: gg-convert [OPTION]... IN OUT\n"
    "  or:  gg-convert {--set KEY=VALUE | --unset KEY}... FILE\n"
    "Write the model IN, a file of any format that is known or a folder of "
    "Hugging\n"
    "Face's, as the GGUF file OUT; the shards of a split model become one "
    "file.\n"
    "Without OUT, change the keys of the GGUF file FILE.\n"
    "\n"
    "      --type TYPE      quantise the matrices to TYPE, as gg-quantize "
    "does,\n"
    "                       or make them F32, F16 or BF16\n"
    "      --to FORMAT      gguf (default), or safetensors: tensors alone, "
    "none "
    "of\n"
    "                       them quantised\n"
    "      --split SIZE     several files with at most SIZE of data each, such "
    "as\n"
    "                       2G: OUT-00001-of-0000N.gguf\n"
    "  -q, --quiet          show no progress\n"
    "  -t, --threads N      threads (default: the processors there are)\n"
    "      --set KEY=VALUE  give a key a value, of the type that it has; a "
    "new\n"
    "                       one is a u32, i32, f32, bool or str by its looks,\n"
    "                       or what KEY=TYPE:VALUE says\n"
    "      --unset KEY      take a key away\n"
    "  -h, --help           print this help\n"
    "  -V, --version        print the version\n";

enum {
    OPT_SET = 256,
    OPT_UNSET,
    OPT_TYPE,
    OPT_SPLIT,
    OPT_TO,
    MAX_THREADS = 1024,
};

static const struct option long_options[] = {
    { "type", required_argument, NULL, OPT_TYPE },
    { "to", required_argument, NULL, OPT_TO },
    { "split", required_argument, NULL, OPT_SPLIT },
    { "quiet", no_argument, NULL, 'q' },
    { "threads", required_argument, NULL, 't' },
    { "set", required_argument, NULL, OPT_SET },
    { "unset", required_argument, NULL, OPT_UNSET },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { NULL, 0, NULL, 0 },
};

static void
parse_options(int argc, char **argv, struct conversion *a)
{
    static const char *const formats[] = { "gguf", "safetensors", NULL };
    int c;

    while ((c = cli_getopt(argc, argv, "qt:hV", long_options)) != -1)
        switch (c) {
        case OPT_TYPE:
            a->mixture = mixture_find(optarg);
            if (!a->mixture)
                cli_misuse("--type: '%s' is none; gg-quantize --list shows all",
                           optarg);
            break;
        case OPT_TO:
            a->safetensors = cli_choice("--to", optarg, formats) == 1;
            break;
        case OPT_SPLIT:
            a->split = split_size(optarg);
            break;
        case OPT_SET:
        case OPT_UNSET:
            keys_add(&a->changes, optarg, c == OPT_UNSET);
            break;
        case 'q':
            a->quiet = true;
            break;
        case 't':
            a->n_threads = (int)cli_int("--threads", optarg, 1, MAX_THREADS);
            break;
        case 'h':
            cli_help(help);
        case 'V':
            cli_version();
        }
}

int
main(int argc, char **argv)
{
    struct conversion a = { .n_threads = gg_default_threads() };

    cli_start();
    parse_options(argc, argv, &a);
    if (a.safetensors && (a.split || a.changes.n))
        cli_misuse("--to safetensors does not go with %s",
                   a.split ? "--split" : "--set or --unset");
    if (a.safetensors && a.mixture && ggml_is_quantized(a.mixture->type))
        cli_misuse("--to safetensors: F32, F16 and BF16 are its types");
    if (argc - optind == 2)
        write_gguf(argv[optind], argv[optind + 1], &a);
    else if (argc - optind == 1 && a.changes.n && !a.mixture && !a.split)
        edit_file(argv[optind], &a.changes, a.quiet);
    else if (argc - optind == 1)
        cli_misuse("%s becomes what? There is no OUT, nor a key to change",
                   argv[optind]);
    else
        cli_misuse(argc == optind ? "no IN" : "more than IN and OUT");
    keys_clear(&a.changes);
    return cli_finish(EXIT_SUCCESS);
}
