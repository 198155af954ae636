/* main.c - gg-encode: images and sounds become rows that a model takes */
#include <config.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gg-media.h>
#include <ggml.h>

#include "common/media_files.h"
#include "common/options.h"
#include "common/projector.h"
#include "gg-encode/list.h"
#include "gg-encode/picture.h"
#include "gg-encode/record.h"
#include "gg-encode/rows.h"
#include "gg-encode/vectors.h"

const char cli_name[] = "gg-encode";

static const char usage[] = "Usage: gg-encode [OPTION]... FILE...\n"
                            "Encode images and sounds with a model's "
                            "projector. Write the rows that\nthe model takes "
                            "instead of token embeddings, as a rows stream.\n"
                            "\n";

struct options {
    struct gg_projector_params params;
    const char *model, *mmproj, *npy, *png, *output;
    bool list, jsonl, quiet, verbose;
    int32_t run;
    uint32_t raw;
    char **files;
    size_t n_files;
};

struct job {
    const struct options *options;
    struct gg_projector *projector;
    uint64_t n_ctx; /* positions of the model; 0: they are not known */
    struct rows rows;
    struct rows_stream *stream; /* or NULL */
    struct vectors *vectors;    /* or NULL */
    const char *path;           /* of the medium, */
    uint64_t number;            /* from 1 on */
    bool failed;                /* a medium did */
};

static enum gg_status
set_raw(void *options, const struct cli_option *row, const char *value,
        struct gg_error *err)
{
    int64_t rate = 0;
    enum gg_status st = cli_read_int("--raw", value, 1, 1 << 24, &rate, err);

    (void)row;
    ((struct options *)options)->raw = (uint32_t)rate;
    return st;
}

#define AT(field) .at = offsetof(struct options, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "model", 'm', CLI_TEXT, "MODEL",
      "model that takes the rows (else $GG_MODEL)", AT(model) },
    { "mmproj", 0, CLI_TEXT, "FILE",
      "the model's projector (else mmproj*.gguf next to the model)",
      AT(mmproj) },
    { "list", 0, CLI_FLAG, NULL,
      "list pieces, rows and positions, and compute nothing", AT(list) },
    { "jsonl", 0, CLI_FLAG, NULL,
      "write a line of JSON for each FILE: its format, pieces and rows",
      AT(jsonl),
      .not_with = "list|npy|png" },
    { "npy", 0, CLI_TEXT, "FILE", "write all rows to FILE as a NumPy array",
      AT(npy), .not_with = "list|output", .use = SANDBOX_WRITE },
    { "png", 0, CLI_TEXT, "FILE",
      "write the image as the encoder sees it to FILE, and compute nothing",
      AT(png),
      .not_with = "npy|list|output", .use = SANDBOX_WRITE },
    { "run", 0, CLI_INT, "N", "with --png: draw only run N of rows", AT(run), 1,
      1 << 16, .only_with = "png" },
    { "image-min-tokens", 0, CLI_INT, "N",
      "minimum rows of an image (else the model's own)",
      AT(params.min_tokens), 1, 1 << 16 },
    { "image-max-tokens", 0, CLI_INT, "N",
      "maximum rows of an image (else the model's own)",
      AT(params.max_tokens), 1, 1 << 16 },
    { "raw", 0, CLI_CALL, "RATE",
      "take FILEs as mono samples of 16 bits, little-endian, RATE per second",
      .set = set_raw },
    { "output", 'o', CLI_TEXT, "FILE", "write the rows stream to FILE",
      AT(output), .not_with = "list", .use = SANDBOX_WRITE },
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

    sandbox_keep(SANDBOX_MEDIA);
    if (projector_model_named(o->model))
        sandbox_add(cli_model(o->model, true), SANDBOX_READ);
    sandbox_add(projector_look_for(o->model, o->mmproj), SANDBOX_READ);
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
    if (o->png && o->n_files > 1)
        cli_misuse("--png is for one FILE");
}

/* ---- media --------------------------------------------------------------- */

