/* decode.c - lines of ids to text */
#include <config.h>

#include <gg-stream.h>

#include "common/cli.h"
#include "common/terminal.h"
#include "common/utf8.h"
#include "gg-tokenize/sequences.h"
#include "gg-tokenize/tokenize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 1 << 14,      /* ids in binary that are read at once */
    BLOCK_TEXT = 1 << 17, /* bytes of text that are written at once, or more */
};

/* The text of a numbered sequence may come in many chunks between those of
 * others, and is held back until it is complete. */
struct work {
    const struct gg_vocab *vocab;
    const struct tokenize_options *options;
    struct gg_line_reader *reader;
    uint64_t line; /* its number in the input; 0: there are no lines */
    bool inside;   /* of that line: more of it is to come */
    bool bad;      /* one of its ids is none: the others do not count */
    struct sequences open;
    struct sequence only; /* the one without a number */
    uint64_t bytes, n_ids;
    int status;
};

/* ---- writing ---- */

/* Newlines and backslashes, so that a record stays a line. */
static void
write_escaped(const char *text, size_t len)
{
    size_t from = 0;

    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\n' && text[i] != '\\')
            continue;
        terminal_write(text + from, i - from, true);
        terminal_write(text[i] == '\n' ? "\\n" : "\\\\", 2, true);
        from = i + 1;
    }
    terminal_write(text + from, len - from, true);
}

static void
write_shown(const char *text, size_t len, bool escaped)
{
    if (escaped)
        write_escaped(text, len);
    else
        terminal_write(text, len, true);
}

/* Writes the text, and returns how many of its bytes: not the begin of a
 * character at its end, if more may follow. */
static size_t
write_text(const struct work *w, const char *text, size_t len, bool more,
           bool escaped)
{
    size_t at = 0, written = 0;

    while (w->options->clean && at < len) {
        size_t n = utf8_ascii(text + at, len - at);
        bool valid = true;

        if (n == 0)
            n = utf8_next(text + at, len - at, &valid);
        if (n == 0 && more)
            break;
        if (!valid) {
            n = n ? n : len - at;
            write_shown(text + written, at - written, escaped);
            write_shown("\xef\xbf\xbd", 3, escaped);
            written = at + n;
        }
        at += n;
    }
    at = w->options->clean ? at : len;
    if (at > written)
        write_shown(text + written, at - written, escaped);
    if (!more)
        terminal_write(NULL, 0, false);
    return at;
}

static void
write_record(struct work *w, const struct sequence *s)
{
    write_text(w, s->text, s->len, false, w->options->end == '\n');
    if (w->options->end)
        terminal_write("\n", 1, false);
    else
        putchar('\0');
    w->bytes += s->len;
}

/* A record waits for those that appeared before it. */
static void
write_ended(struct work *w)
{
    struct sequence *s;

    for (; (s = sequences_first(&w->open)) && s->ended;
         sequences_drop_first(&w->open))
        write_record(w, s);
}

/* Writes the text of the lines without a number, so far. */
static void
write_only(struct work *w, bool more)
{
    struct sequence *s = &w->only;
    size_t n = write_text(w, s->text, s->len, more, false);

    w->bytes += n;
    s->len -= n;
    if (s->len)
        memmove(s->text, s->text + n, s->len);
}

/* Who waits for text gets what is known of it. */
static void
pass_on(struct work *w)
{
    if (!w->options->records)
        write_only(w, true);
    cli_flush();
}

/* ---- lines of ids ---- */

static void
warn_bad_id(const struct work *w, size_t i, const struct gg_error *err)
{
    if (w->line)
        cli_warn("%s: line %llu: %s", w->options->input,
                 (unsigned long long)w->line, err->message);
    else
        cli_warn("%s: id %llu: %s", w->options->input,
                 (unsigned long long)(w->n_ids + i + 1), err->message);
}

/* Text of lines without a number is held back in records only. */
static bool
is_held(const struct work *w, const struct sequence *s)
{
    return s != &w->only || w->options->records;
}

