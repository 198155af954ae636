/* embed.c - each line of ids becomes a vector that stands for its text */
#include <config.h>

#include "gg-eval/embed.h"

#include <gg-engine.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/ranker.h"
#include "gg-eval/lines.h"

/* A line that was read; sequence, vector and message are room that stays. */
struct text {
    struct gg_line line; /* its ids are the sequence's */
    struct gg_sequence *sequence;
    float *vector;
    size_t cap;        /* values that it has room for */
    char message[256]; /* why there is none; empty: there is */
};

struct embed {
    const struct embed_options *o;
    const struct engine *engine;
    enum gg_pooling pooling;
    int32_t n_values; /* of a vector */
    struct ranker ranker;
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

/* Number of vectors of one text. */
static size_t
n_vectors(const struct embed *e, const struct text *t)
{
    return e->pooling == GG_POOL_NONE ? t->line.n_ids : 1;
}

static void
make_room(const struct embed *e, struct text *t)
{
    size_t n = n_vectors(e, t) * (size_t)e->n_values;

    if (n > t->cap)
        t->vector = cli_alloc(t->vector, t->cap = n, sizeof(*t->vector));
}

static void
check_vector(struct embed *e, struct text *t)
{
    size_t n = n_vectors(e, t) * (size_t)e->n_values;

    for (size_t i = 0; i < n && !t->message[0]; i++)
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

static struct gg_query
ask(const struct embed *e, struct text *t)
{
    struct gg_query q = { .sequence = t->sequence };

    make_room(e, t);
    if (e->o->rank) {
        ranker_ask(&e->ranker, t->vector, &q);
    } else {
        q.embed.values = t->vector;
        q.embed.pooling = e->pooling;
    }
    return q;
}

static void
evaluate(struct embed *e)
{
    struct gg_error err;
    size_t n = 0;

    for (int32_t i = 0; i < e->n; i++)
        if (is_text(&e->texts[i]))
            e->queries[n++] = ask(e, &e->texts[i]);
    cli_check(gg_engine_eval(e->engine->gg, e->queries, n, &err), &err);
    for (int32_t i = 0; i < e->n; i++)
        if (is_text(&e->texts[i]))
            check_vector(e, &e->texts[i]);
}

/* ---- scores -------------------------------------------------------------- */

static void
put_scores(struct embed *e, const struct text *t)
{
    double *x = cli_alloc(NULL, (size_t)e->n_values, sizeof(*x));
    int32_t n = ranker_score(&e->ranker, t->vector, x);

    for (int32_t i = 0; i < n && e->o->sigmoid; i++)
        x[i] = 1 / (1 + exp(-x[i]));
    output_rank(e->output, &t->line, x, n);
    free(x);
}

static void
choose_scores(struct embed *e)
{
    struct gg_error err;

    cli_check(ranker_choose(&e->ranker, e->engine, &err), &err);
    e->pooling = GG_POOL_RANK;
    e->n_values = e->ranker.n_values;
}

/* ---- records ------------------------------------------------------------- */

static void
put_vectors(struct embed *e, struct text *t)
{
    int32_t dims = e->o->dims ? e->o->dims : e->n_values;
    size_t n = n_vectors(e, t);
    struct gg_line line = t->line;

    for (size_t i = 0; i < n; i++) {
        float *x = t->vector + i * (size_t)e->n_values;

        if (!e->o->as_is)
            normalise(x, dims);
        if (n > 1) {
            line.ids = t->line.ids + i;
            line.n_ids = 1;
        }
        output_embedding(e->output, &line, n > 1 ? i + 1 : t->line.n_ids, x);
    }
}

static void
write_embedding(struct embed *e, struct text *t)
{
    if (t->message[0])
        output_error(e->output, &t->line, t->message);
    else if (!is_text(t))
        output_close(e->output, &t->line);
    else if (e->o->rank)
        put_scores(e, t);
    else
        put_vectors(e, t);
}

static void
embed_texts(void *data)
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
    struct gg_error err;

    e->texts = cli_alloc(NULL, n, sizeof(*e->texts));
    e->queries = cli_alloc(NULL, n, sizeof(*e->queries));
    for (size_t i = 0; i < n; i++) {
        struct text *t = &e->texts[i];

        *t = (struct text){ 0 };
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

static void
choose_length(struct embed *e)
{
    const struct engine *engine = e->engine;
    int32_t dims = e->o->dims;

    e->n_values = gg_model_vector_length(engine->model, e->pooling);
    if (dims > e->n_values)
        cli_die("%s: --dims %d, but an embedding has %d values", engine->path,
                (int)dims, (int)e->n_values);
    output_set_values(e->output, (size_t)(dims ? dims : e->n_values));
}

bool
embed_run(const struct engine *engine, const struct embed_options *o,
          int32_t n_lines, struct output *output, int fd, const char *name)
{
    struct embed e = {
        .o = o, .engine = engine, .output = output, .n_lines = n_lines
    };
    const struct lines lines = { .name = name,
                                 .engine = engine,
                                 .add = add_line,
                                 .is_full = is_full,
                                 .run = embed_texts,
                                 .data = &e,
                                 .output = output,
                                 .shard = &o->shard };
    struct gg_error err;

    if (o->rank)
        choose_scores(&e);
    else if (o->kind == EMBED_MODEL)
        cli_check(gg_model_pooling(engine->model, &e.pooling, &err), &err);
    else
        e.pooling = (enum gg_pooling)o->kind;
    if (!o->rank)
        choose_length(&e);
    open_texts(&e);
    (void)lines_run(&lines, fd);
    close_texts(&e);
    return !e.failed;
}
