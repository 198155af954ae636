/* main.c - gg-eval: token ids -> logits */
#include <config.h>

#include <ggml.h>
#include <stdlib.h>

#include "gg-eval/embed.h"
#include "gg-eval/evaluate.h"
#include "gg-eval/imatrix.h"
#include "gg-eval/perplexity.h"
#include "gg-eval/state.h"
#include "gg-eval/watch.h"

const char cli_name[] = "gg-eval";

static const char help[] =
    "Usage: gg-eval [OPTION]... [FILE]\n"
    "Evaluate each line of token ids and write the logits of the next token.\n"
    "\n"
    "      --top K             write text: the K likeliest next tokens\n"
    "      --keep K            write only the K highest logits of a record\n"
    "      --f16               write logits in half precision\n"
    "      --score             write text: the log-probability of each line's "
    "ids\n"
    "      --embed KIND        write a vector for each line's text: the mean, "
    "last\n"
    "                          or cls (first) of its tokens', or what the "
    "model says\n"
    "      --no-normalize      leave such vectors at the length they have\n"
    "      --perplexity        write how well the ids are foreseen, as text\n"
    "      --imatrix FILE      write FILE: how much the weights' columns "
    "matter\n"
    "                          to the ids, for gg-quantize\n"
    "      --watch GLOB        write figures of what is computed, by name\n"
    "      --watch-dir DIR     and save it there, for NumPy\n"
    "      --graph FILE        write FILE: the compute graph, for dot\n"
    "      --batch N           numbered sequences evaluated together (8)\n"
    "      --slots N           numbered sequences held at once (8)\n"
    "      --remember N        ids kept to evaluate other sequences again\n"
    "                          (4194304)\n" STATE_HELP
    "  -f, --file FILE         read token ids from FILE\n"
    "  -o, --output FILE       write to FILE\n" ENGINE_HELP;

enum {
    OPT_TOP = 256,
    OPT_KEEP,
    OPT_F16,
    OPT_SCORE,
    OPT_EMBED,
    OPT_NO_NORMALIZE,
    OPT_PERPLEXITY,
    OPT_IMATRIX,
    OPT_WATCH,
    OPT_WATCH_DIR,
    OPT_GRAPH,
    OPT_BATCH,
    OPT_SLOTS,
    OPT_REMEMBER,
};

static const struct option long_options[] = {
    { "top", required_argument, NULL, OPT_TOP },
    { "keep", required_argument, NULL, OPT_KEEP },
    { "f16", no_argument, NULL, OPT_F16 },
    { "score", no_argument, NULL, OPT_SCORE },
    { "embed", required_argument, NULL, OPT_EMBED },
    { "no-normalize", no_argument, NULL, OPT_NO_NORMALIZE },
    { "perplexity", no_argument, NULL, OPT_PERPLEXITY },
    { "imatrix", required_argument, NULL, OPT_IMATRIX },
    { "watch", required_argument, NULL, OPT_WATCH },
    { "watch-dir", required_argument, NULL, OPT_WATCH_DIR },
    { "graph", required_argument, NULL, OPT_GRAPH },
    { "batch", required_argument, NULL, OPT_BATCH },
    { "slots", required_argument, NULL, OPT_SLOTS },
    { "remember", required_argument, NULL, OPT_REMEMBER },
    STATE_LONG_OPTIONS,
    { "file", required_argument, NULL, 'f' },
    { "output", required_argument, NULL, 'o' },
    ENGINE_LONG_OPTIONS,
};

struct options {
    struct engine_options engine;
    struct output_options output;
    const char *input, *output_path;
    struct evaluate_options evaluate;
    struct embed_options embed;
    struct state_options state;
    int32_t n_slots; /* 0: the default */
    bool f16, perplexity;
    const char *imatrix; /* a file to write */
    struct watch_options watch;
};

enum {
    DEFAULT_SLOTS = 8,
    DEFAULT_BATCH = 8,
    MAX_SLOTS = 65536,
    WINDOW = 512, /* ids of a window */
};

