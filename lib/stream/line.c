/* line.c - token stream: lines of text to records and back */
#include <config.h>

#include <gg-stream.h>
#include <string.h>

#include "core/check.h"
#include "core/escape.h"
#include "core/mem.h"
#include "core/plant.h"
#include "stream/ids.h"
#include "stream/io.h"
#include "stream/kind.h"
#include "stream/line_rows.h"
#include "stream/number.h"

enum {
    LINE_LIMIT = 1 << 27, /* bytes: some 20 million ids */
    LINE_PART = 1 << 14,  /* of these */
};

struct gg_line_reader {
    struct stream_in in;
    uint64_t number; /* of the line, from 1 */
    bool begun;      /* a line of ids has come */
    struct line_rows rows;
    bool numbered; /* what the first of them was */
    bool back;     /* lines may take ids back */
    size_t part;   /* bytes, of a line that comes in parts; 0: none does */
    bool inside;   /* of a line of which parts were read */
    bool some;     /* and there were ids */
    uint64_t sequence;
    int32_t *ids;
    size_t cap;
    char *message;
};

enum gg_status
gg_line_reader_new(int fd, const char *name, struct gg_line_reader **out,
                   struct gg_error *err)
{
    struct gg_line_reader *r;
    enum gg_status st;

    if (!name || !out)
        return error_null(err);
    r = mem_zalloc(sizeof(*r));
    if (!r)
        return error_nomem(err);
    st = stream_in_init(&r->in, fd, name, err);
    if (st == GG_OK)
        *out = r;
    else
        gg_line_reader_free(r);
    return st;
}

void
gg_line_reader_free(struct gg_line_reader *reader)
{
    if (!reader)
        return;
    stream_in_clear(&reader->in);
    stream_rows_clear(&reader->rows);
    mem_free(reader->ids);
    mem_free(reader->message);
    mem_free(reader);
}

void
gg_line_reader_split(struct gg_line_reader *reader)
{
    if (reader)
        reader->part = LINE_PART;
}

void
gg_line_reader_back(struct gg_line_reader *reader)
{
    if (reader)
        reader->back = true;
}

void
gg_line_reader_watch(struct gg_line_reader *reader, int fd)
{
    if (reader)
        reader->in.watch = fd;
}

enum gg_status
gg_line_reader_rows(struct gg_line_reader *reader, int32_t first,
                    const uint8_t *hashes, size_t n, struct gg_error *err)
{
    uint8_t *copy = NULL;

    if (!reader)
        return error_null(err);
    if (first < 0)
        return error_set(err, GG_ERR_ARG, "ids of rows begin at %d",
                         (int)first);
    if (hashes && n > SIZE_MAX / GG_MEDIUM_HASH)
        return error_nomem(err);
    if (hashes && !(copy = mem_dup(hashes, n * GG_MEDIUM_HASH)))
        return error_nomem(err);
    stream_rows_clear(&reader->rows);
    reader->rows = (struct line_rows){ .taken = true,
                                       .any = !hashes,
                                       .hashes = copy,
                                       .n = hashes ? n : 0,
                                       .first = first };
    return GG_OK;
}

bool
gg_line_reader_has_rows(const struct gg_line_reader *reader)
{
    return reader && reader->rows.named;
}

/* `"what" why`, the bytes shown safely and cut. */
static enum gg_status
refuse_line(const char *s, size_t len, const char *why, struct gg_error *err)
{
    char shown[48];

    escape_bytes(shown, sizeof(shown), s, len);
    return error_set(err, GG_ERR_FORMAT, "\"%s\" %s", shown, why);
}

static enum gg_status
parse_ids(struct gg_line_reader *r, const char *s, const char *end,
          struct gg_line *line, struct gg_error *err)
{
    size_t n = 0;

    /* An id takes a digit and a blank, but for the last. */
    if (!mem_grow(&r->ids, &r->cap, (size_t)(end - s) / 2 + 1, sizeof(*r->ids)))
        return error_nomem(err);
    for (;;) {
        const char *word;
        uint64_t id;

        n += stream_ids(&s, end, r->ids + n);
        while (s < end && *s == ' ')
            s++;
        if (s == end)
            break;
        word = s;
        if (!stream_number(&s, end, INT32_MAX, &id) || (s < end && *s != ' ')) {
            while (s < end && *s != ' ')
                s++;
            return refuse_line(word, (size_t)(s - word), "is no token id", err);
        }
        r->ids[n++] = (int32_t)id;
    }
    if (stream_rows_stray(&r->rows, r->ids, n) < n)
        return error_set(err, GG_ERR_FORMAT,
                         "id %d is of a row, and no line #rows stands before",
                         (int)r->ids[stream_rows_stray(&r->rows, r->ids, n)]);
    line->kind = n == 0 && line->numbered && !line->more && !r->some
                     ? GG_LINE_END
                     : GG_LINE_IDS;
    line->ids = r->ids;
    line->n_ids = n;
    return GG_OK;
}

