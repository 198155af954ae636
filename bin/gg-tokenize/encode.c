/* encode.c - text to lines of ids */
#include <config.h>

#include <stdlib.h>
#include <unistd.h>

#include "common/jobs.h"
#include "common/chat.h"
#include "gg-tokenize/format.h"
#include "gg-tokenize/input.h"
#include "gg-tokenize/job.h"
#include "gg-tokenize/tokenize.h"

enum {
    LINE = 1 << 26,     /* bytes of ids after which another line begins */
    MAX_HELD = 1 << 28, /* of lines that wait for media */
};

struct work {
    const struct gg_vocab *vocab;
    const struct tokenize_options *o;
    struct jobs *jobs;
    struct job *slots; /* n_slots, which become jobs in turn */
    size_t n_slots;
    struct input input;
    struct buffer rest; /* was read, and belongs to the next job */
    uint64_t sequence;  /* of the next record */
    uint64_t bytes, n_ids, n_cut, n_left_out;
    unsigned plainer;   /* what templates refused */
    size_t medium;      /* of the next text that has one */
    bool named;         /* the line that names media was written */
    struct buffer held; /* what comes after that line, where messages have
                           brought media until then */
    size_t line;        /* bytes of ids on the line that is being written */
    int status;
};

/* Reads more of the job's text. Who writes it may wait for the answer to what
 * there is so far. */
static void
read_more(struct work *w, struct job *job)
{
    size_t before = job->text.len;

    if (!input_ready(&w->input)) {
        jobs_wait(w->jobs);
        cli_flush();
    }
    input_read(&w->input, &job->text);
    w->bytes += job->text.len - before;
}

static struct job *
next_job(struct work *w)
{
    struct job *job = &w->slots[jobs_next(w->jobs)];

    job->medium = &w->medium;
    job->text.len = 0;
    buffer_add(&job->text, w->rest.p, w->rest.len);
    w->rest.len = 0;
    return job;
}

/* The job gets text[0..n) only, and the next one the rest. */
static void
keep_rest(struct work *w, struct job *job, size_t n)
{
    buffer_add(&w->rest, job->text.p + n, job->text.len - n);
    job->text.len = n;
}

static void
count_text(struct work *w, const struct job *job)
{
    w->n_ids += job->n_ids;
    w->n_cut += job->n_cut;
    w->n_left_out += job->n_left_out;
    w->plainer |= job->plainer;
}

/* ---- one text ---- */

/* True if what is written is a line of ids. */
static bool
writes_line(const struct tokenize_options *o)
{
    return !o->count && !o->pieces && !o->offsets && !o->binary;
}

/* Before the first ids. */
static void
name_media(struct work *w)
{
    const struct tokenize_options *o = w->o;
    const struct media *m =
        o->intake ? media_intake_media(o->intake) : o->media;
    struct gg_error err;

    if (m && m->n_hashes && writes_line(w->o) && !w->named)
        cli_check(
            gg_line_write_rows(STDOUT_FILENO, m->hashes, m->n_hashes, &err),
            &err);
    w->named = true;
}

static void
take_part(struct work *w, const struct job *job)
{
    if (job->failed && w->line) /* whoever reads it must not go on from here */
        printf("\n!%s\n", job->err.message);
    if (job->failed)
        cli_die("%s: %s", w->input.name, job->err.message);
    count_text(w, job);
    name_media(w);
    if (job->out.len == 0)
        return;
    if (w->line && writes_line(w->o))
        putchar(w->line > LINE ? '\n' : ' ');
    w->line = w->line > LINE ? 0 : w->line;
    fwrite(job->out.p, 1, job->out.len, stdout);
    w->line += job->out.len;
}

/* Text up to a place where it can be cut, or all that is left of it. */
static void
fill_part(struct work *w, struct job *job)
{
    const struct tokenize_options *o = w->o;
    unsigned flags = o->special != SPECIAL_TEXT ? GG_ENCODE_SPECIAL : 0;
    size_t want = INPUT_CHUNK, cut = 0;

    flags |= o->tokenizer ? GG_ENCODE_GREEDY : 0;
    while (cut == 0 && !w->input.ended) {
        while (job->text.len < want && !w->input.ended)
            read_more(w, job);
        want = 2 * job->text.len;
        if (!w->input.ended && !o->chat && !o->suffix && !o->media &&
            o->max == 0)
            cut = gg_vocab_cut(w->vocab, job->text.p, job->text.len, flags);
    }
    if (!w->input.ended)
        keep_rest(w, job, cut);
}

static void
encode_whole(struct work *w)
{
    const struct tokenize_options *o = w->o;
    uint64_t before = 0;

    for (bool first = true; first || !w->input.ended; first = false) {
        struct job *job = next_job(w);

        fill_part(w, job);
        if (w->bytes == 0 && writes_line(o) && !o->empty && !o->chat &&
            !o->suffix && !o->media)
            cli_die("%s: the text is empty", w->input.name);
        job->part = true;
        job->first = first;
        job->last = w->input.ended;
        job->before = before;
        before += job->text.len;
        jobs_submit(w->jobs, first && job->last);
    }
    jobs_wait(w->jobs);
    if (w->n_ids == 0 && writes_line(o) && !o->empty && !o->chat)
        cli_die("%s: no byte of the text has a token", w->input.name);
    if (o->count)
        printf("%llu", (unsigned long long)w->n_ids);
    if (o->count || writes_line(o))
        putchar('\n');
}

