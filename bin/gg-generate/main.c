/* main.c - gg-generate: a prompt -> its continuation, in one process */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/engine.h"
#include "common/sampling.h"

const char cli_name[] = "gg-generate";

static const char help[] =
    "Usage: gg-generate [OPTION]... [FILE]\n"
    "Continue the text of FILE, or of standard input.\n"
    "\n"
    "  -p, --prompt TEXT       continue TEXT\n"
    "  -f, --file FILE         continue the text of FILE\n" SAMPLING_HELP
    "      --bos, --no-bos     put the vocabulary's BOS first, or nothing\n"
    "      --echo              write the prompt, too\n"
    "      --special           control tokens stand in texts as their names\n"
    "  -o, --output FILE       write to FILE\n" ENGINE_HELP;

enum {
    OPT_BOS = 256,
    OPT_NO_BOS,
    OPT_ECHO,
    OPT_SPECIAL,
};

static const struct option long_options[] = {
    { "prompt", required_argument, NULL, 'p' },
    { "file", required_argument, NULL, 'f' },
    SAMPLING_LONG_OPTIONS,
    { "bos", no_argument, NULL, OPT_BOS },
    { "no-bos", no_argument, NULL, OPT_NO_BOS },
    { "echo", no_argument, NULL, OPT_ECHO },
    { "special", no_argument, NULL, OPT_SPECIAL },
    { "output", required_argument, NULL, 'o' },
    ENGINE_LONG_OPTIONS,
};

struct options {
    struct engine_options engine;
    struct sampling_options sampling;
    const char *prompt, *input, *output;
    bool echo, special;
    int bos; /* OPT_BOS, OPT_NO_BOS, or 0: as the model wants it */
};

/* Everything while the tool runs. */
struct generate {
    struct options *o;
    struct engine engine;
    struct gg_sampler *sampler;
    float *logits;
    struct gg_decode_state decode;
    char *piece; /* scratch */
    size_t piece_cap;
    size_t n_prompt, n_made;  /* ids */
    int64_t t_prompt, t_made; /* microseconds of evaluation */
};

/* ---- options ------------------------------------------------------------ */

static void
set_option(struct options *o, int c)
{
    switch (c) {
    case 'p':
        o->prompt = optarg;
        break;
    case 'f':
        o->input = optarg;
        break;
    case 'o':
        o->output = optarg;
        break;
    case OPT_BOS:
    case OPT_NO_BOS:
        o->bos = c;
        break;
    case OPT_ECHO:
        o->echo = true;
        break;
    case OPT_SPECIAL:
        o->special = true;
        break;
    default:
        if (!sampling_set_option(&o->sampling, c))
            engine_set_option(&o->engine, c, help);
    }
}

static void
parse_options(int argc, char **argv, struct options *o)
{
    static const char letters[] = "p:f:o:" SAMPLING_LETTERS ENGINE_LETTERS;
    int c;

    while ((c = cli_getopt(argc, argv, letters, long_options)) != -1)
        set_option(o, c);
    if (optind < argc && (o->prompt || o->input || optind + 1 < argc))
        cli_misuse("%s: one prompt is enough", argv[argc - 1]);
    if (optind < argc)
        o->input = argv[optind];
    if (o->prompt && o->input)
        cli_misuse("-p and a FILE are two prompts; one is enough");
}

/* ---- prompt ------------------------------------------------------------- */

static int32_t *
encode(struct generate *g, const char *text, size_t len, size_t *n)
{
    const struct gg_vocab *v = g->engine.vocab;
    bool bos = g->o->bos ? g->o->bos == OPT_BOS : gg_vocab_add_bos(v);
    unsigned flags =
        (bos ? GG_ENCODE_BOS : 0) | (g->o->special ? GG_ENCODE_SPECIAL : 0);
    int32_t *ids = NULL;
    struct gg_error err;
    size_t cap = 0;

    *n = len / 2 + 16;
    while (*n > cap) {
        cap = *n;
        ids = cli_alloc(ids, cap, sizeof(*ids));
        cli_check(gg_vocab_encode(v, text, len, flags, ids, cap, n, &err),
                  &err);
    }
    return ids;
}

static int32_t *
read_prompt(struct generate *g, size_t *n)
{
    const struct options *o = g->o;
    const char *name = cli_input_name(o->input);
    size_t len = o->prompt ? strlen(o->prompt) : 0;
    char *read = NULL;
    const char *text = o->prompt;
    int32_t *ids;

    if (!text)
        text = read = cli_read_all(cli_open_input(o->input), name, &len);
    ids = encode(g, text, len, n);
    if (*n == 0 || (len == 0 && o->bos != OPT_BOS))
        cli_die("%s: the prompt is empty", o->prompt ? "-p" : name);
    if (o->echo) {
        fwrite(text, 1, len, stdout);
        cli_flush();
    }
    free(read);
    return ids;
}