static enum gg_status
parse_message(struct gg_line_reader *r, const char *s, const char *end,
              struct gg_line *line, struct gg_error *err)
{
    if (memchr(s, '\0', (size_t)(end - s)))
        return refuse_line(s, (size_t)(end - s), "has a NUL", err);
    mem_free(r->message);
    r->message = escape_copy(s, (size_t)(end - s));
    if (!r->message)
        return error_nomem(err);
    line->kind = GG_LINE_ERROR;
    line->message = r->message;
    return GG_OK;
}

/* Takes `SEQ<TAB>` off the front, if it is there. */
static enum gg_status
parse_sequence(const char **s, const char *end, struct gg_line *line,
               struct gg_error *err)
{
    const char *digits = *s, *tab = memchr(*s, '\t', (size_t)(end - *s));

    if (!tab || **s == '!')
        return GG_OK;
    if (!stream_number(s, tab, UINT64_MAX, &line->sequence) || *s != tab)
        return refuse_line(digits, (size_t)(tab - digits),
                           "is no sequence number", err);
    line->numbered = true;
    *s = tab + 1;
    return GG_OK;
}

/* Moves *s past the prefix of the ids. */
static enum gg_status
parse_begin(struct gg_line_reader *r, const char **s, const char *end,
            struct gg_line *line, struct gg_error *err)
{
    enum gg_status st = parse_sequence(s, end, line, err);

    if (st != GG_OK)
        return st;
    if (!r->begun)
        r->numbered = line->numbered;
    r->begun = true;
    if (line->numbered != r->numbered)
        return error_set(err, GG_ERR_FORMAT,
                         "has %s sequence number, unlike the lines before",
                         line->numbered ? "a" : "no");
    r->sequence = line->sequence;
    r->some = false;
    return GG_OK;
}

/* Takes `-N ` off the front and `?` off the end, if they are there. */
static enum gg_status
parse_back(const char **s, const char **end, struct gg_line *line,
           struct gg_error *err)
{
    const char *p = *s + 1;

    if (*s < *end && **s == '-') {
        if (!stream_number(&p, *end, INT32_MAX, &line->back) ||
            line->back == 0 || p + 1 >= *end || *p != ' ')
            return refuse_line(*s, (size_t)(*end - *s),
                               "takes no ids back for others", err);
        *s = p + 1;
    }
    line->open = *s < *end && !line->more && (*end)[-1] == '?';
    *end -= line->open;
    return GG_OK;
}

static enum gg_status
parse(struct gg_line_reader *r, const char *s, size_t len, struct gg_line *line,
      struct gg_error *err)
{
    const char *end = s + len;
    enum gg_status st = GG_OK;

    if (r->inside) {
        line->numbered = r->numbered;
        line->sequence = r->sequence;
    } else {
        st = parse_begin(r, &s, end, line, err);
        if (st == GG_OK && s < end && *s == '!')
            return parse_message(r, s + 1, end, line, err);
        if (st == GG_OK && r->back)
            st = parse_back(&s, &end, line, err);
    }
    return st == GG_OK ? parse_ids(r, s, end, line, err) : st;
}

/* A message comes whole. It begins the line, or stands after a number. */
static bool
is_message(const char *s, size_t len)
{
    const char *tab = memchr(s, '\t', len), *mark = memchr(s, '!', len);

    return mark &&
           (mark == s + stream_mark(s, len) || (tab && mark == tab + 1));
}

/* Nor is the line cut that names media. */
static bool
is_rows(const struct gg_line_reader *r, const char *s, size_t len)
{
    size_t mark = stream_mark(s, len);

    return !r->begun && stream_rows_begins(s + mark, len - mark);
}

/* The next line or, where lines are split, part of one. */
static enum gg_status
next(struct gg_line_reader *r, const char **s, size_t *len, bool *more,
     struct gg_error *err)
{
    bool cut; /* a last line without its newline is a line */
    enum gg_status st;

    *more = false;
    if (r->part == 0)
        return stream_in_line(&r->in, LINE_LIMIT, s, len, &cut, err);
    st = stream_in_part(&r->in, r->part, LINE_LIMIT, s, len, more, err);
    if (st != GG_OK || !*more || r->inside ||
        (!is_message(*s, *len) && !is_rows(r, *s, *len)))
        return st;
    stream_in_back(&r->in, *len);
    *more = false;
    return stream_in_line(&r->in, LINE_LIMIT, s, len, &cut, err);
}

/* Drops what editors and other systems put around the lines of a text. */
static void
trim(const struct gg_line_reader *r, bool more, const char **s, size_t *len)
{
    size_t mark = r->number == 1 && !r->inside ? stream_mark(*s, *len) : 0;

    *s += mark;
    *len -= mark;
    if (!more)
        *len = stream_without_cr(*s, *len);
}

