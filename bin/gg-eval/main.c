/* main.c - gg-eval: token ids -> logits */
#include <config.h>

#include <ggml.h>
#include <stdlib.h>

#include "gg-eval/embed.h"
#include "gg-eval/evaluate.h"
#include "gg-eval/imatrix.h"
#include "gg-eval/options.h"
#include "gg-eval/perplexity.h"
#include "gg-eval/state.h"
#include "gg-eval/watch.h"

const char cli_name[] = "gg-eval";

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
    struct options o;
    struct imatrix *imatrix = NULL;
    struct watch *watch = NULL;
    struct engine engine;
    struct state state;
    int status, fd;

    cli_start();
    eval_parse(argc, argv, &o);
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
