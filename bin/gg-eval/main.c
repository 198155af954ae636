/* main.c - gg-eval: token ids -> logits */
#include <config.h>

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/engine.h"
#include "gg-eval/output.h"
#include "gg-eval/sequences.h"

const char cli_name[] = "gg-eval";

static const char help[] =
    "Usage: gg-eval [OPTION]... [FILE]\n"
    "Evaluate each line of token ids and write the logits of the next token.\n"
    "\n"
    "      --top K             write text: the K likeliest next tokens\n"
    "      --keep K            write only the K highest logits of a record\n"
    "      --f16               write logits in half precision\n"
    "      --slots N           numbered sequences held at once (8)\n"
    "      --remember N        ids kept to evaluate other sequences again\n"
    "                          (4194304)\n"
    "  -f, --file FILE         read token ids from FILE\n"
    "  -o, --output FILE       write to FILE\n" ENGINE_HELP;

enum {
    OPT_TOP = 256,
    OPT_KEEP,
    OPT_F16,
    OPT_SLOTS,
    OPT_REMEMBER,
};

static const struct option long_options[] = {
    { "top", required_argument, NULL, OPT_TOP },
    { "keep", required_argument, NULL, OPT_KEEP },
    { "f16", no_argument, NULL, OPT_F16 },
    { "slots", required_argument, NULL, OPT_SLOTS },
    { "remember", required_argument, NULL, OPT_REMEMBER },
    { "file", required_argument, NULL, 'f' },
    { "output", required_argument, NULL, 'o' },
    ENGINE_LONG_OPTIONS,
};

struct options {
    struct engine_options engine;
    struct output_options output;
    const char *input, *output_path;
    int32_t n_slots;
    int64_t remember;
};

static const struct options defaults = { .n_slots = 8, .remember = 1 << 22 };

/* Everything while the tool runs. */
struct eval {
    struct engine engine;
    struct sequences *sequences;
    struct output *output;
    float *logits;
    int32_t *ids; /* scratch: a sequence's ids, and the line's */
    size_t ids_cap;
    int64_t remember;
    size_t n_ids, n_records; /* for -v */
    bool failed;
};

/* ---- options ------------------------------------------------------------ */

static void
set_option(struct options *o, int c)
{
    switch (c) {
    case OPT_TOP:
        o->output.top = (size_t)cli_int("--top", optarg, 1, 1 << 24);
        break;
    case OPT_KEEP:
        o->output.keep = (size_t)cli_int("--keep", optarg, 1, 1 << 24);
        o->output.encoding = GG_ENCODING_SPARSE;
        break;
    case OPT_F16:
        o->output.encoding = GG_ENCODING_F16;
        break;
    case OPT_SLOTS:
        o->n_slots = (int32_t)cli_int("--slots", optarg, 1, 65536);
        break;
    case OPT_REMEMBER:
        o->remember = cli_int("--remember", optarg, 0, INT64_C(1) << 40);
        break;
    case 'f':
        o->input = optarg;
        break;
    case 'o':
        o->output_path = optarg;
        break;
    default:
        engine_set_option(&o->engine, c, help);
    }
}

static void
parse_options(int argc, char **argv, struct options *o)
{
    int c;

    while ((c = cli_getopt(argc, argv, "f:o:" ENGINE_LETTERS, long_options)) !=
           -1)
        set_option(o, c);
    if (argc - optind > (o->input ? 0 : 1))
        cli_misuse("%s: one FILE is enough", argv[argc - 1]);
    if (optind < argc)
        o->input = argv[optind];
    if (o->output.top && o->output.encoding != GG_ENCODING_F32)
        cli_misuse("--top writes text: --keep and --f16 do not go with it");
    if (o->output.keep && o->output.encoding == GG_ENCODING_F16)
        cli_misuse("--keep and --f16 do not go together");
}

/* ---- one line ----------------------------------------------------------- */

static void
fail(struct eval *e, const struct gg_line *line, const char *message)
{
    output_error(e->output, line, message);
    e->failed = true;
    if (line->numbered)
        cli_warn("sequence %llu: %s", (unsigned long long)line->sequence,
                 message);
    else
        cli_warn("%s", message);
}

/* What the slot lacks of the sequence, and the line's ids after it. */
static struct gg_chunk
make_chunk(struct eval *e, const struct sequence *q, bool again,
           const struct gg_line *line)
{
    size_t n = 0;

    if (!again || q->n_ids == 0)
        return (struct gg_chunk){ q->slot, line->ids, line->n_ids, e->logits };
    if (e->ids_cap < q->n_ids + line->n_ids) {
        e->ids_cap = 2 * (q->n_ids + line->n_ids);
        e->ids = cli_alloc(e->ids, e->ids_cap, sizeof(*e->ids));
    }
    for (size_t i = 0; i < q->n_ids; i++)
        e->ids[n++] = q->ids[i];
    for (size_t i = 0; i < line->n_ids; i++)
        e->ids[n++] = line->ids[i];
    return (struct gg_chunk){ q->slot, e->ids, n, e->logits };
}

