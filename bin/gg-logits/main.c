/* main.c - gg-logits: a filter over logit streams */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "gg-logits/diff.h"
#include "gg-logits/edit.h"
#include "gg-logits/like.h"
#include "gg-logits/mix.h"
#include "gg-logits/cosine.h"
#include "gg-logits/sink.h"

const char cli_name[] = "gg-logits";

static const char help[] =
    "Usage: gg-logits [OPTION]... [FILE]\n"
    "       gg-logits [OPTION]... --mix FILE=WEIGHT...\n"
    "       gg-logits --diff FILE FILE\n"
    "Change, convert, mix or compare logit streams.\n"
    "\n"
    "      --bias ID=X         add X to the logit of a token; -inf forbids it\n"
    "      --mask FILE         forbid all tokens but those whose ids FILE has\n"
    "      --forbid FILE       forbid the tokens whose ids FILE has\n"
    "      --keep K            write only the K highest logits of a record\n"
    "      --f16               write logits in half precision\n"
    "      --to FORM           stream (default), text, jsonl, npy or npz\n"
    "      --compress LEVEL    deflate npz, 1 to 9 (0: not at all)\n"
    "      --like FILE         rows of numbers get what else a record has "
    "from\n"
    "                          the stream FILE\n"
    "      --mix               several models as one, each with its weight\n"
    "      --mix-by KIND       mix probabilities (default) or logarithms\n"
    "      --diff              compare two streams record by record\n"
    "      --near FILE         write text: the cosines of embeddings and those "
    "of FILE\n"
    "      --top N             with --near: the N nearest, a line each\n"
    "      --largest N         show the N largest differences of each (1)\n"
    "  -f, --file FILE         read the stream from FILE\n"
    "  -o, --output FILE       write to FILE\n"
    "  -q, --quiet             say less\n"
    "  -v, --verbose           say more\n"
    "  -h, --help              print this help and end\n"
    "  -V, --version           print the version and end\n";

enum {
    OPT_BIAS = 256,
    OPT_MASK,
    OPT_FORBID,
    OPT_KEEP,
    OPT_F16,
    OPT_TO,
    OPT_COMPRESS,
    OPT_LIKE,
    OPT_MIX,
    OPT_MIX_BY,
    OPT_DIFF,
    OPT_LARGEST,
    OPT_NEAR,
    OPT_TOP,
};