static const struct options defaults = { .evaluate.remember = 1 << 22 };

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
        o->f16 = true;
        o->output.encoding = GG_ENCODING_F16;
        break;
    case OPT_SCORE:
        o->output.score = o->evaluate.score = true;
        break;
    case OPT_EMBED:
        o->embed.wanted = true;
        o->embed.kind = cli_choice("--embed", optarg, embed_kinds);
        break;
    case OPT_NO_NORMALIZE:
        o->embed.as_is = true;
        break;
    case OPT_PERPLEXITY:
        o->perplexity = true;
        break;
    case OPT_IMATRIX:
        o->imatrix = optarg;
        break;
    case OPT_BATCH:
        o->evaluate.n_lines = (int32_t)cli_int("--batch", optarg, 1, MAX_SLOTS);
        break;
    case OPT_SLOTS:
        o->n_slots = (int32_t)cli_int("--slots", optarg, 1, MAX_SLOTS);
        break;
    case OPT_REMEMBER:
        o->evaluate.remember =
            cli_int("--remember", optarg, 0, INT64_C(1) << 40);
        break;
    case 'f':
        o->input = optarg;
        break;
    case 'o':
        o->output_path = optarg;
        break;
    default:
        if (!state_set_option(&o->state, c))
            engine_set_option(&o->engine, c, help);
    }
}

static bool
set_watch(struct watch_options *w, int c)
{
    switch (c) {
    case OPT_WATCH:
        w->pattern = optarg;
        return true;
    case OPT_WATCH_DIR:
        w->folder = optarg;
        return true;
    case OPT_GRAPH:
        w->graph = optarg;
        return true;
    default:
        return false;
    }
}

/* Each line of a batch has a slot. */
static void
settle_slots(struct options *o)
{
    int32_t *slots = &o->n_slots, *lines = &o->evaluate.n_lines;

    if (*slots == 0)
        *slots = *lines > DEFAULT_SLOTS ? *lines : DEFAULT_SLOTS;
    if (*lines == 0)
        *lines = *slots < DEFAULT_BATCH ? *slots : DEFAULT_BATCH;
    if (*slots < *lines)
        *slots = *lines;
}

/* What goes with only some of what can be written. */
enum {
    WITH_KEEP = 1 << 0,
    WITH_F16 = 1 << 1,
    WITH_STATE = 1 << 2,
    WITH_SHIFT = 1 << 3,
    WITH_OUTPUT = 1 << 4,
    WITH_WATCH = 1 << 5,
};

/* What can be written in place of logits, and what goes with it. */
struct mode {
    const char *name;
    bool wanted;
    unsigned with;
};

static void
check_with(const struct options *o, const struct mode *m)
{
    const struct mode others[] = {
        { "--keep", o->output.keep, WITH_KEEP },
        { "--f16", o->f16, WITH_F16 },
        { "a state", o->state.load || o->state.save, WITH_STATE },
        { "--shift", o->engine.shift, WITH_SHIFT },
        { "-o", o->output_path, WITH_OUTPUT },
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].wanted && !(m->with & others[i].with))
            cli_misuse("%s does not go with %s", others[i].name, m->name);
}

/* One of them; an encoder is watched while it makes vectors. */
static void
check_modes(const struct options *o)
{
    const struct mode modes[] = {
        { "--top", o->output.top, WITH_STATE | WITH_SHIFT | WITH_OUTPUT },
        { "--score", o->output.score, WITH_SHIFT | WITH_OUTPUT },
        { "--embed", o->embed.wanted, WITH_F16 | WITH_OUTPUT | WITH_WATCH },
        { "--perplexity", o->perplexity, WITH_OUTPUT },
        { "--imatrix", o->imatrix, 0 },
        { "--watch", o->watch.pattern, WITH_SHIFT | WITH_OUTPUT | WITH_WATCH },
        { "--graph", o->watch.graph, WITH_SHIFT },
    };
    const struct mode *first = NULL;

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (!modes[i].wanted)
            continue;
        if (first && !(first->with & modes[i].with & WITH_WATCH))
            cli_misuse("%s and %s do not go together", first->name,
                       modes[i].name);
        check_with(o, &modes[i]);
        first = &modes[i];
    }
    if (o->embed.as_is && !o->embed.wanted)
        cli_misuse("--no-normalize goes with --embed");
    if (o->watch.folder && !o->watch.pattern)
        cli_misuse("--watch-dir goes with --watch");
    if (o->output.keep && o->f16)
        cli_misuse("--keep and --f16 do not go together");
}

