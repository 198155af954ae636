/* main.c - gg-logits: a filter over logit streams */
#include <config.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/options.h"
#include "gg-logits/diff.h"
#include "gg-logits/edit.h"
#include "gg-logits/like.h"
#include "gg-logits/mix.h"
#include "gg-logits/npz.h"
#include "gg-logits/cosine.h"
#include "gg-logits/sink.h"

const char cli_name[] = "gg-logits";

static const char usage[] =
    "Usage: gg-logits [OPTION]... [FILE]\n"
    "       gg-logits [OPTION]... --mix FILE=WEIGHT...\n"
    "       gg-logits --diff FILE FILE\n"
    "Change, convert, mix or compare logit streams.\n"
    "\n";

struct options {
    struct edit_options edit;
    enum form form;
    int level, logarithms;
    const char *like, *near, *input, *output;
    bool mix, diff, quiet, verbose;
    size_t largest, top;
    struct pair pair;
};

/* Where records come from: record_source_read() and its fellows. */
typedef enum gg_status (*next_record)(void *from,
                                      struct gg_logit_record *record,
                                      struct gg_error *err);

/* ---- options ---- */

static enum gg_status
add_logit_bias(void *options, const struct cli_option *row, const char *value,
               struct gg_error *err)
{
    struct options *o = options;

    (void)row, (void)err;
    edit_add_bias(&o->edit, value);
    return GG_OK;
}

/* -=WEIGHT: of standard input. */
static enum gg_status
add_standard_input(void *options, const struct cli_option *row,
                   const char *value, struct gg_error *err)
{
    struct options *o = options;

    (void)row, (void)err;
    pair_add(&o->pair, "-", cli_float("--mix", value, -1e6, 1e6));
    return GG_OK;
}

