/* embed.c - each line of ids becomes a vector that stands for its text */
#include <config.h>

#include "gg-eval/embed.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gg-eval/output.h"

const char *const embed_kinds[] = { "mean", "last", "cls", "model", NULL };

/* A line that was read; ids, vector and message are room that stays. */
struct text {
    struct gg_line line;
    int32_t *ids;
    size_t cap;
    float *vector;
    char message[256]; /* why there is none; empty: there is */
};

struct embed {
    const struct embed_options *o;
    const struct engine *engine;
    enum gg_pooling pooling;
    struct gg_logit_writer *writer;
    struct text *texts; /* o->n_lines */
    struct gg_chunk *chunks;
    int32_t n;
    bool failed; /* some line */
};

/* ---- what was read ------------------------------------------------------- */

static void
keep_ids(struct text *t)
{
    if (t->line.n_ids > t->cap) {
        t->cap = 2 * t->line.n_ids;
        t->ids = cli_alloc(t->ids, t->cap, sizeof(*t->ids));
    }
    memcpy(t->ids, t->line.ids, t->line.n_ids * sizeof(*t->ids));
    t->line.ids = t->ids;
}

/* Why such ids have no vector; empty: they have one. */
static void
check_ids(const struct embed *e, struct text *t)
{
    int32_t n_vocab = gg_model_n_vocab(e->engine->model);
    size_t n_ctx = (size_t)gg_session_n_ctx(e->engine->session);

    if (t->line.n_ids == 0)
        snprintf(t->message, sizeof(t->message), "a text without ids");
    else if (t->line.n_ids > n_ctx)
        snprintf(t->message, sizeof(t->message),
                 "%zu ids are above the context of %zu", t->line.n_ids, n_ctx);
    for (size_t i = 0; i < t->line.n_ids && !t->message[0]; i++)
        if (t->ids[i] >= n_vocab)
            snprintf(t->message, sizeof(t->message), "id %d is not in 0..%d",
                     (int)t->ids[i], (int)n_vocab - 1);
}

static void
add(struct embed *e, const struct gg_line *line)
{
    struct text *t = &e->texts[e->n++];

    t->line = *line;
    t->message[0] = '\0';
    if (line->kind == GG_LINE_ERROR) {
        snprintf(t->message, sizeof(t->message), "%s", line->message);
    } else if (line->kind == GG_LINE_IDS) {
        keep_ids(t);
        check_ids(e, t);
    }
    e->failed = e->failed || t->message[0];
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
        gg_session_truncate(e->engine->session, i, 0);
        e->chunks[n++] = (struct gg_chunk){ .slot = i,
                                            .ids = t->ids,
                                            .n = t->line.n_ids,
                                            .embedding = t->vector,
                                            .pooling = e->pooling };
    }
    if (n)
        cli_check(gg_session_eval(e->engine->session, e->chunks, n, &err),
                  &err);
    for (int32_t i = 0; i < e->n; i++)
        if (is_text(&e->texts[i]))
            check_vector(e, &e->texts[i]);
}

/* ---- records ------------------------------------------------------------- */

static void
check_written(enum gg_status st, const struct gg_error *err)
{
    if (st != GG_OK)
        cli_die("standard output: %s", err->message);
}

static void
start(struct embed *e, bool numbered)
{
    char writer[64];
    struct gg_error err;
    struct gg_logit_head head = {
        .n_vocab = (uint32_t)gg_model_n_embd(e->engine->model),
        .fingerprint = gg_vocab_fingerprint(e->engine->vocab),
        .kind = GG_VECTOR_EMBEDDING,
        .encoding = e->o->encoding,
        .numbered = numbered,
        .writer = writer,
    };

    snprintf(writer, sizeof(writer), "%s %s", cli_name, gg_version());
    check_written(gg_logit_writer_new(STDOUT_FILENO, &head, &e->writer, &err),
                  &err);
}

