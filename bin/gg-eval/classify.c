/* classify.c - texts become labels, or the tokens of each */
#include <config.h>

#include "gg-eval/classify.h"

#include <gg-engine.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/ranked_pair.h"
#include "common/records/reader.h"
#include "gg-eval/labels.h"
#include "gg-eval/lines.h"

enum {
    MAX_TEXT = 1 << 26, /* bytes of a line */
};

/* A line that was read; the rest is room that stays. */
struct case_line {
    uint64_t number;   /* from 1, or of its sequence */
    char message[256]; /* why there are no labels; empty: there are */
    struct gg_sequence *sequence;
    struct buffer text;
    const int32_t *ids; /* the sequence's */
    size_t n_ids;
    struct gg_range *ranges;
    float *scores;
    size_t cap_ranges, cap_scores;
};

struct classify {
    const struct classify_options *o;
    const struct engine *engine;
    struct labels labels;
    struct case_line *lines; /* n of n_lines */
    struct gg_query *queries;
    struct ranked_pair_ids pair;
    int32_t *ids; /* scratch */
    size_t cap_ids;
    int32_t n, n_lines;
    uint64_t n_read;
    bool failed;
};

/* ---- ids ----------------------------------------------------------------- */

static unsigned
flags_of(const struct gg_vocab *v)
{
    return (gg_vocab_add_bos(v) ? GG_ENCODE_BOS : 0) |
           (gg_vocab_add_eos(v) ? GG_ENCODE_EOS : 0);
}

/* As of struct ranked_pair_ids. */
static enum gg_status
encode_text(void *data, const char *text, size_t len, unsigned flags,
            const int32_t **ids, size_t *n, struct gg_error *err)
{
    struct classify *c = data;
    struct gg_encoded out = { .n = 2 * len + 4 };
    enum gg_status st;

    do {
        if (out.n > c->cap_ids)
            c->ids = cli_alloc(c->ids, c->cap_ids = out.n, sizeof(*c->ids));
        st = gg_vocab_encode(c->engine->vocab, text, len, flags, c->ids,
                             c->cap_ids, &out, err);
    } while (st == GG_OK && out.n > c->cap_ids);
    *ids = c->ids;
    *n = out.n;
    return st;
}

/* Two texts, which a tab parts. */
static enum gg_status
encode_two_texts(struct classify *c, const struct buffer *text,
                 const int32_t **ids, size_t *n, struct gg_error *err)
{
    const char *tab = text->len ? memchr(text->p, '\t', text->len) : NULL;
    size_t len = tab ? (size_t)(tab - text->p) : 0;
    struct pair pair = { { 0 }, { 0 } };
    enum gg_status st;

    if (!tab)
        return cli_error(err, GG_ERR_FORMAT, "no TAB between two texts");
    buffer_add(&pair.query, text->p, len);
    buffer_add(&pair.document, tab + 1, text->len - len - 1);
    c->pair.encode = encode_text;
    c->pair.data = c;
    st = ranked_pair_encode(&pair, c->engine->vocab, &c->pair, err);
    ranked_pair_clear(&pair);
    *ids = c->pair.ids;
    *n = c->pair.n;
    return st;
}

static void
fail_line(struct case_line *line, const char *message)
{
    snprintf(line->message, sizeof(line->message), "%.255s", message);
}

/* All of a line is a sequence, which begins anew in its slot. */
static void
take_ids(const struct classify *c, struct case_line *line, const int32_t *ids,
         size_t n)
{
    struct gg_error err;
    enum gg_status st;

    gg_sequence_truncate(line->sequence, 0);
    st = gg_sequence_put(line->sequence, ids, n, &err);
    line->ids = gg_sequence_ids(line->sequence, &line->n_ids);
    if (n == 0)
        fail_line(line, "a text without ids");
    else if (st == GG_ERR_CONTEXT)
        snprintf(line->message, sizeof(line->message),
                 "%zu ids are above the context of %d", n,
                 (int)gg_session_n_ctx(c->engine->session));
    else if (st == GG_ERR_ARG)
        fail_line(line, err.message);
    else
        cli_check(st, &err);
}