static const struct option long_options[] = {
    { "bias", required_argument, NULL, OPT_BIAS },
    { "mask", required_argument, NULL, OPT_MASK },
    { "forbid", required_argument, NULL, OPT_FORBID },
    { "keep", required_argument, NULL, OPT_KEEP },
    { "f16", no_argument, NULL, OPT_F16 },
    { "to", required_argument, NULL, OPT_TO },
    { "compress", required_argument, NULL, OPT_COMPRESS },
    { "like", required_argument, NULL, OPT_LIKE },
    { "mix", no_argument, NULL, OPT_MIX },
    { "mix-by", required_argument, NULL, OPT_MIX_BY },
    { "diff", no_argument, NULL, OPT_DIFF },
    { "largest", required_argument, NULL, OPT_LARGEST },
    { "near", required_argument, NULL, OPT_NEAR },
    { "top", required_argument, NULL, OPT_TOP },
    { "file", required_argument, NULL, 'f' },
    { "output", required_argument, NULL, 'o' },
    { "quiet", no_argument, NULL, 'q' },
    { "verbose", no_argument, NULL, 'v' },
    { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' },
    { 0 },
};

struct options {
    struct edit_options edit;
    enum form form;
    int level;
    const char *like, *near, *input, *output;
    bool mix, mix_by, logarithms, diff, verbose;
    size_t largest, top;
    struct pair pair;
};

/* Where records come from: source_read() and its fellows. */
typedef enum gg_status (*next_record)(void *from,
                                      struct gg_logit_record *record,
                                      struct gg_error *err);

/* ---- options ---- */

static enum form
form(const char *name)
{
    static const char *const names[] = { "stream", "text", "jsonl",
                                         "npy",    "npz",  NULL };

    return (enum form)cli_choice("--to", name, names);
}

static bool
mix_by(const char *name)
{
    static const char *const names[] = { "probabilities", "logarithms", NULL };

    return cli_choice("--mix-by", name, names) == 1;
}

static void
set_option(struct options *o, int c)
{
    switch (c) {
    case OPT_BIAS:
        edit_add_bias(&o->edit, optarg);
        break;
    case OPT_MASK:
        o->edit.allow = optarg;
        break;
    case OPT_FORBID:
        o->edit.forbid = optarg;
        break;
    case OPT_KEEP:
        o->edit.keep = (size_t)cli_int("--keep", optarg, 1, LIMIT_VOCAB);
        break;
    case OPT_F16:
        o->edit.half = true;
        break;
    case OPT_TO:
        o->form = form(optarg);
        break;
    case OPT_COMPRESS:
        o->level = (int)cli_int("--compress", optarg, 0, 9);
        break;
    case OPT_LIKE:
        o->like = optarg;
        break;
    case OPT_MIX:
        o->mix = true;
        break;
    case OPT_MIX_BY:
        o->mix_by = true;
        o->logarithms = mix_by(optarg);
        break;
    case OPT_DIFF:
        o->diff = true;
        break;
    case OPT_LARGEST:
        o->largest = (size_t)cli_int("--largest", optarg, 1, 1000);
        break;
    case OPT_NEAR:
        o->near = optarg;
        break;
    case OPT_TOP:
        o->top = (size_t)cli_int("--top", optarg, 1, INT32_MAX);
        break;
    case '=': /* -=WEIGHT: of standard input */
        pair_add(&o->pair, "-", cli_float("--mix", optarg, -1e6, 1e6));
        break;
    case 'f':
        o->input = optarg;
        break;
    case 'o':
        o->output = optarg;
        break;
    case 'q':
        o->verbose = false;
        break;
    case 'v':
        o->verbose = true;
        break;
    case 'h':
        cli_help(help);
    case 'V':
        cli_version();
    }
}

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
check(const struct options *o)
{
    const struct edit_options *e = &o->edit;

    if ((o->diff || o->near) &&
        (o->mix || o->like || e->n_biases || e->allow || e->forbid || e->keep ||
         e->half || o->form != FORM_STREAM || (o->diff && o->near)))
        cli_misuse("%s writes a table: nothing else goes with it",
                   o->diff ? "--diff" : "--near");
    if ((o->mix || o->diff) && o->input)
        cli_misuse("-f does not go with --mix and --diff");
    if (o->mix && o->like)
        cli_misuse("--mix and --like do not go together");
    if (e->keep && e->half)
        cli_misuse("--keep and --f16 do not go together");
    if (o->level && o->form != FORM_NPZ)
        cli_misuse("--compress is for --to npz");
}

static void
parse(int argc, char **argv, struct options *o)
{
    int c;

    while ((c = cli_getopt(argc, argv, "f:o:qvhV=:", long_options)) != -1)
        set_option(o, c);
    if (o->mix && o->diff)
        cli_misuse("--mix and --diff do not go together");
    if (o->mix_by && !o->mix)
        cli_misuse("--mix-by goes with --mix");
    if (o->top && !o->near)
        cli_misuse("--top goes with --near");
    if (o->largest && !o->diff)
        cli_misuse("--largest goes with --diff");
    take_files(o, argv + optind, (size_t)(argc - optind));
    check(o);
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
    return source_read(source, record, err);
}

static struct source *
open_source(const char *path)
{
    struct source *source;
    struct gg_error err;

    cli_check(
        source_open(&source, cli_open_input(path), cli_input_name(path), &err),
        &err);
    return source;
}

static int
run_single(const struct options *o)
{
    struct source *source = open_source(o->input);
    int status;

    if (o->like) {
        struct like like = { open_source(o->like), source, o->like };

        if (source_form(source) != FORM_NPY && source_form(source) != FORM_NPZ)
            cli_die("%s: --like is for rows of numbers",
                    cli_input_name(o->input));
        status = filter(o, like_read, &like);
        source_close(like.model);
    } else {
        status = filter(o, read_source, source);
    }
    source_close(source);
    return status;
}

static int
run_near(const struct options *o)
{
    struct source *others = open_source(o->near);
    struct source *source = open_source(o->input);
    int status = near_run(source, cli_input_name(o->input), others,
                          cli_input_name(o->near), o->top);

    source_close(source);
    source_close(others);
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