/* Windows of a text: one after another in one slot. */
static void
settle_windows(struct options *o)
{
    o->engine.max_ctx = WINDOW;
    o->n_slots = 1;
}

static void
parse_options(int argc, char **argv, struct options *o)
{
    int c;

    while ((c = cli_getopt(argc, argv, "f:o:" ENGINE_LETTERS, long_options)) !=
           -1)
        if (!set_watch(&o->watch, c))
            set_option(o, c);
    if (argc - optind > (o->input ? 0 : 1))
        cli_misuse("%s: one FILE is enough", argv[argc - 1]);
    if (optind < argc)
        o->input = argv[optind];
    check_modes(o);
    o->output.none = o->embed.none = o->watch.pattern || o->watch.graph;
    o->embed.encoding = o->output.encoding;
    if (o->perplexity || o->imatrix)
        settle_windows(o);
    else
        settle_slots(o);
}

/* ---- what is asked for of the open model ----------------------------------
 */

/* Returns the exit status, as what follows does. */
static int
write_records(struct options *o, const struct engine *engine,
              struct state *state, int fd)
{
    struct evaluate e;
    struct output *output = output_new(&o->output, engine->vocab);
    int64_t start;
    bool begun;
    int status;

    if (o->evaluate.n_lines > engine->n_slots)
        o->evaluate.n_lines = engine->n_slots;
    evaluate_init(&e, &o->evaluate, engine, output);
    state_take(state, &e);
    start = ggml_time_us();
    begun = evaluate_lines(&e, fd, cli_input_name(o->input));
    if (o->engine.verbose)
        evaluate_describe(&e, ggml_time_us() - start);
    if (begun)
        state_leave(state, &e);
    status = cli_status(e.failed, e.numbered);
    evaluate_clear(&e);
    output_free(output);
    return status;
}

static int
embed(struct options *o, const struct engine *engine, int fd)
{
    o->embed.n_lines = o->evaluate.n_lines < engine->n_slots
                           ? o->evaluate.n_lines
                           : engine->n_slots;
    return cli_status(
        !embed_run(engine, &o->embed, fd, cli_input_name(o->input)), true);
}

static int
answer(struct options *o, const struct engine *engine, struct imatrix *imatrix,
       struct state *state, int fd)
{
    const char *name = cli_input_name(o->input);

    if (o->perplexity)
        perplexity_run(engine, fd, name, o->engine.quiet);
    else if (imatrix)
        imatrix_run(imatrix, engine, fd, name, o->engine.quiet);
    else if (o->embed.wanted)
        return embed(o, engine, fd);
    else
        return write_records(o, engine, state, fd);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    struct options o = defaults;
    struct imatrix *imatrix = NULL;
    struct watch *watch = NULL;
    struct engine engine;
    struct state state;
    int status, fd;

    cli_start();
    o.engine = engine_options_default();
    parse_options(argc, argv, &o);
    fd = cli_open_input(o.input);
    state_lock(&state, &o.state);
    cli_output(o.imatrix       ? o.imatrix
               : o.watch.graph ? o.watch.graph
                               : o.output_path);
    if (!o.output.top && !o.output.score && !o.output.none && !o.perplexity)
        cli_refuse_terminal();
    if (o.imatrix) {
        imatrix = imatrix_new();
        o.engine.watch = imatrix_watch;
        o.engine.watch_data = imatrix;
    }
    if (o.output.none) {
        watch = watch_new(&o.watch);
        o.engine.watch = watch_see;
        o.engine.watch_data = watch;
    }
    engine_open(&engine, &o.engine, o.n_slots, false);
    if (gg_model_is_encoder(engine.model) && !o.embed.wanted)
        cli_die("%s: an encoder, which has no logits: see --embed",
                engine.path);
    status = answer(&o, &engine, imatrix, &state, fd);
    engine_close(&engine);
    imatrix_free(imatrix);
    if (cli_signal())
        cli_raise(cli_signal());
    if (watch)
        watch_end(watch);
    watch_free(watch);
    return cli_finish(status);
}