static void
find_places(struct classify *c, struct case_line *line)
{
    const struct gg_vocab *v = c->engine->vocab;
    struct gg_error err;

    if (c->labels.classifier.pooling != GG_POOL_TOKENS || line->message[0])
        return;
    if (line->n_ids > line->cap_ranges)
        line->ranges = cli_alloc(line->ranges, line->cap_ranges = line->n_ids,
                                 sizeof(*line->ranges));
    cli_check(gg_vocab_offsets(v, line->text.p, line->text.len, flags_of(v),
                               line->ids, line->n_ids, line->ranges, &err),
              &err);
}

/* ---- lines --------------------------------------------------------------- */

static struct case_line *
next_line(struct classify *c, uint64_t number)
{
    struct case_line *line = &c->lines[c->n++];

    line->number = number;
    line->message[0] = '\0';
    return line;
}

static void
add_text_line(struct classify *c, const char *text, size_t len,
              const struct reader *reader)
{
    struct case_line *line = next_line(c, reader->n_records);
    const int32_t *ids;
    size_t n;
    struct gg_error err;
    enum gg_status st;

    line->text.len = 0;
    buffer_room(&line->text, 1); /* of empty ones, too */
    buffer_add(&line->text, text, reader->too_long ? 0 : len);
    if (reader->too_long) {
        fail_line(line, "a text of more than 64 MiB");
        return;
    }
    st = c->o->pairs ? encode_two_texts(c, &line->text, &ids, &n, &err)
                     : encode_text(c, line->text.p, len,
                                   flags_of(c->engine->vocab), &ids, &n, &err);
    if (st == GG_ERR_NOMEM)
        cli_check(st, &err);
    if (st != GG_OK) {
        fail_line(line, err.message);
        return;
    }
    take_ids(c, line, ids, n);
    find_places(c, line);
}

/* As of struct lines. */
static bool
add_id_line(void *data, const struct gg_line *from)
{
    struct classify *c = data;
    struct case_line *line;

    if (from->kind != GG_LINE_IDS && from->kind != GG_LINE_ERROR)
        return true;
    line = next_line(c, from->numbered ? from->sequence : ++c->n_read);
    if (from->kind == GG_LINE_ERROR)
        fail_line(line, from->message);
    else
        take_ids(c, line, from->ids, from->n_ids);
    return true;
}

static bool
has_no_room(const void *data)
{
    const struct classify *c = data;

    return c->n == c->n_lines;
}

/* ---- labels -------------------------------------------------------------- */

static size_t
count_scores(const struct classify *c, const struct case_line *line)
{
    bool each = c->labels.classifier.pooling == GG_POOL_TOKENS;

    return (each ? line->n_ids : 1) * (size_t)c->labels.classifier.n;
}

static struct gg_query
query_of(const struct classify *c, struct case_line *line)
{
    size_t n = count_scores(c, line);

    if (n > line->cap_scores)
        line->scores = cli_alloc(line->scores, line->cap_scores = n,
                                 sizeof(*line->scores));
    return (struct gg_query){ .sequence = line->sequence,
                              .embed.values = line->scores,
                              .embed.pooling = c->labels.classifier.pooling };
}

static void
write_line(struct classify *c, struct case_line *line)
{
    const struct labelled text = { .line = line->number,
                                   .ids = line->ids,
                                   .n_ids = line->n_ids,
                                   .scores = line->scores,
                                   .text = c->o->ids ? NULL : line->text.p,
                                   .ranges = line->ranges };
    size_t n = line->message[0] ? 0 : count_scores(c, line);

    for (size_t i = 0; i < n; i++)
        if (!isfinite(line->scores[i])) {
            fail_line(line, "the scores are not numbers");
            break;
        }
    if (!line->message[0]) {
        labels_write(&c->labels, &text);
        return;
    }
    c->failed = true;
    cli_warn("line %" PRIu64 ": %s", line->number, line->message);
    labels_fail(&c->labels, line->number, line->message);
}

