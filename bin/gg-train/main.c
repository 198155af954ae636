/* main.c - gg-train: a model or an adapter from sequences of ids */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/chat.h"
#include "common/files.h"
#include "gg-train/train.h"

const char cli_name[] = "gg-train";

static struct added
add_file(struct gg_train *train, enum gg_train_part part, const char *path,
         const struct train_options_of_tool *o)
{
    struct added a = o->jsonl ? conversations_add(train, part, path, o)
                              : sequences_add(train, part, path, o);

    if (!o->quiet)
        report_idle(path, &a, o->jsonl);
    return a;
}

static struct gg_train *
start(struct train_options_of_tool *o)
{
    struct added added;
    struct gg_train *train;
    struct gg_error err;

    o->model = cli_model(o->model, o->quiet);
    o->params.abort = cli_aborted;
    cli_check(gg_train_open(o->model, &o->params, &train, &err), &err);
    added = add_file(train, GG_TRAIN_SET, o->input, o);
    if (o->held_out)
        add_file(train, GG_TRAIN_HELD_OUT, o->held_out, o);
    cli_check(gg_train_start(train, &err), &err);
    if (!o->quiet && !o->dry_run)
        report_data(train, &added, o);
    return train;
}

/* -v */
static void
tell_memory(const struct gg_train *train)
{
    struct gg_train_memory m = gg_train_memory(train);
    struct gg_train_state s = gg_train_state(train);

    cli_warn("%" PRIu64 " parameters, %" PRIu64 " targets in %" PRIu64
             " rows, %" PRId64 " steps",
             m.n_parameters, m.n_targets, m.n_rows, s.n_steps);
    cli_warn("%" PRIu64 " MB: weights, gradients and moments %" PRIu64
             ", activations %" PRIu64 " in windows: %d",
             (m.weights + m.gradients + m.moments + m.activations) / 1000000,
             (m.weights + m.gradients + m.moments) / 1000000,
             m.activations / 1000000, (int)m.n_windows);
}

/* ---- checkpoints --------------------------------------------------------- */

static void
save(const struct gg_train *train, const struct train_options_of_tool *o)
{
    FILE *f = o->checkpoint ? cli_open_aside(o->checkpoint) : NULL;
    struct gg_error err;

    if (f && gg_train_write_checkpoint(train, f, &err) != GG_OK)
        cli_die("%s: %s", o->checkpoint, err.message);
    if (f)
        cli_close_aside(o->checkpoint, f);
}

/* Whether there was one. */
static bool
resume(struct gg_train *train, const struct train_options_of_tool *o)
{
    struct gg_error err;

    if (!o->checkpoint || access(o->checkpoint, F_OK) != 0)
        return false;
    cli_check(gg_train_load(train, o->checkpoint, &err), &err);
    if (!o->quiet)
        cli_warn("%s: going on after step %" PRId64, o->checkpoint,
                 gg_train_state(train).step);
    return true;
}

/* Keeps the training that a signal interrupts. */
static void
stop(const struct gg_train *train, const struct train_options_of_tool *o,
     struct report *report)
{
    save(train, o);
    report_end(report);
    cli_raise(cli_signal());
}

/* ---- the run ------------------------------------------------------------- */

static void
evaluate(struct gg_train *train, const struct train_options_of_tool *o,
         struct report *report)
{
    struct gg_error err;
    uint64_t n;
    double loss;

    if (!o->held_out)
        return;
    if (!cli_finished(gg_train_evaluate(train, &loss, &n, &err), &err))
        stop(train, o, report);
    report_held_out(report, gg_train_state(train).step, loss, n);
}

static bool
is_due(int64_t step, int64_t every)
{
    return every > 0 && step % every == 0;
}

static void
train_to_end(struct gg_train *train, const struct train_options_of_tool *o)
{
    struct report report;
    struct gg_train_state s;

    report_start(&report, o, resume(train, o));
    s = gg_train_state(train);
    while (s.step < s.n_steps) {
        struct gg_train_report step;
        struct gg_error err;

        if (!cli_finished(gg_train_step(train, &step, &err), &err))
            stop(train, o, &report);
        s = gg_train_state(train);
        report_step(&report, &s, &step);
        if (is_due(s.step, o->save_every) || s.step == s.n_steps)
            save(train, o);
        if (is_due(s.step, o->evaluate_every) && s.step < s.n_steps)
            evaluate(train, o, &report);
    }
    evaluate(train, o, &report);
    report_end(&report);
}

static void
write_result(const struct gg_train *train, const char *output)
{
    bool is_file = output && strcmp(output, "-") != 0;
    struct gg_error err;
    enum gg_status st = gg_train_write(train, stdout, &err);

    if (st == GG_ERR_IO)
        cli_die("%s: %s", is_file ? output : "standard output", err.message);
    cli_check(st, &err);
}

int
main(int argc, char **argv)
{
    struct train_options_of_tool o;
    struct gg_train *train;

    cli_start();
    options_parse(argc, argv, &o);
    if (!o.dry_run) {
        cli_output(o.output);
        cli_refuse_terminal();
    }
    cli_catch_signals();
    train = start(&o);
    if (o.dry_run) {
        report_memory(train, &o);
    } else {
        if (o.verbose)
            tell_memory(train);
        train_to_end(train, &o);
        write_result(train, o.output);
    }
    gg_train_free(train);
    chat_template_clear(o.chat);
    return cli_finish(EXIT_SUCCESS);
}