/* ---- records ---- */

/* Whether all media have to be there before anything is written. */
static bool
holds_records(const struct work *w)
{
    return w->o->intake && w->o->records && writes_line(w->o);
}

static void
hold_records(struct work *w, const struct job *job)
{
    if (w->held.len + job->out.len > MAX_HELD)
        cli_die("%s: more than %d MiB of ids wait for the media that are to "
                "come: --rows names them before",
                w->input.name, MAX_HELD >> 20);
    buffer_add(&w->held, job->out.p, job->out.len);
}

static void
write_held(struct work *w)
{
    if (!holds_records(w))
        return;
    name_media(w);
    if (w->held.len)
        fwrite(w->held.p, 1, w->held.len, stdout);
    buffer_clear(&w->held);
}

static void
take_records(struct work *w, const struct job *job)
{
    const char *p = job->warnings.p;

    if (holds_records(w)) {
        hold_records(w, job);
    } else {
        name_media(w);
        if (job->out.len)
            fwrite(job->out.p, 1, job->out.len, stdout);
    }
    for (size_t at = 0; at < job->warnings.len; at += strlen(p + at) + 1)
        cli_warn("%s: %s", w->input.name, p + at);
    if (job->failed)
        w->status = EXIT_RECORDS;
    count_text(w, job);
}

/* All whole records that are there, one at least; at the end what is left. */
static void
fill_records(struct work *w, struct job *job)
{
    const char *end = NULL;

    while (!end && !w->input.ended) {
        size_t from = job->text.len;

        do
            read_more(w, job);
        while (!w->input.ended && job->text.len - from < INPUT_CHUNK &&
               input_ready(&w->input));
        end = memrchr(job->text.p + from, w->o->end, job->text.len - from);
    }
    if (!w->input.ended)
        keep_rest(w, job, (size_t)(end - job->text.p) + 1);
}

static uint64_t
count_records(const struct buffer *text, char end)
{
    const char *p = text->p, *stop = p + text->len;
    uint64_t n = 0;

    for (; p < stop; n++) {
        p = memchr(p, end, (size_t)(stop - p));
        p = p ? p + 1 : stop;
    }
    return n;
}

static void
encode_records(struct work *w)
{
    while (!w->input.ended) {
        struct job *job = next_job(w);

        fill_records(w, job);
        job->part = false;
        job->sequence = w->sequence;
        w->sequence += count_records(&job->text, w->o->end);
        if (job->text.len)
            jobs_submit(w->jobs, w->input.ended || !input_ready(&w->input));
    }
    jobs_wait(w->jobs);
    write_held(w);
}

static void
do_job(void *data, size_t slot, int thread)
{
    struct work *w = data;

    (void)thread;
    job_run(&w->slots[slot], w->vocab, w->o);
}

static void
take_job(void *data, size_t slot)
{
    struct work *w = data;

    if (w->o->records)
        take_records(w, &w->slots[slot]);
    else
        take_part(w, &w->slots[slot]);
}

static void
start_jobs(struct work *w)
{
    struct jobs_calls calls = { do_job, take_job, w };
    int n = w->o->threads;

    w->n_slots = n > 1 ? 2 * (size_t)n : 1;
    w->slots = cli_alloc(NULL, w->n_slots, sizeof(*w->slots));
    memset(w->slots, 0, w->n_slots * sizeof(*w->slots));
    w->jobs = jobs_new(n, w->n_slots, &calls);
}

static void
end_jobs(struct work *w)
{
    jobs_free(w->jobs);
    for (size_t i = 0; i < w->n_slots; i++)
        job_clear(&w->slots[i]);
    free(w->slots);
}

/* Each medium stands somewhere. */
static void
check_all_used(const struct work *w)
{
    const struct media *m = w->o->media;

    if (m && w->medium < m->n)
        cli_die("%s: the text has places for %zu of its %zu media", m->name,
                w->medium, m->n);
}

/* The text is there, and no other comes. */
static void
take_typed(struct work *w, const char *text)
{
    w->bytes = strlen(text);
    buffer_add(&w->rest, text, w->bytes);
    w->input.ended = true;
}

int
tokenize_encode(const struct gg_vocab *vocab,
                const struct tokenize_options *options)
{
    struct work w = { .vocab = vocab,
                      .o = options,
                      .input = { .fd = options->fd,
                                 .name = options->input,
                                 .quiet = options->quiet },
                      .sequence = 1 };

    start_jobs(&w);
    if (options->prefix && !options->records)
        buffer_add(&w.rest, options->prefix, strlen(options->prefix));
    if (options->typed)
        take_typed(&w, options->typed);
    if (options->records)
        encode_records(&w);
    else
        encode_whole(&w);
    check_all_used(&w);
    cli_tell_left_out(options->input, w.n_left_out);
    if (options->verbose)
        chat_tell_plainer(options->input, w.plainer);
    if (options->verbose)
        cli_warn("%s: %llu bytes, %llu ids", options->input,
                 (unsigned long long)w.bytes, (unsigned long long)w.n_ids);
    if (options->verbose && options->truncate != TRUNCATE_NOT)
        cli_warn("%s: %llu texts cut", options->input,
                 (unsigned long long)w.n_cut);
    end_jobs(&w);
    free(w.rest.p);
    return w.status;
}