/* All lines that were added. */
static void
classify_lines(void *data)
{
    struct classify *c = data;
    struct gg_error err;
    size_t n = 0;

    for (int32_t i = 0; i < c->n; i++)
        if (!c->lines[i].message[0])
            c->queries[n++] = query_of(c, &c->lines[i]);
    cli_check(gg_engine_eval(c->engine->gg, c->queries, n, &err), &err);
    for (int32_t i = 0; i < c->n; i++)
        write_line(c, &c->lines[i]);
    c->n = 0;
}

/* ---- input --------------------------------------------------------------- */

/* Lines that are there are evaluated together; none waits for another. */
static void
read_texts(struct classify *c, int fd, const char *name)
{
    struct reader r = { .fd = fd,
                        .name = name,
                        .end = '\n',
                        .what = "a line",
                        .max = MAX_TEXT,
                        .max_lost = (size_t)1 << 40,
                        .may_mark = true };
    enum reader_state state = READER_RECORD;
    const char *text;
    size_t len;

    while (!cli_signal() && state != READER_END) {
        if (!output_wanted())
            cli_raise(SIGPIPE);
        state = reader_next(&r, c->n == 0, &text, &len);
        if (state == READER_RECORD)
            add_text_line(c, text, len, &r);
        if (state != READER_RECORD || has_no_room(c))
            classify_lines(c);
    }
    if (!cli_signal() && r.n_records == 0)
        cli_die("%s: no text", name);
    reader_clear(&r);
}

static void
read_ids(struct classify *c, struct output *output, int fd, const char *name)
{
    const struct lines lines = { .name = name,
                                 .engine = c->engine,
                                 .add = add_id_line,
                                 .is_full = has_no_room,
                                 .run = classify_lines,
                                 .data = c,
                                 .output = output,
                                 .shard = &c->o->shard };

    (void)lines_run(&lines, fd);
}

/* ---- life ---------------------------------------------------------------- */

/* Options that the file's head has no use for. */
static void
check_options(const struct classify *c)
{
    bool tokens = c->labels.classifier.pooling == GG_POOL_TOKENS;

    if (c->o->tokens && !tokens)
        cli_die("%s: --label-tokens: the classifier gives labels of texts",
                c->engine->path);
    if (c->o->pairs && tokens)
        cli_die("%s: --pairs: the classifier gives labels of tokens",
                c->engine->path);
    if (c->o->all && tokens && !c->o->tokens)
        cli_die("%s: --all-labels: of tokens with --label-tokens only",
                c->engine->path);
}

static void
open_case_lines(struct classify *c)
{
    size_t n = (size_t)c->n_lines;
    struct gg_error err;

    c->lines = cli_alloc(NULL, n, sizeof(*c->lines));
    c->queries = cli_alloc(NULL, n, sizeof(*c->queries));
    for (size_t i = 0; i < n; i++) {
        c->lines[i] = (struct case_line){ 0 };
        cli_check(gg_sequence_new(c->engine->gg, &c->lines[i].sequence, &err),
                  &err);
    }
}

static void
close_case_lines(struct classify *c)
{
    for (int32_t i = 0; i < c->n_lines; i++) {
        struct case_line *line = &c->lines[i];

        gg_sequence_free(line->sequence);
        buffer_clear(&line->text);
        free(line->ranges);
        free(line->scores);
    }
    free(c->lines);
    free(c->queries);
    free(c->ids);
    free(c->pair.ids);
}

bool
classify_run(const struct engine *engine, const struct classify_options *o,
             int32_t n_lines, struct output *output, int fd, const char *name)
{
    struct classify c = { .o = o,
                          .engine = engine,
                          .labels = { .model = engine->model,
                                      .all = o->all,
                                      .tokens = o->tokens,
                                      .json = o->json },
                          .n_lines = n_lines };
    struct gg_error err;

    if (gg_model_classifier(engine->model, &c.labels.classifier, &err) != GG_OK)
        cli_die("%s: %s", engine->path, err.message);
    labels_init(&c.labels);
    check_options(&c);
    open_case_lines(&c);
    if (o->ids)
        read_ids(&c, output, fd, name);
    else
        read_texts(&c, fd, name);
    close_case_lines(&c);
    labels_clear(&c.labels);
    return !c.failed;
}
