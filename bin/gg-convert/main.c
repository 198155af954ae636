/* main.c - gg-convert: model files of other formats become GGUF */
#include <config.h>

#include <stdlib.h>

#include "common/cli.h"
#include "common/gguf.h"
#include "gg-convert/convert.h"

const char cli_name[] = "gg-convert";

static const char help[] =
    "Usage: gg-convert [OPTION]... IN OUT\n"
    "  or:  gg-convert {--set KEY=VALUE | --unset KEY}... FILE\n"
    "Write the model file IN, of any format that is known, as the GGUF file "
    "OUT;\n"
    "the shards of a split model become one file. Without OUT, change the keys "
    "of\n"
    "the GGUF file FILE.\n"
    "\n"
    "      --set KEY=VALUE  give a key a value, of the type that it has; a new\n"
    "                       one is a u32, i32, f32, bool or str by its looks,\n"
    "                       or what KEY=TYPE:VALUE says\n"
    "      --unset KEY      take a key away\n"
    "  -h, --help           print this help\n"
    "  -V, --version        print the version\n";

enum {
    OPT_SET = 256,
    OPT_UNSET,
};

static const struct option long_options[] = {
    { "set", required_argument, NULL, OPT_SET },
    { "unset", required_argument, NULL, OPT_UNSET },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { NULL, 0, NULL, 0 },
};

static void
add_tensors(struct gguf_context *to, const struct gg_file *file)
{
    const struct gguf_context *from = gg_file_gguf(file);

    for (int64_t i = 0; i < gguf_get_n_tensors(from); i++)
        gguf_add_like(to, from, i, gguf_get_tensor_type(from, i),
                      gg_file_data(file, i));
}

static void
convert(const char *in, const char *out, struct key_changes *changes)
{
    struct gguf_context *gguf = gguf_init_empty();
    struct gg_file *file;
    struct gg_error err;

    if (!gguf)
        cli_die("out of memory");
    cli_check(gg_file_open(in, &file, &err), &err);
    keys_copy(gguf, gg_file_gguf(file), changes, true);
    add_tensors(gguf, file);
    cli_output(out);
    cli_refuse_terminal();
    if (!gguf_write_to_file_ptr(gguf, stdout, false) && !ferror(stdout))
        cli_die("out of memory");
    gguf_free(gguf);
    gg_file_close(file);
}

int
main(int argc, char **argv)
{
    struct key_changes changes = { 0 };
    int c;

    cli_start();
    while ((c = cli_getopt(argc, argv, "hV", long_options)) != -1)
        switch (c) {
        case OPT_SET:
        case OPT_UNSET:
            keys_add(&changes, optarg, c == OPT_UNSET);
            break;
        case 'h':
            cli_help(help);
        case 'V':
            cli_version();
        }
    if (argc - optind == 2)
        convert(argv[optind], argv[optind + 1], &changes);
    else if (argc - optind == 1 && changes.n)
        edit_file(argv[optind], &changes);
    else if (argc - optind == 1)
        cli_misuse("%s becomes what? There is no OUT, nor a key to change",
                   argv[optind]);
    else
        cli_misuse(argc == optind ? "no IN" : "more than IN and OUT");
    keys_clear(&changes);
    return cli_finish(EXIT_SUCCESS);
}
