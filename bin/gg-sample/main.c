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
    const struct sampling_options *asked; /* by the command line */
    struct sampling_options now; /* the same with what the stream says */
    const struct sampling_options *sampling; /* either */
    char *line; /* of the stream that began last; or NULL */
    bool quiet, verbose;
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

/* ---- what is remembered of sequences ------------------------------------- */

/* A corpus may have any number of them. Counts are kept while a sequence is
 * drawn from; of what has ended only ranges of numbers are. */
struct count {
    struct numbered key;
    uint64_t n; /* ids that it has got */
    struct gg_history *history;
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
    if (r->sampling->count <= 1 && !r->remembers)
        return NULL;
    c = count_of(r, sequence);
    if (r->remembers && !c->history)
        cli_check(gg_history_new(r->sampler, &c->history, &err), &err);
    return c;
}

/* True if the id that it gets is its last by -n. */
static bool
count_draws(struct run *r, struct count *c)
{
    uint64_t n = r->sampling->count;

    return n == 1 || (n && ++c->n == n);
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

/* The record's logits without those of the ids that are not to be drawn; what
 * the model gave is kept only where --logprobs needs it. */
static const float *
without_excluded(struct run *r, const struct gg_logit_record *record)
{
    float *logits = gg_logit_reader_logits(r->reader);
    size_t n = record->n_logits;

    if (r->sampling->logprobs >= 0) {
        if (n > r->logits_cap) {
            r->logits = cli_alloc(r->logits, n, sizeof(*r->logits));
            r->logits_cap = n;
        }
        logits = memcpy(r->logits, record->logits, n * sizeof(*r->logits));
    }
    sampling_exclude(logits, record->logit_ids, n, record->head.suppressed,
                     record->head.n_suppressed);
    if (r->sampling->ignore_eog)
        sampling_exclude(logits, record->logit_ids, n, record->head.eog_ids,
                         record->head.n_eog);
    return logits;
}

/* What the model gave the token, before anything was done to it. */
static void
log_draw(const struct run *r, const struct gg_logit_record *record,
         const struct gg_draw *drawn)
{
    size_t n = record->n_logits;
    double sum = record->logit_ids ? record->log_sum_exp
                                   : gg_log_sum_exp(record->logits, n);

    sampling_log(
        r->sampling, r->numbered, record->sequence, record->position, drawn,
        sampling_logit(record->logits, record->logit_ids, n, drawn->id) - sum);
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

static enum gg_status
sample_token(struct run *r, const struct gg_logit_record *record,
             struct gg_history *history, struct gg_draw *drawn,
             struct gg_error *err)
{
    bool excludes = r->sampling->ignore_eog || record->head.n_suppressed;
    const float *logits =
        excludes ? without_excluded(r, record) : record->logits;
    enum gg_status st = GG_OK;

    if (history)
        st = add_history(history, &record->head, record->past, record->n_past,
                         err);
    if (history && record->mirostat)
        gg_history_set_mirostat(history, *record->mirostat);
    if (history && st == GG_OK)
        st = add_history(history, &record->head, record->ids, record->n_ids,
                         err);
    if (st == GG_OK)
        st = gg_sampler_next(r->sampler, history, record->logit_ids, logits,
                             record->n_logits, record->sequence,
                             record->position, drawn, err);
    return st;
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
    struct count *c;
    struct gg_draw drawn;
    struct gg_error err;
    enum gg_status st;
    bool eog, last;

    if (has_ended(r, record->sequence))
        return;
    c = sequence_of(r, record->sequence);
    st = sample_token(r, record, c ? c->history : NULL, &drawn, &err);
    if (st == GG_ERR_NOMEM)
        cli_check(st, &err);
    if (st != GG_OK) {
        cli_warn("sequence %" PRIu64 ", position %" PRIu64 ": %s",
                 record->sequence, record->position, err.message);
        pass_error(r, record->sequence, err.message);
        return;
    }
    if (r->sampling->logprobs >= 0)
        log_draw(r, record, &drawn);
    line.ids = &drawn.id;
    eog = is_end_of_generation(&record->head, drawn.id);
    last = count_draws(r, c);
    if (last && !eog)
        say_cut(r, record->sequence, c);
    if (last || eog)
        end_sequence(r, &line);
    else
        put_sampled(&line);
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

/* Draws are those of the options and of what the head says, from now on. */
static void
take_sampling(struct run *r, const char *line)
{
    struct gg_error err;

    if (strcmp(line ? line : "", r->line ? r->line : "") == 0)
        return;
    forget_all(r);
    gg_sampler_free(r->sampler);
    free(r->line);
    r->line = line ? cli_copy(line, strlen(line)) : NULL;
    r->now = *r->asked;
    file_sampling_take(&r->now, r->line, r->quiet ? NULL : r->name);
    if (r->verbose)
        file_sampling_tell(&r->now);
    r->sampling = &r->now;
    cli_check(sampling_sampler(&r->now, r->vocab, &r->sampler, &err), &err);
    r->remembers = gg_sampler_remembers(r->sampler);
}

static void
begin_stream(struct run *r, const struct gg_logit_head *head)
{
    struct gg_error err;

    take_sampling(r, head->sampling);
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
    struct run r = { .asked = &o->sampling,
                     .sampling = &o->sampling,
                     .quiet = o->quiet,
                     .verbose = o->verbose,
                     .shard = &o->shard,
                     .name = cli_input_name(o->input) };
    struct gg_logit_record record;
    struct gg_error err;
    enum gg_status st;
    int fd = cli_open_input(o->input);

    open_vocab(&r, o);
    r.sampler = sampling_start(&o->sampling, r.vocab, o->verbose);
    r.remembers = gg_sampler_remembers(r.sampler);
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
    free(r.line);
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