/* What failed in a tool before was told there. */
static void
say_failed(const struct text *t)
{
    if (!t->message[0] || t->line.kind == GG_LINE_ERROR)
        return;
    if (t->line.numbered)
        cli_warn("sequence %llu: %s", (unsigned long long)t->line.sequence,
                 t->message);
    else
        cli_warn("%s", t->message);
}

static void
put(struct embed *e, struct text *t)
{
    int32_t n = gg_model_n_embd(e->engine->model);
    struct gg_logit_record record = { .kind = GG_RECORD_CLOSE,
                                      .sequence = t->line.sequence };
    struct gg_error err;

    say_failed(t);
    if (e->o->none)
        return;
    if (t->message[0]) {
        record.kind = GG_RECORD_ERROR;
        record.message = t->message;
    } else if (is_text(t)) {
        if (!e->o->as_is)
            normalise(t->vector, n);
        record.kind = GG_RECORD_LOGITS;
        record.position = t->line.n_ids;
        record.ids = t->ids;
        record.n_ids = t->line.n_ids;
        record.logits = t->vector;
        record.n_logits = (size_t)n;
    }
    if (!e->writer)
        start(e, t->line.numbered);
    check_written(gg_logit_write(e->writer, &record, &err), &err);
}

/* A line, and all further ones that are there, as far as there is room. Returns
 * what became of the line after them, which is in *line. */
static enum gg_status
run_together(struct embed *e, struct gg_line_reader *reader,
             struct gg_line *line, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    bool more;

    e->n = 0;
    do {
        add(e, line);
        more = e->n < e->o->n_lines && gg_line_ready(reader);
        if (more)
            st = gg_line_read(reader, line, err);
    } while (more && st == GG_OK);
    evaluate(e);
    for (int32_t i = 0; i < e->n; i++)
        put(e, &e->texts[i]);
    return more ? st : gg_line_read(reader, line, err);
}

static void
run(struct embed *e, struct gg_line_reader *reader, const char *name)
{
    struct gg_logit_record end = { .kind = GG_RECORD_END };
    struct gg_line line = { 0 };
    struct gg_error err;
    enum gg_status st = gg_line_read(reader, &line, &err);

    if (st == GG_EOF)
        cli_die("%s: no token ids", name);
    while (st == GG_OK) {
        if (!output_wanted())
            cli_raise(SIGPIPE);
        st = run_together(e, reader, &line, &err);
    }
    if (st == GG_ERR_ABORTED && !output_wanted())
        cli_raise(SIGPIPE);
    if (st != GG_EOF)
        cli_check(st, &err);
    if (e->writer)
        check_written(gg_logit_write(e->writer, &end, &err), &err);
}

bool
embed_run(const struct engine *engine, const struct embed_options *o, int fd,
          const char *name)
{
    struct embed e = { .o = o, .engine = engine };
    size_t n = (size_t)o->n_lines;
    struct gg_line_reader *reader;
    struct gg_error err;

    if (o->kind == EMBED_MODEL)
        cli_check(gg_model_pooling(engine->model, &e.pooling, &err), &err);
    else
        e.pooling = (enum gg_pooling)o->kind;
    e.texts = cli_alloc(NULL, n, sizeof(*e.texts));
    e.chunks = cli_alloc(NULL, n, sizeof(*e.chunks));
    memset(e.texts, 0, n * sizeof(*e.texts));
    for (size_t i = 0; i < n; i++)
        e.texts[i].vector =
            cli_alloc(NULL, (size_t)gg_model_n_embd(engine->model),
                      sizeof(*e.texts[i].vector));
    cli_check(gg_line_reader_new(fd, name, &reader, &err), &err);
    gg_line_reader_watch(reader, STDOUT_FILENO);
    run(&e, reader, name);
    gg_line_reader_free(reader);
    gg_logit_writer_free(e.writer);
    for (size_t i = 0; i < n; i++) {
        free(e.texts[i].ids);
        free(e.texts[i].vector);
    }
    free(e.texts);
    free(e.chunks);
    return !e.failed;
}