#define AT(field) .at = offsetof(struct options, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "bias", 0, CLI_CALL, "ID=X",
      "add X to the logit of a token; -inf forbids it", .set = add_logit_bias },
    { "mask", 0, CLI_TEXT, "FILE",
      "forbid all tokens except those whose ids FILE has", AT(edit.allow) },
    { "forbid", 0, CLI_TEXT, "FILE", "forbid the tokens whose ids FILE has",
      AT(edit.forbid) },
    { "keep", 0, CLI_SIZE, "K", "write only the K highest logits of a record",
      AT(edit.keep), 1, LIMIT_VOCAB, .not_with = "f16" },
    { "f16", 0, CLI_FLAG, NULL, "write logits in half precision",
      AT(edit.half) },
    { "to", 0, CLI_WORD, "FORM", "stream (default), text, jsonl, npy or npz",
      AT(form), .values = "stream|text|jsonl|npy|npz" },
    { "compress", 0, CLI_INT, "LEVEL",
      "compress npz with deflate, 1 to 9 (0: none)",
      AT(level), 0, 9 },
    { "like", 0, CLI_TEXT, "FILE",
      "take the input as rows of logits, and everything else from the stream "
      "FILE",
      AT(like) },
    { "mix", 0, CLI_FLAG, NULL, "mix the streams of several models by weights",
      AT(mix), .not_with = "diff|like|file" },
    { "mix-by", 0, CLI_WORD, "KIND",
      "mix probabilities (default) or logarithms", AT(logarithms),
      .values = "probabilities|logarithms", .only_with = "mix" },
    { "diff", 0, CLI_FLAG, NULL, "compare two streams record by record",
      AT(diff), .not_with = "file" },
    { "near", 0, CLI_TEXT, "FILE",
      "write text: cosine similarity of embeddings to the embeddings in FILE",
      AT(near) },
    { "top", 0, CLI_SIZE, "N", "with --near: write the N nearest, a line each",
      AT(top), 1, INT32_MAX, .only_with = "near" },
    { "largest", 0, CLI_SIZE, "N",
      "show the N largest differences of each record (1)", AT(largest), 1, 1000,
      .only_with = "diff" },
    { "file", 'f', CLI_TEXT, "FILE", "read the stream from FILE", AT(input),
      .shown = "-f" },
    { "output", 'o', CLI_TEXT, "FILE", "write to FILE", AT(output),
      .use = SANDBOX_WRITE },
    { .letter = '=', .argument = "WEIGHT", .set = add_standard_input },
    { "quiet", 'q', CLI_FLAG, NULL, "fewer messages", AT(quiet) },
    { "verbose", 'v', CLI_FLAG, NULL, "more messages", AT(verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

/* FILE=WEIGHT; a file's name may have a '=', a weight has none. */
static void
add_weighted(struct pair *p, char *text)
{
    char *equals = strrchr(text, '=');

    if (!equals || equals == text)
        cli_misuse("--mix: '%s' is not FILE=WEIGHT", text);
    *equals = '\0';
    pair_add(p, text, cli_float("--mix", equals + 1, -1e6, 1e6));
}

static void
take_files(struct options *o, char **files, size_t n)
{
    if (o->pair.n > 0 && !o->mix)
        cli_misuse("-=WEIGHT goes with --mix");
    if (o->mix && n + o->pair.n < 1)
        cli_misuse("--mix needs FILE=WEIGHT for each model");
    if (o->diff && n != 2)
        cli_misuse("--diff compares two files");
    if (!o->mix && !o->diff && n + (o->input != NULL) > 1)
        cli_misuse("%s: one FILE is enough", files[n - 1]);
    for (size_t i = 0; i < n; i++)
        if (o->mix)
            add_weighted(&o->pair, files[i]);
        else if (o->diff)
            pair_add(&o->pair, files[i], 1);
        else
            o->input = files[i];
}

static void
check_options(const struct options *o)
{
    const struct edit_options *e = &o->edit;

    if ((o->diff || o->near) &&
        (o->mix || o->like || e->n_biases || e->allow || e->forbid || e->keep ||
         e->half || o->form != FORM_STREAM || (o->diff && o->near)))
        cli_misuse("%s writes a table: nothing else goes with it",
                   o->diff ? "--diff" : "--near");
    if (o->level && o->form != FORM_NPZ)
        cli_misuse("--compress is for --to npz");
}

static void
allow(const void *options)
{
    enum form form = ((const struct options *)options)->form;

    if (form == FORM_NPY || form == FORM_NPZ)
        sandbox_add(npz_scratch_folder(), SANDBOX_SCRATCH);
}

static void
parse(int argc, char **argv, struct options *o)
{
    static const struct cli_tool tool = { usage, rows, 26,
                                          .role = SANDBOX_FILTER,
                                          .allow = allow };
    int first = cli_parse(argc, argv, &tool, o);

    o->verbose = o->verbose && !o->quiet;
    take_files(o, argv + first, (size_t)(argc - first));
    check_options(o);
}

/* ---- the filter ---- */

static int
filter(const struct options *o, next_record next, void *from)
{
    struct edit *edit = edit_new(&o->edit);
    struct sink *sink = sink_new(o->form, o->level);
    struct gg_logit_record record;
    struct gg_error err;
    enum gg_status st;
    bool failed = false, many = false;
    uint64_t n = 0;

    while ((st = next(from, &record, &err)) == GG_OK) {
        edit_apply(edit, &record);
        failed |= record.kind == GG_RECORD_ERROR;
        many |= record.head.numbered || record.head.kind == GG_VECTOR_EMBEDDING;
        n += record.kind == GG_RECORD_LOGITS;
        sink_put(sink, &record);
    }
    if (st != GG_EOF)
        cli_check(st, &err);
    sink_finish(sink);
    if (o->verbose)
        cli_warn("%" PRIu64 " records", n);
    sink_free(sink);
    edit_free(edit);
    return cli_status(failed, many);
}

static enum gg_status
read_source(void *source, struct gg_logit_record *record, struct gg_error *err)
{
    return record_source_read(source, record, err);
}

static struct record_source *
open_source(const char *path)
{
    struct record_source *source;
    struct gg_error err;

    cli_check(record_source_open(&source, cli_open_input(path),
                                 cli_input_name(path), &err),
              &err);
    return source;
}

static int
run_single(const struct options *o)
{
    struct record_source *source = open_source(o->input);
    int status;

    if (o->like) {
        struct like like = { open_source(o->like), source, o->like };

        if (record_source_form(source) != FORM_NPY &&
            record_source_form(source) != FORM_NPZ)
            cli_die("%s: --like is for rows of numbers",
                    cli_input_name(o->input));
        status = filter(o, like_read, &like);
        record_source_close(like.model);
    } else {
        status = filter(o, read_source, source);
    }
    record_source_close(source);
    return status;
}

static int
run_near(const struct options *o)
{
    struct record_source *others = open_source(o->near);
    struct record_source *source = open_source(o->input);
    int status = near_run(source, cli_input_name(o->input), others,
                          cli_input_name(o->near), o->top);

    record_source_close(source);
    record_source_close(others);
    return status;
}

static int
run_mix(struct options *o)
{
    struct mix *mix = mix_new(&o->pair, o->logarithms);
    int status;

    pair_open(&o->pair);
    status = filter(o, mix_read, mix);
    mix_free(mix);
    return status;
}

static int
run(struct options *o)
{
    int status;

    cli_output(o->output);
    if (!o->diff && !o->near && o->form != FORM_TEXT && o->form != FORM_JSONL)
        cli_refuse_terminal();
    if (o->diff) {
        pair_open(&o->pair);
        status = diff_run(&o->pair, o->largest ? o->largest : 1);
    } else if (o->near) {
        status = run_near(o);
    } else {
        status = o->mix ? run_mix(o) : run_single(o);
    }
    pair_close(&o->pair);
    free(o->edit.biases);
    return status;
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };

    cli_start();
    parse(argc, argv, &o);
    return cli_finish(run(&o));
}