/* For n more bytes: what is not held back makes way for them. */
static void
make_room(struct work *w, struct sequence *s, size_t n)
{
    if (!is_held(w, s))
        write_only(w, true);
    sequences_reserve(&w->open, s, n);
}

/* How many of the ids come before the first row of a medium. */
static size_t
count_tokens(const struct work *w, const int32_t *ids, size_t n)
{
    size_t i = 0;

    if (!gg_line_reader_has_rows(w->reader))
        return n;
    while (i < n && ids[i] < gg_vocab_size(w->vocab))
        i++;
    return i;
}

/* A medium where control tokens are shown, at its first row. */
static void
show_row(struct work *w, struct sequence *s, int32_t id)
{
    const struct tokenize_options *o = w->options;
    const struct media_item *item = o->media && o->special == SPECIAL_PARSE
                                        ? media_find(o->media, id)
                                        : NULL;
    const char *kind = item ? media_kind_name(item->rows.kind) : "";
    size_t n = strlen(kind);

    if (!item || id != item->first)
        return;
    make_room(w, s, n + 2);
    s->text[s->len] = '[';
    memcpy(s->text + s->len + 1, kind, n);
    s->text[s->len + n + 1] = ']';
    s->len += n + 2;
}

/* Adds the text of the line's ids to the sequence. False: an id is none. */
static bool
decode_ids(struct work *w, const struct gg_line *line, struct sequence *s)
{
    unsigned flags =
        w->options->special == SPECIAL_PARSE ? GG_DECODE_SPECIAL : 0;
    struct gg_error err;
    enum gg_status st = GG_OK;
    size_t i = 0, done, n;

    s->state.no_bos = w->options->no_bos;
    if (is_held(w, s))
        sequences_reserve(&w->open, s, 4 * line->n_ids); /* as in English */
    while (i < line->n_ids && st == GG_OK) {
        size_t tokens = count_tokens(w, line->ids + i, line->n_ids - i);

        if (tokens == 0) { /* a row, which is no text */
            show_row(w, s, line->ids[i++]);
            continue;
        }
        st = gg_vocab_decode_ids(w->vocab, &s->state, line->ids + i, tokens,
                                 flags, s->text + s->len, s->cap - s->len,
                                 &done, &n, &err);
        if (st != GG_OK)
            warn_bad_id(w, i, &err);
        else if (done == 0)
            make_room(w, s, n);
        else
            s->len += n, i += done;
    }
    w->n_ids += line->n_ids;
    return st == GG_OK;
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
        w->status = EXIT_RECORDS;
    } else if (line->kind == GG_LINE_IDS && !decode_ids(w, line, s)) {
        w->status = EXIT_RECORDS;
        w->bad = true;
    } else if (line->kind == GG_LINE_END) {
        sequences_end(&w->open, s);
        write_ended(w);
    }
    check_held(w);
}

static void
decode_plain(struct work *w, const struct gg_line *line)
{
    if (line->kind == GG_LINE_ERROR) {
        cli_warn("%s", line->message);
        w->status = EXIT_FAILURE;
        return;
    }
    if (!decode_ids(w, line, &w->only)) {
        /* Text that follows would have no known place. */
        if (w->options->records)
            write_record(w, &w->only);
        else
            write_only(w, false);
        exit(cli_finish(EXIT_FAILURE));
    }
    check_held(w);
}

/* A sequence that no line of its own has ended is complete with the input. */
static void
write_rest(struct work *w, bool numbered)
{
    for (struct numbered *p = w->open.table.oldest; p; p = p->newer) {
        struct sequence *s = (struct sequence *)p;

        if (!s->ended)
            sequences_end(&w->open, s);
    }
    write_ended(w);
    if (w->options->records && !numbered)
        write_record(w, &w->only);
    else
        write_only(w, false);
    sequence_table_clear(&w->open.table);
    free(w->only.text);
}

