/* main.c - gg-eval: token ids -> logits */
#include <config.h>

#include <ggml.h>
#include <stdlib.h>

#include "gg-eval/imatrix.h"
#include "gg-eval/options.h"
#include "gg-eval/state.h"

const char cli_name[] = "gg-eval";

struct job {
    struct options o;
    struct engine engine;
    struct state state;
    const char *name; /* of the input */
    int fd;
    struct output *output;
    struct imatrix *imatrix; /* of what is computed; or NULL */
    struct watch *watch;
};

/* ---- modes: each returns the exit status ---- */

static int
write_records(struct job *j)
{
    struct evaluate e;
    int64_t start;
    bool begun;
    int status;

    evaluate_init(&e, &j->o.evaluate, &j->engine, j->output);
    state_take(&j->state, &e);
    start = ggml_time_us();
    begun = evaluate_lines(&e, j->fd, j->name);
    if (j->o.engine.verbose)
        evaluate_describe(&e, ggml_time_us() - start);
    if (begun)
        state_leave(&j->state, &e);
    status = cli_status(e.failed, e.numbered);
    evaluate_clear(&e);
    return status;
}

static int
write_embeddings(struct job *j)
{
    return cli_status(!embed_run(&j->engine, &j->o.embed, j->o.evaluate.n_lines,
                                 j->output, j->fd, j->name),
                      true);
}

static int
write_perplexity(struct job *j)
{
    perplexity_run(&j->engine, &j->o.perplexity, j->fd, j->name,
                   j->o.engine.quiet);
    return EXIT_SUCCESS;
}

static int
write_quiz(struct job *j)
{
    quiz_run(&j->engine, &j->o.quiz, j->fd, j->name);
    return EXIT_SUCCESS;
}

static int
write_labels(struct job *j)
{
    return cli_status(!classify_run(&j->engine, &j->o.classify,
                                    j->o.evaluate.n_lines, j->output, j->fd,
                                    j->name),
                      true);
}

static int
write_imatrix(struct job *j)
{
    imatrix_run(j->imatrix, &j->engine, j->o.engine.pipeline, j->fd, j->name,
                j->o.engine.quiet);
    return EXIT_SUCCESS;
}

static const struct mode {
    int (*run)(struct job *j);
    bool takes_encoders;
} modes[] = {
    [EVAL_RECORDS] = { write_records, false },
    [EVAL_EMBED] = { write_embeddings, true },
    [EVAL_PERPLEXITY] = { write_perplexity, false },
    [EVAL_IMATRIX] = { write_imatrix, false },
    [EVAL_QUIZ] = { write_quiz, false },
    [EVAL_CLASSIFY] = { write_labels, true },
};

/* ---- all of it ---- */

/* The callback for computed tensors, which other ranks need, too. */
static void
choose_watch(struct job *j)
{
    struct engine_options *o = &j->o.engine;

    if (j->o.mode == EVAL_IMATRIX) {
        o->watch = imatrix_watch;
        o->answer = imatrix_answer;
        o->watch_data = j->imatrix = imatrix_new();
    } else if (j->o.output.none) {
        o->watch = watch_see;
    }
}

static void
begin_job(struct job *j)
{
    j->fd = cli_open_input(j->o.input);
    j->name = cli_input_name(j->o.input);
    state_lock(&j->state, &j->o.state);
    cli_output(j->o.output_path);
    if (!j->o.writes_text)
        cli_refuse_terminal();
    if (j->o.output.none)
        j->o.engine.watch_data = j->watch = watch_new(&j->o.watch);
    engine_open(&j->engine, &j->o.engine, j->o.n_slots, false);
    if (gg_model_is_encoder(j->engine.model) &&
        !modes[j->o.mode].takes_encoders)
        cli_die("%s: an encoder, which has no logits: see --embed",
                j->engine.path);
    if (j->o.evaluate.n_lines > j->engine.n_slots)
        j->o.evaluate.n_lines = j->engine.n_slots;
    j->output = output_new(&j->o.output, &j->engine);
}

static void
end_job(struct job *j)
{
    output_free(j->output);
    engine_close(&j->engine);
    adapters_clear(&j->o.engine.adapters);
    engine_leave();
    state_clear(&j->state);
    imatrix_free(j->imatrix);
    if (cli_signal())
        cli_raise(cli_signal());
    if (j->watch)
        watch_end(j->watch);
    watch_free(j->watch);
}

int
main(int argc, char **argv)
{
    struct job j = { .fd = -1 };
    int status;

    cli_start();
    eval_parse(argc, argv, &j.o);
    choose_watch(&j);
    engine_join(&j.o.engine);
    begin_job(&j);
    status = modes[j.o.mode].run(&j);
    end_job(&j);
    return cli_finish(status);
}
