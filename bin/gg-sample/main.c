/* main.c - gg-sample: logits to the next token id */
#include <config.h>

#include <gg-stream.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gg-sample/draws.h"

const char cli_name[] = "gg-sample";

static const char usage[] =
    "Usage: gg-sample [OPTION]... [FILE]\n"
    "Draw a token id from each record of a logit stream.\n"
    "\n";

struct options {
    struct sampling_options sampling;
    bool verbose, quiet;
    bool loops; /* not one of them: what is drawn is fed back */
    const char *model, *output, *input;
    struct shard shard; /* of the numbered sequences */
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

/* A part is that of one job only if another run would draw the same. */
static void
check_shard(const struct shard *shard, const struct sampling_options *o)
{
    if (shard_is_part(shard) && !o->has_seed && o->params.temperature != 0)
        cli_misuse("--shard: -s must say the seed of the whole job");
}

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
    if (!file_sampling_may_say(&o->sampling, "temp"))
        check_shard(&o->shard, &o->sampling);
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
    draws_forget(r);
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
    check_shard(r->shard, r->sampling);
    shard_check(r->shard, head->numbered, r->name);
    r->numbered = head->numbered;
    r->ended = false;
    draws_forget(r);
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
        draws_record(r, record);
        break;
    case GG_RECORD_ERROR:
        draws_error(r, record->sequence, record->message);
        break;
    case GG_RECORD_CLOSE:
        draws_close(r, record->sequence);
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
    r.loops = o->loops;
    r.input_waits = !is_regular(fd);
    cli_check(gg_logit_reader_new(fd, r.name, &r.reader, &err), &err);
    cli_output(o->output);
    while ((st = gg_logit_read(r.reader, &record, &err)) == GG_OK)
        handle(&r, &record);
    if (st != GG_EOF)
        cli_check(st, &err);
    gg_logit_reader_free(r.reader);
    draws_forget(&r);
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
    o.loops = news_find();
    parse(argc, argv, &o);
    return cli_finish(run(&o));
}
