/* decode.c - lines of ids to text */
#include <config.h>

#include "common/cli.h"
#include "gg-tokenize/sequences.h"
#include "gg-tokenize/tokenize.h"

#include <stdlib.h>
#include <string.h>

/* The text of a numbered sequence may come in many chunks between those of
 * others, and is held back until it is complete. */
struct work {
    const struct gg_vocab *vocab;
    const struct tokenize_options *options;
    struct gg_line_reader *reader;
    uint64_t line; /* its number in the input */
    struct sequences open;
    struct sequence only; /* the one without a number */
    uint64_t bytes, n_ids;
    int status;
};

/* Adds the text of the line's ids to the sequence. False: an id is none. */
static bool
decode(struct work *w, const struct gg_line *line, struct sequence *s)
{
    unsigned flags = w->options->special ? GG_DECODE_SPECIAL : 0;
    struct gg_error err;
    enum gg_status st = GG_OK;
    size_t n;

    s->state.no_bos = w->options->no_bos;
    sequences_reserve(&w->open, s, 32);
    for (size_t i = 0; i < line->n_ids && st == GG_OK;) {
        st = gg_vocab_decode(w->vocab, &s->state, line->ids[i], flags,
                             s->text + s->len, s->cap - s->len, &n, &err);
        if (st != GG_OK)
            cli_warn("%s: line %llu: %s", w->options->input,
                     (unsigned long long)w->line, err.message);
        else if (n > s->cap - s->len)
            sequences_reserve(&w->open, s, n);
        else
            s->len += n, i++;
    }
    w->n_ids += line->n_ids;
    return st == GG_OK;
}

/* Newlines and backslashes, so that a record stays a line. */
static void
write_escaped(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n' || text[i] == '\\')
            putchar('\\');
        putchar(text[i] == '\n' ? 'n' : text[i]);
    }
}

static void
write_record(struct work *w, const struct sequence *s)
{
    if (w->options->end == '\n')
        write_escaped(s->text, s->len);
    else if (s->len)
        fwrite(s->text, 1, s->len, stdout);
    putchar(w->options->end);
    w->bytes += s->len;
}

/* A record waits for those that appeared before it. */
static void
write_ended(struct work *w)
{
    for (; w->open.first && w->open.first->ended;
         sequences_drop_first(&w->open))
        write_record(w, w->open.first);
    cli_flush();
}

static void
check_held(const struct work *w)
{
    if (w->open.held > w->options->max_held)
        cli_die("text that is held back takes more than %llu MiB; --max-held "
                "allows more",
                (unsigned long long)w->options->max_held >> 20);
}

static void
decode_numbered(struct work *w, const struct gg_line *line)
{
    struct sequence *s = sequences_open(&w->open, line->sequence);

    if (line->kind == GG_LINE_ERROR) {
        cli_warn("sequence %llu: %s", (unsigned long long)line->sequence,
                 line->message);
        w->status = EXIT_FAILURE;
    } else if (line->kind == GG_LINE_IDS && !decode(w, line, s)) {
        w->status = EXIT_FAILURE;
    } else if (line->kind == GG_LINE_END) {
        sequences_end(&w->open, s);
        write_ended(w);
    }
    check_held(w);
}

/* Writes the text of the lines without a number, so far. */
static void
write_only(struct work *w)
{
    struct sequence *s = &w->only;

    if (s->len)
        fwrite(s->text, 1, s->len, stdout);
    w->bytes += s->len;
    s->len = 0;
    cli_flush();
}

static void
decode_plain(struct work *w, const struct gg_line *line)
{
    if (line->kind == GG_LINE_ERROR) {
        cli_warn("%s", line->message);
        w->status = EXIT_FAILURE;
        return;
    }
    if (!decode(w, line, &w->only)) {
        /* What follows would be text of nobody knows where. */
        if (w->options->records)
            write_record(w, &w->only);
        else
            write_only(w);
        exit(cli_finish(EXIT_FAILURE));
    }
    if (!w->options->records)
        write_only(w);
    check_held(w);
}

/* What has not been ended by its own line is complete with the input. */
static void
write_rest(struct work *w, bool numbered)
{
    for (struct sequence *s = w->open.first; s; s = s->later)
        if (!s->ended)
            sequences_end(&w->open, s);
    write_ended(w);
    if (w->options->records && !numbered)
        write_record(w, &w->only);
    free(w->open.buckets);
    free(w->only.text);
}

static void
decode_lines(struct work *w)
{
    bool numbered = false;
    struct gg_line line;
    struct gg_error err;
    enum gg_status st;

    while ((st = gg_line_read(w->reader, &line, &err)) == GG_OK) {
        w->line++;
        numbered = line.numbered;
        if (numbered)
            decode_numbered(w, &line);
        else
            decode_plain(w, &line);
    }
    if (st != GG_EOF)
        cli_check(st, &err);
    write_rest(w, numbered || w->line == 0);
}

int
tokenize_decode(const struct gg_vocab *vocab,
                const struct tokenize_options *options)
{
    struct work w = { .vocab = vocab, .options = options };
    struct gg_error err;

    cli_check(gg_line_reader_new(options->fd, options->input, &w.reader, &err),
              &err);
    decode_lines(&w);
    gg_line_reader_free(w.reader);
    if (options->verbose)
        cli_warn("%s: %llu ids, %llu bytes", options->input,
                 (unsigned long long)w.n_ids, (unsigned long long)w.bytes);
    return w.status;
}
