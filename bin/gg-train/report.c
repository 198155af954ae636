/* report.c - losses on standard error, on a terminal's bar, and in the log */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <ggml.h>
#include <inttypes.h>
#include <math.h>

#include "common/files.h"
#include "gg-train/train.h"

enum {
    FEW_STEPS = 10, /* less than this learn little */
};

static const char *
plural(double n)
{
    return n == 1 ? "" : "s";
}

void
report_idle(const char *path, const struct added *a, bool jsonl)
{
    if (a->n_idle > 0)
        cli_warn("%s: nothing to learn in %" PRIu64 " of %" PRIu64
                 " %s%s: the first is %s %" PRIu64,
                 cli_input_name(path), a->n_idle, a->n,
                 jsonl ? "conversation" : "sequence", plural((double)a->n),
                 jsonl ? "on line" : "number", a->first_idle);
}

void
report_data(const struct gg_train *train, const struct added *a,
            const struct train_options_of_tool *o)
{
    struct gg_train_memory m = gg_train_memory(train);
    int64_t n = gg_train_state(train).n_steps;
    double epochs = o->params.epochs > 0 ? o->params.epochs : 1;
    char in[48] = "";

    if (o->params.n_steps == 0)
        snprintf(in, sizeof(in), " in %g epoch%s", epochs, plural(epochs));
    cli_warn("%" PRIu64 " sequence%s, %" PRIu64 " ids in %" PRIu64
             " row%s of %d: %" PRId64 " step%s%s%s",
             a->n, plural((double)a->n), a->n_ids, m.n_rows,
             plural((double)m.n_rows), (int)m.n_ctx, n, plural((double)n), in,
             *in && n < FEW_STEPS ? "; -c, -b or --epochs give more" : "");
}

/* A run that goes on adds to its log. */
static FILE *
open_log(const char *path, bool resumed)
{
    int fd = files_open(path, O_WRONLY | O_CREAT | O_CLOEXEC |
                                  (resumed ? O_APPEND : O_TRUNC));
    FILE *f = fdopen(fd, "a");

    if (!f)
        cli_die("%s: %s", path, strerror(errno));
    setvbuf(f, NULL, _IOLBF, 0);
    return f;
}

void
report_start(struct report *r, const struct train_options_of_tool *o,
             bool resumed)
{
    *r = (struct report){ .o = o, .start = ggml_time_us() };
    if (o->log)
        r->log = open_log(o->log, resumed);
    ticker_start(&r->ticker, o->quiet);
}

static void
say_step(struct report *r, const struct gg_train_state *s,
         const struct gg_train_report *step)
{
    double seconds = (double)(ggml_time_us() - r->start) * 1e-6;

    cli_warn("step %" PRId64 " of %" PRId64 ": loss %.4f, rate %.3g, norm "
             "%.3g, %.0f ids/s",
             s->step, s->n_steps, r->loss / (double)r->n_steps, step->rate,
             step->norm, seconds > 0 ? (double)r->n_targets / seconds : 0);
    r->loss = 0;
    r->n_steps = r->n_targets = 0;
    r->start = ggml_time_us();
}

void
report_step(struct report *r, const struct gg_train_state *s,
            const struct gg_train_report *step)
{
    char name[48];

    r->loss += step->loss;
    r->n_targets += step->n_targets;
    r->n_steps++;
    if (r->log)
        fprintf(
            r->log,
            "{\"step\":%" PRId64 ",\"epoch\":%" PRIu64
            ",\"loss\":%.9g,\"norm\":%.9g,\"rate\":%.9g,\"targets\":%" PRIu64
            "}\n",
            s->step, s->epoch, step->loss, step->norm, step->rate,
            step->n_targets);
    if (r->o->quiet)
        return;
    if (s->step % r->o->log_every == 0 || s->step == s->n_steps)
        say_step(r, s, step);
    snprintf(name, sizeof(name), "loss %.4f", step->loss);
    ticker_show_part(&r->ticker, (uint64_t)s->step, (uint64_t)s->n_steps, name);
}

void
report_held_out(struct report *r, int64_t step, double loss, uint64_t n_targets)
{
    if (r->log)
        fprintf(r->log,
                "{\"step\":%" PRId64
                ",\"held_out_loss\":%.9g,\"targets\":%" PRIu64 "}\n",
                step, loss, n_targets);
    if (!r->o->quiet)
        cli_warn("step %" PRId64 ": held-out loss %.4f, of %" PRIu64 " ids",
                 step, loss, n_targets);
}

void
report_end(struct report *r)
{
    bool lost = r->log && ferror(r->log); /* a line, some time ago */

    ticker_end(&r->ticker);
    errno = 0;
    if (r->log && (fclose(r->log) || lost))
        cli_die("%s: %s", r->o->log, errno ? strerror(errno) : "write error");
}

static void
put_memory_line(const char *what, uint64_t bytes)
{
    printf("%s\t%" PRIu64 "\n", what, bytes);
}

void
report_memory(const struct gg_train *train,
              const struct train_options_of_tool *o)
{
    struct gg_train_memory m = gg_train_memory(train);
    struct gg_train_state s = gg_train_state(train);

    (void)o;
    printf("parameters\t%" PRIu64 "\n", m.n_parameters);
    printf("rows\t%" PRIu64 "\n", m.n_rows);
    printf("targets\t%" PRIu64 "\n", m.n_targets);
    printf("steps\t%" PRId64 "\n", s.n_steps);
    printf("windows\t%d\n", (int)m.n_windows);
    put_memory_line("weights", m.weights);
    put_memory_line("gradients", m.gradients);
    put_memory_line("moments", m.moments);
    put_memory_line("activations", m.activations);
    put_memory_line("all", m.weights + m.gradients + m.moments + m.activations);
}