static void
decode_line(struct work *w, const struct gg_line *line)
{
    if (!w->inside) {
        w->line++;
        w->bad = false;
    }
    w->inside = line->more;
    if (shard_is_part(&w->options->shard) &&
        !shard_has_line(&w->options->shard, line, w->options->input))
        return;
    if (w->bad)
        w->n_ids += line->n_ids;
    else if (line->numbered)
        decode_numbered(w, line);
    else
        decode_plain(w, line);
}

static void
decode_lines(struct work *w)
{
    bool numbered = false;
    struct gg_line line;
    struct gg_error err;
    enum gg_status st;

    gg_line_reader_split(w->reader);
    cli_check(gg_line_reader_rows(w->reader, INT32_MAX, NULL, 0, &err), &err);
    while ((st = gg_line_read(w->reader, &line, &err)) == GG_OK) {
        numbered = line.numbered;
        decode_line(w, &line);
        if (!gg_line_ready(w->reader))
            pass_on(w);
    }
    if (st != GG_EOF) {
        pass_on(w);
        cli_check(st, &err);
    }
    write_rest(w, numbered || w->line == 0);
}

/* ---- ids in binary: one text ---- */

static void
read_u16(const uint8_t *p, int32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++, p += 2)
        ids[i] = p[0] | p[1] << 8;
}

static void
read_u32(const struct work *w, const uint8_t *p, int32_t *ids, size_t n)
{
    uint32_t all = 0;

    for (size_t i = 0; i < n; i++, p += 4) {
        uint32_t id = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
                      (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

        ids[i] = (int32_t)id;
        all |= id;
    }
    for (size_t i = 0; all > INT32_MAX && i < n; i++)
        if (ids[i] < 0)
            cli_die("%s: %lu is no id", w->options->input,
                    (unsigned long)(uint32_t)ids[i]);
}

static size_t
read_block(const struct work *w, uint8_t *p, size_t size)
{
    ssize_t n;

    do
        n = read(w->options->fd, p, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        cli_die("%s: %s", w->options->input, strerror(errno));
    return (size_t)n;
}

static void
decode_binary(struct work *w)
{
    const size_t width = w->options->binary;
    uint8_t *bytes = cli_alloc(NULL, BLOCK, 4);
    int32_t *ids = cli_alloc(NULL, BLOCK, sizeof(*ids));
    size_t have = 0, n;

    while ((n = read_block(w, bytes + have, BLOCK * width - have))) {
        struct gg_line line = { .kind = GG_LINE_IDS, .ids = ids };
        size_t done;

        have += n;
        line.n_ids = have / width;
        done = line.n_ids * width;
        if (width == 2)
            read_u16(bytes, ids, line.n_ids);
        else
            read_u32(w, bytes, ids, line.n_ids);
        decode_plain(w, &line);
        pass_on(w);
        have -= done;
        memmove(bytes, bytes + done, have);
    }
    write_only(w, false);
    free(w->only.text);
    free(bytes);
    free(ids);
    if (have)
        cli_die("%s: the input ends in the middle of an id", w->options->input);
}

int
tokenize_decode(const struct gg_vocab *vocab,
                const struct tokenize_options *options)
{
    struct work w = { .vocab = vocab, .options = options };
    struct gg_error err;

    terminal_open(options->raw);
    if (!options->records)
        sequences_reserve(&w.open, &w.only, BLOCK_TEXT);
    if (options->binary) {
        decode_binary(&w);
    } else {
        cli_check(
            gg_line_reader_new(options->fd, options->input, &w.reader, &err),
            &err);
        decode_lines(&w);
        gg_line_reader_free(w.reader);
    }
    terminal_finish(options->newline && !options->records);
    cli_flush();
    if (options->verbose)
        cli_warn("%s: %llu ids, %llu bytes", options->input,
                 (unsigned long long)w.n_ids, (unsigned long long)w.bytes);
    return w.status;
}
