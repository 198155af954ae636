/* embed.c - each line of ids becomes a vector that stands for its text */
#include <config.h>

#include "gg-eval/embed.h"

#include <gg-engine.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gg-eval/lines.h"

/* A line that was read; sequence, vector and message are room that stays. */
struct text {
    struct gg_line line; /* its ids are the sequence's */
    struct gg_sequence *sequence;
    float *vector;
    char message[256]; /* why there is none; empty: there is */
};

struct embed {
    const struct embed_options *o;
    const struct engine *engine;
    enum gg_pooling pooling;
    struct output *output;
    struct text *texts;
    struct gg_query *queries; /* scratch */
    int32_t n, n_lines;       /* that were read; there is room for */
    bool failed;              /* some line */
};

/* ---- what was read ------------------------------------------------------- */

/* All of a text is a sequence, which begins anew in its slot: nothing is
 * shared. Ids that have no vector leave a message. */
static void
put_ids(const struct embed *e, struct text *t)
{
    size_t n_ctx = (size_t)gg_session_n_ctx(e->engine->session), n;
    struct gg_error err;
    enum gg_status st;

    gg_sequence_truncate(t->sequence, 0);
    st = gg_sequence_put(t->sequence, t->line.ids, t->line.n_ids, &err);
    if (t->line.n_ids == 0)
        snprintf(t->message, sizeof(t->message), "a text without ids");
    else if (st == GG_ERR_CONTEXT)
        snprintf(t->message, sizeof(t->message),
                 "%zu ids are above the context of %zu", t->line.n_ids, n_ctx);
    else if (st == GG_ERR_ARG)
        snprintf(t->message, sizeof(t->message), "%.255s", err.message);
    else
        cli_check(st, &err);
    t->line.ids = gg_sequence_ids(t->sequence, &n);
}

static bool
add_line(void *data, const struct gg_line *line)
{
    struct embed *e = data;
    struct text *t = &e->texts[e->n++];

    t->line = *line;
    t->message[0] = '\0';
    if (line->kind == GG_LINE_ERROR) {
        snprintf(t->message, sizeof(t->message), "%s", line->message);
    } else if (line->kind == GG_LINE_IDS) {
        put_ids(e, t);
    }
    e->failed = e->failed || t->message[0];
    return true;
}

static bool
is_full(const void *data)
{
    const struct embed *e = data;

    return e->n == e->n_lines;
}

static bool
is_text(const struct text *t)
{
    return t->line.kind == GG_LINE_IDS && !t->message[0];
}

/* ---- vectors ------------------------------------------------------------- */

static void
check_vector(struct embed *e, struct text *t)
{
    int32_t n = gg_model_n_embd(e->engine->model);

    for (int32_t i = 0; i < n && !t->message[0]; i++)
        if (!isfinite(t->vector[i]))
            snprintf(t->message, sizeof(t->message),
                     "the vector is not one of numbers");
    e->failed = e->failed || t->message[0];
}

/* To length 1, if it has one. */
static void
normalise(float *x, int32_t n)
{
    double sum = 0;

    for (int32_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    for (int32_t i = 0; i < n && sum > 0; i++)
        x[i] = (float)((double)x[i] / sqrt(sum));
}

static void
evaluate(struct embed *e)
{
    struct gg_error err;
    size_t n = 0;

    for (int32_t i = 0; i < e->n; i++) {
        struct text *t = &e->texts[i];

        if (!is_text(t))
            continue;
        e->queries[n++] = (struct gg_query){ .sequence = t->sequence,
                                             .embed.values = t->vector,
                                             .embed.pooling = e->pooling };
    }
    cli_check(gg_engine_eval(e->engine->gg, e->queries, n, &err), &err);
    for (int32_t i = 0; i < e->n; i++)
        if (is_text(&e->texts[i]))
            check_vector(e, &e->texts[i]);
}

/* ---- records ------------------------------------------------------------- */

static void
write_embedding(struct embed *e, struct text *t)
{
    if (t->message[0]) {
        output_error(e->output, &t->line, t->message);
    } else if (is_text(t)) {
        if (!e->o->as_is)
            normalise(t->vector, gg_model_n_embd(e->engine->model));
        output_embedding(e->output, &t->line, t->vector);
    } else {
        output_close(e->output, &t->line);
    }
}

static void
run(void *data)
{
    struct embed *e = data;

    evaluate(e);
    for (int32_t i = 0; i < e->n; i++)
        write_embedding(e, &e->texts[i]);
    e->n = 0;
}

/* ---- life ---------------------------------------------------------------- */

/* A slot for each of the texts that are evaluated together. */
static void
open_texts(struct embed *e)
{
    size_t n = (size_t)e->n_lines;
    size_t n_embd = (size_t)gg_model_n_embd(e->engine->model);
    struct gg_error err;

    e->texts = cli_alloc(NULL, n, sizeof(*e->texts));
    e->queries = cli_alloc(NULL, n, sizeof(*e->queries));
    for (size_t i = 0; i < n; i++) {
        struct text *t = &e->texts[i];

        *t = (struct text){ .vector =
                                cli_alloc(NULL, n_embd, sizeof(*t->vector)) };
        cli_check(gg_sequence_new(e->engine->gg, &t->sequence, &err), &err);
    }
}

static void
close_texts(struct embed *e)
{
    for (int32_t i = 0; i < e->n_lines; i++) {
        gg_sequence_free(e->texts[i].sequence);
        free(e->texts[i].vector);
    }
    free(e->texts);
    free(e->queries);
}

bool
embed_run(const struct engine *engine, const struct embed_options *o,
          int32_t n_lines, struct output *output, int fd, const char *name)
{
    struct embed e = {
        .o = o, .engine = engine, .output = output, .n_lines = n_lines
    };
    const struct lines lines = { .name = name,
                                 .add = add_line,
                                 .is_full = is_full,
                                 .run = run,
                                 .data = &e,
                                 .output = output };
    struct gg_error err;

    if (o->kind == EMBED_MODEL)
        cli_check(gg_model_pooling(engine->model, &e.pooling, &err), &err);
    else
        e.pooling = (enum gg_pooling)o->kind;
    open_texts(&e);
    (void)lines_run(&lines, fd);
    close_texts(&e);
    return !e.failed;
}
