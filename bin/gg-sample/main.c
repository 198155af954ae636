/* main.c - gg-sample: logits to the next token id */
#include <config.h>

#include <fcntl.h>
#include <gg-stream.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/number_set.h"
#include "common/sampling.h"
#include "common/sequence_table.h"
#include "common/shard.h"
#include "gg-sample/back.h"

const char cli_name[] = "gg-sample";

static const char usage[] =
    "Usage: gg-sample [OPTION]... [FILE]\n"
    "Draw a token id from each record of a logit stream.\n"
    "\n";

struct options {
    struct sampling_options sampling;
    bool verbose, quiet;
    const char *model, *output, *input;
    struct shard shard; /* of the numbered sequences */
};

struct run {
    const struct sampling_options *sampling;
    const struct shard *shard;
    const char *name;       /* of the input */
    struct gg_vocab *vocab; /* NULL: none is needed */
    const char *model;      /* its file */
    struct gg_sampler *sampler;
    bool remembers;
    struct gg_logit_reader *reader;
    float *logits; /* scratch: the record's, with some excluded */
    size_t logits_cap;
    bool failed;      /* an error record was seen */
    bool cut;         /* a sequence, by -n, inside its grammar */
    bool loops;       /* what is drawn is fed back */
    bool input_waits; /* the input may depend on the output's end */
    bool numbered;
    bool ended;  /* the one sequence of a stream without numbers */
    bool closed; /* and with it the output */
    struct number_set ended_here;    /* what still comes of them is dropped */
    struct number_set passed;        /* ended upstream, which was passed on */
    struct sequence_table sequences; /* that are drawn from: of struct count */
};

