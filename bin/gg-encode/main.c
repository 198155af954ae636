/* main.c - gg-encode: images and sounds become rows that a model takes */
#include <config.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gg-media.h>
#include <ggml.h>

#include "common/options.h"
#include "gg-encode/list.h"
#include "gg-encode/model.h"
#include "gg-encode/picture.h"
#include "gg-encode/rows.h"

const char cli_name[] = "gg-encode";

static const char usage[] =
    "Usage: gg-encode [OPTION]... FILE...\n"
    "Encode images and sounds by a model's projector.\n"
    "\n";

enum {
    MAX_MEDIUM = 1 << 29, /* bytes of a file */
};

struct options {
    struct gg_projector_params params;
    const char *model, *mmproj, *npy, *png;
    bool list, quiet, verbose;
    int32_t run;
    char **files;
    size_t n_files;
};

#define AT(field) .at = offsetof(struct options, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "model", 'm', CLI_TEXT, "MODEL",
      "the model that takes the rows (else $GG_MODEL)", AT(model) },
    { "mmproj", 0, CLI_TEXT, "FILE",
      "its projector (else mmproj*.gguf beside the model)", AT(mmproj) },
    { "list", 0, CLI_FLAG, NULL,
      "compute nothing: list pieces, rows and positions", AT(list) },
    { "npy", 0, CLI_TEXT, "FILE", "write all rows as an array of NumPy's",
      AT(npy), .use = SANDBOX_WRITE },
    { "png", 0, CLI_TEXT, "FILE",
      "compute nothing: write what the encoder sees of an image", AT(png),
      .not_with = "npy|list", .use = SANDBOX_WRITE },
    { "run", 0, CLI_INT, "N", "with --png: of run N of rows alone", AT(run), 1,
      1 << 16, .only_with = "png" },
    { "image-min-tokens", 0, CLI_INT, "N",
      "rows of an image, at least (else as its maker says)",
      AT(params.min_tokens), 1, 1 << 16 },
    { "image-max-tokens", 0, CLI_INT, "N", "and at most",
      AT(params.max_tokens), 1, 1 << 16 },
    { "device", 0, CLI_TEXT, "DEVICE", "cpu (default), cuda, cuda:N or auto",
      AT(params.device), .values = "cpu|cuda|auto" },
    { "threads", 't', CLI_INT, "N", "threads (else one for each processor)",
      AT(params.n_threads), 1, GGML_MAX_N_THREADS },
    { "quiet", 'q', CLI_FLAG, NULL, "fewer messages", AT(quiet) },
    { "verbose", 'v', CLI_FLAG, NULL, "more messages", AT(verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

/* Files that no option names, but that the options mean. */
static void
allow(const void *options)
{
    const struct options *o = options;

    sandbox_add(cli_model(o->model, true), SANDBOX_READ);
    sandbox_add(encode_find_projector(o->model, o->mmproj), SANDBOX_READ);
    if (o->params.device && strcmp(o->params.device, "cpu") != 0)
        sandbox_keep(SANDBOX_GPU);
}

static void
parse(int argc, char **argv, struct options *o)
{
    static const struct cli_tool tool = { usage, rows, 27, .allow = allow };
    int first = cli_parse(argc, argv, &tool, o);

    o->files = argv + first;
    o->n_files = (size_t)(argc - first);
    if (o->n_files == 0)
        cli_misuse("a FILE is needed");
    if (!o->list && !o->npy && !o->png)
        cli_misuse("--list, --npy FILE or --png FILE is needed");
    if (o->png && o->n_files > 1)
        cli_misuse("--png is for one FILE");
}

/* ---- media --------------------------------------------------------------- */

static struct gg_decoded *
decode_file(const char *path)
{
    struct gg_decode_limits limits = { 0 };
    struct gg_decoded *medium;
    struct gg_error err;
    int fd = cli_open_input(path);
    size_t size;
    char *bytes = cli_read_all(fd, cli_input_name(path), MAX_MEDIUM, &size);
    enum gg_status st = gg_media_decode(bytes, size, &limits, &medium, &err);

    if (fd != STDIN_FILENO)
        close(fd);
    free(bytes);
    if (st != GG_OK)
        cli_die("%s: %s", cli_input_name(path), err.message);
    return medium;
}

static struct gg_media_plan *
plan_file(struct gg_projector *projector, const char *path)
{
    struct gg_decoded *medium = decode_file(path);
    struct gg_media_plan *plan;
    struct gg_error err;
    enum gg_status st = gg_projector_plan(projector, medium, &plan, &err);

    gg_decoded_free(medium);
    if (st != GG_OK)
        cli_die("%s: %s", cli_input_name(path), err.message);
    return plan;
}

static void
encode_file(const struct options *o, struct gg_projector *projector,
            struct rows *out, const char *path)
{
    struct gg_media_plan *plan = plan_file(projector, path);
    struct gg_media_rows *r;
    struct gg_error err;
    enum gg_status st;

    if (o->list)
        list_plan(cli_input_name(path), plan, encode_positions(o->model));
    if (o->png)
        picture_write(o->png, plan, (size_t)o->run);
    if (o->npy) {
        st = gg_projector_encode(projector, plan, &r, &err);
        if (st != GG_OK)
            cli_die("%s: %s", cli_input_name(path), err.message);
        rows_add(out, &r->medium);
        gg_media_rows_free(r);
    }
    gg_media_plan_free(plan);
}

static int
run(const struct options *o)
{
    const char *path = encode_find_projector(o->model, o->mmproj);
    struct gg_projector *projector;
    struct rows out = { 0 };
    struct gg_error err;

    cli_check(gg_projector_open(path, &o->params, &projector, &err), &err);
    encode_check_model(o->model, projector);
    if (o->npy || o->png)
        cli_output(o->npy ? o->npy : o->png);
    if (o->npy || o->png)
        cli_refuse_terminal();
    for (size_t i = 0; i < o->n_files; i++)
        encode_file(o, projector, &out, o->files[i]);
    if (o->npy)
        rows_write(&out);
    gg_projector_free(projector);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };

    cli_start();
    parse(argc, argv, &o);
    return cli_finish(run(&o));
}