/* ---- the loop ----------------------------------------------------------- */

static void
write_id(struct generate *g, int32_t id)
{
    struct gg_error err;
    struct gg_decode_state next;
    unsigned flags = g->o->special ? GG_DECODE_SPECIAL : 0;
    size_t n;

    for (;;) {
        next = g->decode;
        cli_check(gg_vocab_decode(g->engine.vocab, &next, id, flags, g->piece,
                                  g->piece_cap, &n, &err),
                  &err);
        if (n <= g->piece_cap)
            break;
        g->piece = cli_alloc(g->piece, n, 1);
        g->piece_cap = n;
    }
    g->decode = next;
    fwrite(g->piece, 1, n, stdout);
    cli_flush();
}

/* False: there is no room in the context, or a signal came. */
static bool
evaluate(struct generate *g, const int32_t *ids, size_t n)
{
    struct gg_chunk chunk = { 0, ids, n, g->logits };
    struct gg_error err;
    enum gg_status st = gg_session_eval(g->engine.session, &chunk, 1, &err);

    if (st == GG_ERR_CONTEXT && (g->n_made == 0 || g->o->sampling.count))
        cli_check(st, &err); /* less than what was asked for */
    if (st == GG_ERR_CONTEXT && !g->o->engine.quiet)
        cli_warn("stopped: %s", err.message);
    if (st == GG_ERR_CONTEXT || (st == GG_ERR_ABORTED && cli_signal()))
        return false;
    cli_check(st, &err);
    return true;
}

static int32_t
draw(struct generate *g)
{
    size_t n = (size_t)gg_model_n_vocab(g->engine.model);
    uint64_t position = (uint64_t)gg_session_length(g->engine.session, 0);
    struct gg_error err;
    int32_t id;

    if (g->o->sampling.ignore_eog) {
        size_t n_eog;
        const int32_t *eog = gg_vocab_eog_ids(g->engine.vocab, &n_eog);

        sampling_exclude(g->logits, NULL, n, eog, n_eog);
    }
    cli_check(
        gg_sampler_draw(g->sampler, NULL, g->logits, n, 0, position, &id, &err),
        &err);
    return id;
}

static void
generate(struct generate *g, const int32_t *prompt, size_t n)
{
    int64_t start = ggml_time_us();
    bool more = evaluate(g, prompt, n);
    int32_t id;

    g->n_prompt = n;
    g->t_prompt = ggml_time_us() - start;
    start = ggml_time_us();
    while (more && !cli_signal()) {
        id = draw(g);
        write_id(g, id);
        g->n_made++;
        more = !gg_vocab_is_eog(g->engine.vocab, id) &&
               g->n_made != g->o->sampling.count && evaluate(g, &id, 1);
    }
    g->t_made = ggml_time_us() - start;
}

static double
rate(uint64_t n, int64_t us)
{
    return us > 0 ? (double)n * 1e6 / (double)us : 0;
}

static void
describe(const struct generate *g)
{
    cli_warn("prompt: %" PRIu64 " ids in %.3f s, %.1f/s", g->n_prompt,
             (double)g->t_prompt / 1e6, rate(g->n_prompt, g->t_prompt));
    cli_warn("made: %" PRIu64 " ids in %.3f s, %.1f/s", g->n_made,
             (double)g->t_made / 1e6, rate(g->n_made, g->t_made));
}

static void
run(struct generate *g)
{
    int32_t *ids;
    size_t n;

    g->sampler = sampling_start(&g->o->sampling, g->o->engine.verbose);
    g->logits = cli_alloc(NULL, (size_t)gg_model_n_vocab(g->engine.model),
                          sizeof(*g->logits));
    ids = read_prompt(g, &n);
    generate(g, ids, n);
    if (g->o->engine.verbose)
        describe(g);
    free(ids);
    free(g->logits);
    free(g->piece);
    gg_sampler_free(g->sampler);
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };
    struct generate g = { .o = &o };

    cli_start();
    o.engine = engine_options_default();
    o.sampling = sampling_options_default();
    parse_options(argc, argv, &o);
    cli_output(o.output);
    cli_catch_signals();
    engine_open(&g.engine, &o.engine, 1, true);
    run(&g);
    engine_close(&g.engine);
    if (cli_signal())
        cli_raise(cli_signal());
    return cli_finish(EXIT_SUCCESS);
}