static void
write_rows(struct job *job, const struct gg_media_rows *r)
{
    if (job->options->npy)
        rows_add(&job->rows, &r->medium);
    else if (job->vectors)
        vectors_put(job->vectors, job->number, &r->medium);
    else
        rows_stream_put(job->stream, r);
}

/* Rows are computed where they are wanted: of a record, the only one of a
 * projector that makes vectors. */
static enum gg_status
encode_plan(struct job *job, const struct gg_decoded *medium,
            struct gg_media_plan *plan, struct gg_error *err)
{
    const struct options *o = job->options;
    const char *name = cli_input_name(job->path);
    struct gg_media_rows *r = NULL;
    enum gg_status st = GG_OK;

    if (o->list)
        list_plan(name, plan, job->n_ctx);
    else if (o->png)
        picture_write(name, plan, (size_t)o->run);
    else if (!o->jsonl || gg_projector_embeds(job->projector))
        st = gg_projector_encode(job->projector, plan, &r, err);
    if (st != GG_OK)
        return st;
    if (o->jsonl)
        record_medium(job->path, medium, plan, job->n_ctx,
                      r ? &r->medium : NULL);
    else if (r)
        write_rows(job, r);
    gg_media_rows_free(r);
    return GG_OK;
}

static enum gg_status
try_file(struct job *job, struct gg_error *err)
{
    struct gg_decoded *medium;
    struct gg_media_plan *plan;
    enum gg_status st =
        media_decode_file(job->path, job->options->raw, &medium, err);

    if (st != GG_OK)
        return st;
    st = gg_projector_plan(job->projector, medium, &plan, err);
    if (st == GG_OK) {
        st = encode_plan(job, medium, plan, err);
        gg_media_plan_free(plan);
    }
    gg_decoded_free(medium);
    return st;
}

/* A file that fails is one of several, or ends the tool. */
static void
encode_file(struct job *job)
{
    const struct options *o = job->options;
    const char *name = cli_input_name(job->path);
    struct gg_error err;

    if (try_file(job, &err) == GG_OK)
        return;
    if (!o->jsonl && (o->n_files == 1 || o->npy))
        cli_die("%s: %s", name, err.message);
    cli_warn("%s: %s", name, err.message);
    if (o->jsonl)
        record_error(job->path, err.message);
    if (job->stream)
        rows_stream_put_error(job->stream, err.message);
    if (job->vectors)
        vectors_put_error(job->vectors, job->number, err.message);
    job->failed = true;
}

static void
start_output(struct job *job)
{
    const struct options *o = job->options;

    if (o->npy || o->png || o->output)
        cli_output(o->npy ? o->npy : o->png ? o->png : o->output);
    if (o->list || o->jsonl)
        return;
    cli_refuse_terminal();
    if (o->npy || o->png)
        return;
    if (gg_projector_embeds(job->projector))
        job->vectors = vectors_new(gg_projector_width(job->projector));
    else
        job->stream =
            rows_stream_new(job->projector, projector_first_id(o->model));
}

static void
end_output(struct job *job)
{
    if (job->options->npy)
        rows_write(&job->rows);
    if (job->stream)
        rows_stream_end(job->stream);
    if (job->vectors)
        vectors_end(job->vectors);
}

static int
run(const struct options *o)
{
    const char *path = projector_find(o->model, o->mmproj);
    struct job job = { .options = o };
    struct gg_error err;

    cli_check(gg_projector_open(path, &o->params, &job.projector, &err), &err);
    if (projector_model_named(o->model) &&
        !gg_projector_embeds(job.projector)) {
        projector_check_model(o->model, job.projector);
        job.n_ctx = projector_positions(o->model);
    }
    start_output(&job);
    for (size_t i = 0; i < o->n_files; i++) {
        job.path = o->files[i];
        job.number = i + 1;
        encode_file(&job);
    }
    end_output(&job);
    gg_projector_free(job.projector);
    return cli_status(job.failed, true);
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };

    cli_start();
    parse(argc, argv, &o);
    return cli_finish(run(&o));
}