/* A line, or, *rows, that which names media. */
static enum gg_status
read_line(struct gg_line_reader *reader, struct gg_line *line, bool *rows,
          struct gg_error *err)
{
    struct gg_line parsed = { 0 };
    struct stream_in *in;
    const char *s;
    size_t len;
    enum gg_status st;

    *rows = false;
    in = &reader->in;
    st = next(reader, &s, &len, &parsed.more, err);
    if ((st == GG_OK || st == GG_ERR_FORMAT) && !reader->inside)
        reader->number++;
    if (st == GG_OK) {
        trim(reader, parsed.more, &s, &len);
        *rows = reader->number == 1 && !reader->inside &&
                stream_rows_begins(s, len);
        st = *rows ? stream_rows_read(&reader->rows, s, len, err)
                   : parse(reader, s, len, &parsed, err);
        if (!*rows && st == GG_ERR_FORMAT && reader->number == 1 &&
            !reader->inside)
            stream_add_kind(s, len, stream_kind_ids, err);
        gg_plant("token stream");
        reader->inside = parsed.more;
        reader->some = reader->some || parsed.n_ids > 0;
    }
    if (st == GG_OK)
        *line = parsed;
    else if (st == GG_ERR_FORMAT)
        error_prefix(err, st, "%s: line %llu", in->name,
                     (unsigned long long)reader->number);
    return st;
}

enum gg_status
gg_line_read(struct gg_line_reader *reader, struct gg_line *line,
             struct gg_error *err)
{
    enum gg_status st;
    bool rows;

    if (!reader || !line)
        return error_null(err);
    st = read_line(reader, line, &rows, err);
    return st == GG_OK && rows ? read_line(reader, line, &rows, err) : st;
}

bool
gg_line_ready(struct gg_line_reader *reader)
{
    return reader &&
           stream_in_line_ready(&reader->in, reader->part, LINE_LIMIT);
}

/* Newlines would end the record. */
static char *
put_message(char *p, const char *message)
{
    *p++ = '!';
    for (; *message; message++)
        *p++ = *message == '\n' || *message == '\r' ? ' ' : *message;
    return p;
}

static char *
put_sequence(char *p, const struct gg_line *line)
{
    if (line->numbered) {
        p = stream_put_number(p, line->sequence);
        *p++ = '\t';
    }
    return p;
}

static char *
put_line(char *p, const struct gg_line *line)
{
    p = put_sequence(p, line);
    if (line->kind == GG_LINE_ERROR)
        p = put_message(p, line->message);
    if (line->kind == GG_LINE_IDS && line->back) {
        *p++ = '-';
        p = stream_put_number(p, line->back);
        *p++ = ' ';
    }
    for (size_t i = 0; line->kind == GG_LINE_IDS && i < line->n_ids; i++) {
        if (i > 0)
            *p++ = ' ';
        p = stream_put_number(p, (uint64_t)line->ids[i]);
    }
    if (line->kind == GG_LINE_IDS && line->open)
        *p++ = '?';
    *p++ = '\n';
    if (line->last && line->numbered) {
        p = put_sequence(p, line);
        *p++ = '\n';
    }
    return p;
}

static enum gg_status
check_line(const struct gg_line *line, struct gg_error *err)
{
    bool ids = line && line->kind == GG_LINE_IDS;

    if (!line || (ids && !line->ids && line->n_ids) ||
        (line->kind == GG_LINE_ERROR && !line->message))
        return error_null(err);
    if ((unsigned)line->kind > GG_LINE_ERROR)
        return error_set(err, GG_ERR_ARG, "a line of no kind");
    if (ids && line->back && !line->n_ids)
        return error_set(err, GG_ERR_ARG, "no ids in place of others");
    for (size_t i = 0; ids && i < line->n_ids; i++)
        if (line->ids[i] < 0)
            return error_set(err, GG_ERR_ARG, "a token id is negative");
    return GG_OK;
}

enum gg_status
gg_line_write(int fd, const struct gg_line *line, struct gg_error *err)
{
    char small[512], *text = small;
    size_t need;
    struct iovec part;
    enum gg_status st = check_line(line, err);

    if (st != GG_OK)
        return st;
    need = line->kind == GG_LINE_ERROR ? strlen(line->message) : line->n_ids;
    /* An id takes 10 digits and a blank, all else at most 72: three numbers of
     * 20 digits where a line has the most. */
    if (!check_mul(need, 11, &need) || !check_add(need, 72, &need))
        return error_nomem(err);
    if (need > sizeof(small) && !(text = mem_alloc(need)))
        return error_nomem(err);
    part = (struct iovec){ text, (size_t)(put_line(text, line) - text) };
    st = stream_write(fd, &part, 1, err);
    if (text != small)
        mem_free(text);
    return st;
}