static void
evaluate(struct eval *e, struct sequence *q, const struct gg_line *line)
{
    bool again = q->slot < 0;
    struct gg_chunk chunk;
    struct gg_error err;
    enum gg_status st;

    if (again) {
        sequences_take_slot(e->sequences, q);
        gg_session_truncate(e->engine.session, q->slot, 0);
    }
    chunk = make_chunk(e, q, again, line);
    st = gg_session_eval(e->engine.session, &chunk, 1, &err);
    if (st == GG_ERR_CONTEXT || st == GG_ERR_ARG) {
        if (again)
            sequences_drop_slot(e->sequences, q);
        fail(e, line, err.message);
        return;
    }
    cli_check(st, &err);
    sequences_add_ids(e->sequences, q, line->ids, line->n_ids);
    e->n_ids += chunk.n;
    e->n_records++;
    output_logits(e->output, line, q->n_ids, e->logits);
}

static void
take_ids(struct eval *e, const struct gg_line *line)
{
    struct sequence *q;
    char message[128];

    if (line->n_ids == 0) {
        fail(e, line, "a chunk without ids");
        return;
    }
    q = sequences_use(e->sequences, line->sequence);
    if (q) {
        evaluate(e, q, line);
        return;
    }
    snprintf(message, sizeof(message),
             "its ids were forgotten: --remember, now %lld, keeps more",
             (long long)e->remember);
    fail(e, line, message);
}

static void
take_line(struct eval *e, const struct gg_line *line)
{
    switch (line->kind) {
    case GG_LINE_IDS:
        take_ids(e, line);
        break;
    case GG_LINE_END:
        sequences_close(e->sequences, line->sequence);
        output_close(e->output, line);
        break;
    case GG_LINE_ERROR: /* whoever made it has told why */
        output_error(e->output, line, line->message);
        e->failed = true;
        break;
    }
}

/* ---- the stream --------------------------------------------------------- */

/* Nothing is written for a stream that holds nothing: readers must not take
 * a missing prompt for an answer. */
static void
check_first(const struct gg_line *line, enum gg_status st, const char *name)
{
    if (st == GG_EOF)
        cli_die("%s: no token ids", name);
    if (line->kind == GG_LINE_IDS && line->n_ids == 0)
        cli_die("%s: the first line has no token ids", name);
}

static void
run(struct eval *e, int fd, const char *name)
{
    struct gg_line_reader *reader;
    struct gg_error err;
    struct gg_line line = { 0 };
    enum gg_status st = gg_line_reader_new(fd, name, &reader, &err);

    cli_check(st, &err);
    gg_line_reader_watch(reader, STDOUT_FILENO);
    st = gg_line_read(reader, &line, &err);
    if (st == GG_OK || st == GG_EOF)
        check_first(&line, st, name);
    while (st == GG_OK) {
        if (!output_wanted())
            cli_raise(SIGPIPE);
        take_line(e, &line);
        st = gg_line_read(reader, &line, &err);
    }
    if (st == GG_ERR_ABORTED && !output_wanted())
        cli_raise(SIGPIPE);
    if (st != GG_EOF)
        cli_check(st, &err);
    output_end(e->output);
    gg_line_reader_free(reader);
}

static void
describe(const struct eval *e, int64_t us)
{
    cli_warn("%zu ids, %zu records in %.2f s: %.1f ids/s", e->n_ids,
             e->n_records, (double)us / 1e6,
             us ? (double)e->n_ids * 1e6 / (double)us : 0);
}

int
main(int argc, char **argv)
{
    struct options o = defaults;
    struct eval e = { 0 };
    int64_t start;
    int fd;

    cli_start();
    o.engine = engine_options_default();
    parse_options(argc, argv, &o);
    fd = cli_open_input(o.input);
    cli_output(o.output_path);
    if (!o.output.top)
        cli_refuse_terminal();
    engine_open(&e.engine, &o.engine, o.n_slots, false);
    e.remember = o.remember;
    e.sequences = sequences_new(e.engine.n_slots, (size_t)o.remember);
    e.output = output_new(&o.output, e.engine.vocab);
    e.logits = cli_alloc(NULL, (size_t)gg_model_n_vocab(e.engine.model),
                         sizeof(*e.logits));
    start = ggml_time_us();
    run(&e, fd, cli_input_name(o.input));
    if (o.engine.verbose)
        describe(&e, ggml_time_us() - start);
    output_free(e.output);
    sequences_free(e.sequences);
    engine_close(&e.engine);
    free(e.logits);
    free(e.ids);
    return cli_finish(e.failed ? EXIT_FAILURE : EXIT_SUCCESS);
}