#define AT(field) .at = offsetof(struct options, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { .part = sampling_rows, AT(sampling) },
    { "model", 'm', CLI_TEXT, "MODEL",
      "the vocabulary for DRY and grammars (else $GG_MODEL, else the demo "
      "model)", AT(model) },
    { "shard", 0, CLI_CALL, "I/N", SHARD_HELP, AT(shard), .set = shard_set },
    { "file", 'f', CLI_TEXT, "FILE", "read the stream from FILE",
      AT(input) },
    { "output", 'o', CLI_TEXT, "FILE", "write to FILE", AT(output),
      .use = SANDBOX_WRITE },
    { "quiet", 'q', CLI_FLAG, NULL, "fewer messages", AT(quiet) },
    { "verbose", 'v', CLI_FLAG, NULL, "more messages", AT(verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

static void
parse(int argc, char **argv, struct options *o)
{
    static const struct cli_tool tool = {
        .usage = usage, .options = rows, .column = 26, .role = SANDBOX_FILTER
    };
    int first;

    o->sampling = sampling_options_default();
    first = cli_parse(argc, argv, &tool, o);
    o->verbose = o->verbose && !o->quiet;
    cli_hint_file("; logits are those of gg-eval");
    if (first < argc)
        o->input = cli_one_file(argc, argv, first, o->input);
    if (shard_is_part(&o->shard) && !o->sampling.has_seed &&
        o->sampling.params.temperature != 0)
        cli_misuse("--shard: -s must say the seed of the whole job");
}

/* Our output may end before the shell of a gg-loop's command lets go of its
 * copy of it; gg-loop names a FIFO that takes the news. Within the sandbox it
 * cannot be opened: it is another process's. */
static int loop_news = -1;

static void
find_loop(void)
{
    const char *path = getenv("GG_LOOP");
    struct stat st;

    loop_news = path ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (loop_news >= 0 && (fstat(loop_news, &st) || !S_ISFIFO(st.st_mode))) {
        close(loop_news);
        loop_news = -1;
    }
}

static void
tell_loop(void)
{
    ssize_t n = loop_news >= 0 ? write(loop_news, "\n", 1) : 0;

    (void)n; /* then the loop is gone, or was told already */
    if (loop_news >= 0)
        close(loop_news);
    loop_news = -1;
}

static void
put_sampled(const struct gg_line *line)
{
    struct gg_error err;
    enum gg_status st = gg_line_write(STDOUT_FILENO, line, &err);

    if (st != GG_OK)
        cli_die("standard output: %s", err.message);
}

static bool
is_end_of_generation(const struct gg_logit_head *head, int32_t id)
{
    for (size_t i = 0; i < head->n_eog; i++)
        if (head->eog_ids[i] == id)
            return true;
    return false;
}

/* ---- what is written of draws -------------------------------------------- */

/* What the model gave the token, before anything was done to it. */
static void
log_draw(const struct run *r, uint64_t sequence, const struct back_row *row)
{
    double sum =
        row->ids ? row->log_sum_exp : gg_log_sum_exp(row->logits, row->n);

    if (r->sampling->logprobs >= 0)
        sampling_log(
            r->sampling, r->numbered, sequence, row->position, &row->drawn,
            sampling_logit(row->logits, row->ids, row->n, row->drawn.id) - sum);
}

/* All draws stay but the last `open` ones. */
static void
settle(const struct run *r, uint64_t sequence, struct back *b, size_t open)
{
    size_t n = b ? b->n - open : 0;

    for (size_t i = 0; i < n; i++)
        log_draw(r, sequence, &b->rows[i]);
    if (n)
        back_drop(b, n);
}

/* ---- what is remembered of sequences ------------------------------------- */

/* A corpus may have any number of them. Counts are kept while a sequence is
 * drawn from; of what has ended only ranges of numbers are. */
struct count {
    struct numbered key;
    uint64_t n; /* ids that it has got */
    struct gg_history *history;
    struct back *back; /* NULL: nothing is banned */
};

/* That of the sequence, new where there is none. */
static struct count *
count_of(struct run *r, uint64_t sequence)
{
    struct count *c = sequence_table_find(&r->sequences, sequence);

    if (c)
        return c;
    c = cli_alloc(NULL, 1, sizeof(*c));
    *c = (struct count){ .key.number = sequence };
    sequence_table_add(&r->sequences, &c->key);
    return c;
}

static void
forget_count(struct run *r, uint64_t sequence)
{
    struct count *c = sequence_table_find(&r->sequences, sequence);

    if (!c)
        return;
    sequence_table_forget(&r->sequences, &c->key);
    sequence_table_unlink(&r->sequences, &c->key);
    settle(r, sequence, c->back, 0);
    back_free(c->back);
    gg_history_free(c->history);
    free(c);
}

static void
forget_all(struct run *r)
{
    while (r->sequences.oldest)
        forget_count(r, r->sequences.oldest->number);
    sequence_table_clear(&r->sequences);
    number_set_clear(&r->ended_here);
    number_set_clear(&r->passed);
}

/* ---- records ------------------------------------------------------------- */

/* The sequence is over: `line` is the last of it. */
static void
end_sequence(struct run *r, struct gg_line *line)
{
    if (r->numbered) {
        forget_count(r, line->sequence);
        number_set_add(&r->ended_here, line->sequence);
        line->last = line->kind == GG_LINE_IDS;
        put_sampled(line);
        return;
    }
    r->ended = true;
    if (r->input_waits)
        tell_loop();
    put_sampled(line);
    if (r->input_waits) {
        cli_close_output();
        r->closed = true;
    }
}

static bool
has_ended(const struct run *r, uint64_t sequence)
{
    return r->numbered ? number_set_has(&r->ended_here, sequence) : r->ended;
}

/* What is known of the sequence; a stream without numbers has one, 0. Without
 * a limit, or with that of 1, nothing has to be counted. NULL: nothing at all.
 */
static struct count *
sequence_of(struct run *r, uint64_t sequence)
{
    struct count *c;
    struct gg_error err;

    number_set_remove(&r->passed, sequence);
    if (r->sampling->count <= 1 && !r->remembers && !r->sampling->ban &&
        !r->sampling->min_ids)
        return NULL;
    c = count_of(r, sequence);
    if (r->remembers && !c->history)
        cli_check(gg_history_new(r->sampler, &c->history, &err), &err);
    if (r->sampling->ban && !c->back)
        c->back = back_new(r->vocab, r->sampling->ban);
    return c;
}

/* True if the id that it gets is its last by -n. */
static bool
count_draws(struct run *r, struct count *c)
{
    uint64_t n = r->sampling->count;

    if (c)
        c->n++;
    return n == 1 || (n && c->n == n);
}

/* -n ends the sequence: a grammar may want more. */
static void
say_cut(struct run *r, uint64_t sequence, const struct count *c)
{
    char text[128];

    if (!c || !c->history || gg_history_is_complete(c->history))
        return;
    sampling_say_cut(r->sampling, text, sizeof(text));
    if (r->numbered)
        cli_warn("sequence %" PRIu64 ": %s", sequence, text);
    else
        cli_warn("%s", text);
    r->cut = true;
}

static void
pass_error(struct run *r, uint64_t sequence, const char *message)
{
    struct gg_line line = {
        .kind = GG_LINE_ERROR,
        .numbered = r->numbered,
        .sequence = sequence,
        .message = message,
    };

    r->failed = true;
    /* In a loop what was passed on comes again. */
    if (!has_ended(r, sequence))
        end_sequence(r, &line);
}

/* No end of generation is drawn after n ids. */
static bool
wants_no_end(const struct run *r, uint64_t n)
{
    return r->sampling->ignore_eog || n < (uint64_t)r->sampling->min_ids;
}

/* Logits that may be changed: the reader's where nobody needs them later. */
static float *
copy_logits(struct run *r, const float *logits, size_t n, bool kept)
{
    if (!kept)
        return gg_logit_reader_logits(r->reader);
    if (n > r->logits_cap) {
        r->logits = cli_alloc(r->logits, n, sizeof(*r->logits));
        r->logits_cap = n;
    }
    return memcpy(r->logits, logits, n * sizeof(*r->logits));
}

/* Those of the ids that are not to be drawn after n ids become -infinity. */
static void
exclude(const struct run *r, const struct gg_logit_head *head, uint64_t n_drawn,
        const int32_t *ids, float *logits, size_t n)
{
    sampling_exclude(logits, ids, n, head->suppressed, head->n_suppressed);
    if (wants_no_end(r, n_drawn))
        sampling_exclude(logits, ids, n, head->eog_ids, head->n_eog);
}

/* But for rows of images and sounds: ids that the model gives no logit of. */
static enum gg_status
add_history(struct gg_history *history, const struct gg_logit_head *head,
            const int32_t *ids, size_t n, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0, end; i < n && st == GG_OK; i = end + 1) {
        end = i;
        while (end < n &&
               (!head->n_vocab || (uint32_t)ids[end] < head->n_vocab))
            end++;
        st = gg_history_add(history, ids + i, end - i, err);
    }
    return st;
}

/* The sequence's ids, up to the draw. */
static enum gg_status
hear(const struct gg_logit_record *record, struct gg_history *history,
     struct gg_error *err)
{
    enum gg_status st;

    if (!history)
        return GG_OK;
    st =
        add_history(history, &record->head, record->past, record->n_past, err);
    if (record->mirostat)
        gg_history_set_mirostat(history, *record->mirostat);
    return st == GG_OK ? add_history(history, &record->head, record->ids,
                                     record->n_ids, err)
                       : st;
}

/* One draw, from a row. */
static enum gg_status
draw_row(struct run *r, const struct gg_logit_record *record,
         const struct back_row *row, const float *logits,
         struct gg_history *history, struct gg_draw *drawn,
         struct gg_error *err)
{
    return gg_sampler_next(r->sampler, history, row->ids, logits, row->n,
                           record->sequence, row->position, drawn, err);
}

static enum gg_status
sample_token(struct run *r, const struct gg_logit_record *record,
             const struct count *c, struct back_row *row, struct gg_error *err)
{
    struct gg_history *history = c ? c->history : NULL;
    uint64_t n = c ? c->n : 0;
    bool excludes = wants_no_end(r, n) || record->head.n_suppressed;
    const float *logits = row->logits;
    enum gg_status st = hear(record, history, err);

    if (excludes) {
        float *own =
            copy_logits(r, row->logits, row->n, r->sampling->logprobs >= 0);

        exclude(r, &record->head, n, row->ids, own, row->n);
        logits = own;
    }
    return st == GG_OK
               ? draw_row(r, record, row, logits, history, &row->drawn, err)
               : st;
}

/* Draws until no banned string is complete. *back gets how many ids that were
 * fed back are to be taken back. */
static enum gg_status
sample_allowed(struct run *r, const struct gg_logit_record *record,
               struct count *c, size_t *back, struct gg_error *err)
{
    struct gg_ban *ban = c->back->ban;
    size_t open, found = 1, n;
    enum gg_status st = hear(record, c->history, err);

    back_add(c->back, record, r->loops);
    open = gg_ban_open(ban);
    while (st == GG_OK && found) {
        struct back_row *row = back_row(c->back);
        uint64_t n_drawn = c->n - (open - gg_ban_open(ban));
        const int32_t *forbidden = gg_ban_forbidden(ban, &n);
        float *logits = copy_logits(r, row->logits, row->n, true);

        exclude(r, &record->head, n_drawn, row->ids, logits, row->n);
        sampling_exclude(logits, row->ids, row->n, forbidden, n);
        *back = open - gg_ban_open(ban);
        st = gg_ban_before(ban, c->history, err);
        if (st == GG_OK)
            st = draw_row(r, record, row, logits, c->history, &row->drawn, err);
        if (st == GG_OK)
            st = gg_ban_after(ban, row->drawn.id, c->history, &found, err);
        c->back->last = row->drawn.id;
    }
    c->n -= *back;
    c->back->n = open - *back + 1;
    return st;
}

/* To row->drawn; *back as in sample_allowed(). */
static enum gg_status
sample_any(struct run *r, const struct gg_logit_record *record,
           struct count *c, struct back_row *row, size_t *back,
           struct gg_error *err)
{
    enum gg_status st;

    if (!c || !c->back)
        return sample_token(r, record, c, row, err);
    st = sample_allowed(r, record, c, back, err);
    row->drawn = c->back->rows[c->back->n - 1].drawn;
    return st;
}

static void
fail_draw(struct run *r, const struct gg_logit_record *record,
          const struct gg_error *err)
{
    cli_warn("sequence %" PRIu64 ", position %" PRIu64 ": %s", record->sequence,
             record->position, err->message);
    pass_error(r, record->sequence, err->message);
}

/* The line that it becomes. */
static void
put_drawn(struct run *r, const struct gg_logit_record *record, struct count *c,
          struct gg_line *line)
{
    bool eog = is_end_of_generation(&record->head, line->ids[0]);
    bool last = count_draws(r, c);
    size_t open = c && c->back && !eog && !last ? gg_ban_open(c->back->ban) : 0;

    if (c)
        settle(r, record->sequence, c->back, open);
    if (last && !eog)
        say_cut(r, record->sequence, c);
    line->open = r->loops && open > 0;
    if (last || eog)
        end_sequence(r, line);
    else
        put_sampled(line);
}

static void
draw(struct run *r, const struct gg_logit_record *record)
{
    struct gg_line line = {
        .kind = GG_LINE_IDS,
        .numbered = r->numbered,
        .sequence = record->sequence,
        .n_ids = 1,
    };
    struct back_row row = { .position = record->position,
                            .logits = (float *)record->logits,
                            .ids = (int32_t *)record->logit_ids,
                            .n = record->n_logits,
                            .log_sum_exp = record->log_sum_exp };
    struct count *c;
    struct gg_error err;
    enum gg_status st;
    size_t back = 0;

    if (has_ended(r, record->sequence))
        return;
    c = sequence_of(r, record->sequence);
    st = sample_any(r, record, c, &row, &back, &err);
    if (st == GG_ERR_NOMEM)
        cli_check(st, &err);
    if (st != GG_OK) {
        fail_draw(r, record, &err);
        return;
    }
    if (!c || !c->back)
        log_draw(r, record->sequence, &row);
    line.ids = &row.drawn.id;
    line.back = back;
    put_drawn(r, record, c, &line);
}

static void
pass_close(struct run *r, uint64_t sequence)
{
    struct gg_line line = { GG_LINE_END, true, .sequence = sequence };

    if (!r->numbered)
        return;
    if (number_set_has(&r->ended_here, sequence)) {
        number_set_remove(&r->ended_here, sequence);
    } else if (number_set_has(&r->passed, sequence)) {
        number_set_remove(&r->passed, sequence);
    } else {
        forget_count(r, sequence);
        number_set_add(&r->passed, sequence);
        put_sampled(&line);
    }
}

/* The vocabulary that was read must be the stream's. */
static void
check_vocab(const struct run *r, const struct gg_logit_head *head)
{
    if (r->remembers && head->n_vocab == 0)
        cli_die("candidates as text lack what penalties, DRY and grammars look "
                "at: the ids of their sequence, their vocabulary");
    if (r->vocab && head->n_vocab &&
        head->fingerprint != gg_vocab_fingerprint(r->vocab))
        cli_die("%s: another vocabulary than that of the stream", r->model);
}

static void
begin_stream(struct run *r, const struct gg_logit_head *head)
{
    struct gg_error err;

    check_vocab(r, head);
    if (head->n_vocab &&
        sampling_check_ids(r->sampling, head->n_vocab, &err) != GG_OK)
        cli_misuse("%s", err.message);
    if (head->kind != GG_VECTOR_LOGITS)
        cli_die("the stream has embeddings, not logits");
    if (r->closed)
        cli_die("another head follows, but the output is closed: "
                "read the streams from a file");
    shard_check(r->shard, head->numbered, r->name);
    r->numbered = head->numbered;
    r->ended = false;
    forget_all(r);
}

static void
handle(struct run *r, const struct gg_logit_record *record)
{
    bool ours = shard_has(r->shard, record->sequence);

    if (!ours && record->kind != GG_RECORD_HEAD)
        return;
    switch (record->kind) {
    case GG_RECORD_HEAD:
        begin_stream(r, &record->head);
        break;
    case GG_RECORD_LOGITS:
        draw(r, record);
        break;
    case GG_RECORD_ERROR:
        pass_error(r, record->sequence, record->message);
        break;
    case GG_RECORD_CLOSE:
        pass_close(r, record->sequence);
        break;
    case GG_RECORD_END:
        break;
    }
}

static bool
is_regular(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static void
open_vocab(struct run *r, const struct options *o)
{
    struct gg_error err;

    if (!sampling_needs_vocab(&o->sampling))
        return;
    r->model = cli_model(o->model, o->quiet);
    cli_check(gg_vocab_open(r->model, &r->vocab, &err), &err);
}

static int
run(struct options *o)
{
    struct run r = { .sampling = &o->sampling,
                     .shard = &o->shard,
                     .name = cli_input_name(o->input) };
    struct gg_logit_record record;
    struct gg_error err;
    enum gg_status st;
    int fd = cli_open_input(o->input);

    open_vocab(&r, o);
    r.sampler = sampling_start(&o->sampling, r.vocab, o->verbose);
    r.remembers = gg_sampler_remembers(r.sampler);
    r.loops = loop_news >= 0;
    r.input_waits = !is_regular(fd);
    cli_check(gg_logit_reader_new(fd, r.name, &r.reader, &err), &err);
    cli_output(o->output);
    while ((st = gg_logit_read(r.reader, &record, &err)) == GG_OK)
        handle(&r, &record);
    if (st != GG_EOF)
        cli_check(st, &err);
    gg_logit_reader_free(r.reader);
    forget_all(&r);
    gg_sampler_free(r.sampler);
    sampling_clear(&o->sampling);
    gg_vocab_free(r.vocab);
    free(r.logits);
    return r.cut ? EXIT_RECORDS : cli_status(r.failed, r.numbered);
}

int
main(int argc, char **argv)
{
    struct options o = { 0 };

    cli_start();
    find_loop();
    parse(argc, argv, &o);
    return cli_finish(run(&o));
}
