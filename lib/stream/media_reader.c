/* media_reader.c - rows stream: bytes, which may be hostile, to media */
#include <config.h>

#include <gg-stream.h>
#include <string.h>

#include "core/cursor.h"
#include "core/escape.h"
#include "core/mem.h"
#include "core/plant.h"
#include "stream/kind.h"
#include "stream/media.h"
#include "stream/record.h"

/* The next part of the input. */
enum rows_state {
    ROWS_AT_START,  /* a member */
    ROWS_AT_MEMBER, /* a member, or the end */
    ROWS_AT_HEAD,
    ROWS_AT_RECORD,
};

struct gg_rows_reader {
    struct stream_in in;
    enum rows_state state;
    bool has_head;
    uint64_t total, count; /* records of the stream, of the member's body */
    size_t given;          /* bytes that the last result points into */
    struct gg_rows_head head;
    struct gg_media_rows rows;
    char *writer, *message, *text;
    size_t text_cap;
    struct gg_piece *pieces;
    size_t pieces_cap;
};

enum gg_status
gg_rows_reader_new(int fd, const char *name, struct gg_rows_reader **out,
                   struct gg_error *err)
{
    struct gg_rows_reader *r;
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
        gg_rows_reader_free(r);
    return st;
}

void
gg_rows_reader_free(struct gg_rows_reader *reader)
{
    if (!reader)
        return;
    stream_in_clear(&reader->in);
    mem_free(reader->writer);
    mem_free(reader->message);
    mem_free(reader->text);
    mem_free(reader->pieces);
    mem_free(reader);
}

/* ---- Where a member begins ----------------------------------------------- */

static enum gg_status
no_rows_stream(const struct gg_rows_reader *r, struct gg_error *err)
{
    size_t len = stream_in_left(&r->in);
    char shown[100];

    escape_bytes(shown, sizeof(shown), (const char *)stream_in_data(&r->in),
                 len > 60 ? 60 : len);
    if (r->state != ROWS_AT_START)
        return error_set(err, GG_ERR_FORMAT,
                         "%s: stray bytes after the end record: \"%s\"",
                         r->in.name, shown);
    error_set(err, GG_ERR_FORMAT, "%s: not a rows stream: begins with \"%s\"",
              r->in.name, shown);
    stream_add_kind(stream_in_data(&r->in), len, NULL, err);
    return GG_ERR_FORMAT;
}

static enum gg_status
enter_rows(struct gg_rows_reader *r, struct gg_error *err)
{
    struct stream_in *in = &r->in;
    enum gg_status st = stream_in_fill(in, 1, err);

    if (st == GG_OK && stream_in_left(in) == 0)
        return r->state == ROWS_AT_MEMBER
                   ? GG_EOF
                   : error_set(err, GG_ERR_TRUNCATED,
                               "%s: empty, without even a head", in->name);
    if (st == GG_OK)
        st = stream_record_fill_preamble(in, MEDIA_MAGIC, err);
    if (st == GG_OK && !stream_record_begins(in, MEDIA_MAGIC))
        return no_rows_stream(r, err);
    if (st == GG_OK)
        st = stream_record_preamble(in, "rows stream", MEDIA_VERSION, err);
    if (st == GG_OK)
        r->state = ROWS_AT_HEAD;
    return st;
}

/* ---- Payloads ------------------------------------------------------------ */

static enum gg_status
wrong_length(struct gg_error *err)
{
    return error_set(err, GG_ERR_FORMAT, "its length does not fit its content");
}

/* Members of a stream have rows for the same model. */
static enum gg_status
check_same_head(const struct gg_rows_reader *r, const struct gg_rows_head *h,
                struct gg_error *err)
{
    if (!r->has_head ||
        (h->first == r->head.first && h->width == r->head.width &&
         h->n_deeper == r->head.n_deeper &&
         memcmp(h->projector, r->head.projector, GG_MEDIUM_HASH) == 0))
        return GG_OK;
    return error_set(err, GG_ERR_FORMAT,
                     "rows of another projector, or for another model, than "
                     "those before");
}

static enum gg_status
parse_rows_head(struct gg_rows_reader *r, struct cursor *c,
                struct gg_error *err)
{
    const void *hash = cursor_take(c, GG_MEDIUM_HASH), *writer;
    struct gg_rows_head h = { 0 };
    enum gg_status st;
    uint32_t n;

    h.first = (int32_t)cursor_u32(c);
    h.width = cursor_u32(c);
    h.n_deeper = cursor_u32(c);
    n = cursor_u32(c);
    writer = cursor_take(c, n);
    if (c->bad || cursor_left(c) >= 8)
        return wrong_length(err);
    if (memchr(writer, '\0', n))
        return error_set(err, GG_ERR_FORMAT, "a NUL in the writer's name");
    memcpy(h.projector, hash, GG_MEDIUM_HASH);
    st = stream_media_check_head(&h, GG_ERR_FORMAT, err);
    if (st == GG_OK)
        st = check_same_head(r, &h, err);
    if (st != GG_OK)
        return st;
    mem_free(r->writer);
    h.writer = r->writer = mem_strndup(writer, n);
    if (!r->writer)
        return error_nomem(err);
    r->head = h;
    r->has_head = true;
    return GG_OK;
}

/* n numbers of 4 bytes, padded, in the machine's order; NULL for none. */
static void *
take_padded(struct cursor *c, uint64_t n)
{
    uint64_t bytes = (4 * n + 7) & ~(uint64_t)7;
    void *p = (void *)(uintptr_t)cursor_take(c, bytes);

    if (p)
        core_le_array(p, (size_t)n, 4);
    return n ? p : NULL;
}

/* *text moves after the piece's, which gets its NUL in r->text. */
static enum gg_status
parse_piece(struct cursor *c, struct gg_piece *p, struct cursor *from,
            char **text, struct gg_error *err)
{
    uint32_t kind = cursor_u32(c), len = cursor_u32(c), flags;
    const char *bytes = cursor_take(from, len);

    *p = (struct gg_piece){ .kind = (enum gg_piece_kind)kind };
    p->first = cursor_u32(c);
    p->n = cursor_u32(c);
    p->n_positions = (int32_t)cursor_u32(c);
    p->width = cursor_u32(c);
    p->height = cursor_u32(c);
    flags = cursor_u32(c);
    p->block = flags & MEDIA_BLOCK;
    if (flags & ~(uint32_t)MEDIA_BLOCK)
        return error_set(err, GG_ERR_UNSUPPORTED, "unknown flags 0x%lx",
                         (unsigned long)flags);
    if (from->bad || (kind == GG_PIECE_ROWS && len > 0) ||
        (kind != GG_PIECE_ROWS && (p->first || p->n || p->n_positions ||
                                   p->width || p->height || flags)))
        return error_set(err, GG_ERR_FORMAT, "a piece is text and rows");
    if (memchr(bytes, '\0', len))
        return error_set(err, GG_ERR_FORMAT, "a NUL in the text of a piece");
    if (kind == GG_PIECE_ROWS)
        return GG_OK;
    p->text = *text;
    memcpy(*text, bytes, len);
    (*text)[len] = '\0';
    *text += len + 1;
    return GG_OK;
}

static enum gg_status
parse_pieces(struct gg_rows_reader *r, struct cursor *c, uint32_t n,
             uint32_t n_text, struct gg_error *err)
{
    uint64_t size = stream_format_padded(n_text);
    struct cursor pieces, texts;
    enum gg_status st = GG_OK;
    const void *at;
    char *text;

    at = cursor_take(c, (uint64_t)n * MEDIA_PIECE);
    pieces = cursor_over(at, at ? (size_t)n * MEDIA_PIECE : 0);
    at = cursor_take(c, size);
    texts = cursor_over(at, at ? n_text : 0);
    if (c->bad)
        return wrong_length(err);
    if (!mem_grow(&r->pieces, &r->pieces_cap, n, sizeof(*r->pieces)) ||
        !mem_grow(&r->text, &r->text_cap, (size_t)n_text + n, 1))
        return error_nomem(err);
    text = r->text;
    for (uint32_t i = 0; st == GG_OK && i < n; i++)
        st = parse_piece(&pieces, &r->pieces[i], &texts, &text, err);
    if (st == GG_OK && cursor_left(&texts) > 0)
        st = wrong_length(err);
    r->rows.pieces = r->pieces;
    r->rows.n_pieces = n;
    return st;
}

/* Products do not wrap: all of them have bounds. */
static enum gg_status
parse_values(struct gg_rows_reader *r, struct cursor *c, uint32_t flags,
             struct gg_error *err)
{
    struct gg_medium *m = &r->rows.medium;
    uint64_t n = (uint64_t)m->n * r->head.width;

    m->width = r->head.width;
    m->n_deeper = r->head.n_deeper;
    m->rows = take_padded(c, n);
    m->deeper = take_padded(c, n * m->n_deeper);
    m->positions =
        take_padded(c, flags & MEDIA_POSITIONS ? 3 * (uint64_t)m->n : 0);
    m->blocks = take_padded(c, flags & MEDIA_BLOCKS ? m->n : 0);
    return c->bad || cursor_left(c) > 0 ? wrong_length(err) : GG_OK;
}

static enum gg_status
parse_medium(struct gg_rows_reader *r, struct cursor *c, struct gg_error *err)
{
    const void *hash = cursor_take(c, GG_MEDIUM_HASH);
    uint32_t kind = cursor_u32(c), n_pieces = cursor_u32(c);
    uint32_t n = cursor_u32(c), flags = cursor_u32(c);
    uint32_t n_text = cursor_u32(c), zero = cursor_u32(c);
    enum gg_status st;

    r->rows = (struct gg_media_rows){ .kind = (enum gg_media_kind)kind };
    r->rows.medium.n = n;
    memcpy(r->rows.medium.hash, hash, GG_MEDIUM_HASH);
    if (flags & ~(uint32_t)(MEDIA_POSITIONS | MEDIA_BLOCKS) || zero)
        return error_set(err, GG_ERR_UNSUPPORTED, "unknown flags 0x%lx",
                         (unsigned long)(flags | zero));
    if (n_pieces > MEDIA_PIECES_MAX || n_text > MEDIA_TEXT_MAX ||
        n > MEDIA_ROWS_MAX)
        return error_set(err, GG_ERR_FORMAT,
                         "a medium of %lu rows, %lu pieces and %lu bytes",
                         (unsigned long)n, (unsigned long)n_pieces,
                         (unsigned long)n_text);
    st = parse_pieces(r, c, n_pieces, n_text, err);
    if (st == GG_OK)
        st = parse_values(r, c, flags, err);
    if (st == GG_OK)
        st = stream_media_check(&r->head, &r->rows, GG_ERR_FORMAT, err);
    return st;
}

static enum gg_status
parse_media_failure(struct gg_rows_reader *r, struct cursor *c,
                    struct gg_error *err)
{
    uint64_t zero = cursor_u64(c);
    uint32_t len = cursor_u32(c), more = cursor_u32(c);
    const char *message = cursor_take(c, len);

    if (c->bad || zero || more || cursor_left(c) >= 8)
        return wrong_length(err);
    if (memchr(message, '\0', len))
        return error_set(err, GG_ERR_FORMAT, "a message with a NUL");
    mem_free(r->message);
    r->message = escape_copy(message, len);
    return r->message ? GG_OK : error_nomem(err);
}

/* ---- Records ------------------------------------------------------------- */

static uint64_t
shortest_payload(uint32_t kind)
{
    return kind == KIND_HEAD   ? MEDIA_HEAD
           : kind == KIND_MEDI ? MEDIA_MEDIUM
           : kind == KIND_FAIL ? FORMAT_FAIL
           : kind == KIND_DONE ? FORMAT_DONE
                               : 0;
}

static uint64_t
longest_payload(uint32_t kind, bool body)
{
    if (!body)
        return kind == KIND_HEAD ? MEDIA_HEAD + FORMAT_WRITER_MAX : 0;
    return kind == KIND_MEDI        ? MEDIA_PAYLOAD_MAX
           : kind == KIND_FAIL      ? FORMAT_FAIL + FORMAT_MESSAGE_MAX
           : kind == KIND_DONE      ? FORMAT_DONE
           : KIND_IS_OPTIONAL(kind) ? FORMAT_OPTIONAL_MAX
                                    : 0;
}

static enum gg_status
await_record(struct gg_rows_reader *r, uint32_t *kind, size_t *length,
             struct gg_error *err)
{
    uint64_t claimed = 0;
    enum gg_status st = stream_record_header(&r->in, kind, &claimed, err);

    if (st == GG_OK)
        st = stream_record_check(
            *kind, claimed, shortest_payload(*kind),
            longest_payload(*kind, r->state == ROWS_AT_RECORD), err);
    if (st == GG_OK)
        st = stream_record_payload(&r->in, *kind, claimed, err);
    *length = (size_t)claimed;
    return st;
}

static enum gg_status
check_count(const struct gg_rows_reader *r, uint64_t claimed,
            struct gg_error *err)
{
    if (claimed == r->count)
        return GG_OK;
    return error_set(err, GG_ERR_FORMAT,
                     "records are missing or too many: %llu, not %llu",
                     (unsigned long long)r->count, (unsigned long long)claimed);
}

static enum gg_status
parse_rows_record(struct gg_rows_reader *r, uint32_t kind, size_t length,
                  struct gg_rows_record *out, struct gg_error *err)
{
    struct cursor c =
        cursor_over(stream_in_data(&r->in) + FORMAT_HEADER, length);

    switch (kind) {
    case KIND_HEAD:
        out->kind = GG_ROWS_HEAD;
        return parse_rows_head(r, &c, err);
    case KIND_MEDI:
        out->kind = GG_ROWS_MEDIUM;
        out->rows = &r->rows;
        return parse_medium(r, &c, err);
    case KIND_FAIL:
        out->kind = GG_ROWS_ERROR;
        return parse_media_failure(r, &c, err);
    case KIND_DONE:
        out->kind = GG_ROWS_END;
        return check_count(r, cursor_u64(&c), err);
    default:
        return GG_OK;
    }
}

/* *skipped: it was one that need not be known. */
static enum gg_status
read_rows_record(struct gg_rows_reader *r, struct gg_rows_record *out,
                 bool *skipped, struct gg_error *err)
{
    uint32_t kind = 0;
    size_t length = 0;
    enum gg_status st;

    stream_in_use(&r->in, r->given);
    r->given = 0;
    st = await_record(r, &kind, &length, err);
    if (st == GG_OK)
        st = parse_rows_record(r, kind, length, out, err);
    if (st == GG_ERR_FORMAT || st == GG_ERR_TRUNCATED ||
        st == GG_ERR_UNSUPPORTED)
        error_prefix(err, st, "%s: record %llu", r->in.name,
                     (unsigned long long)r->total + 1);
    if (st != GG_OK)
        return st;
    *skipped = KIND_IS_OPTIONAL(kind);
    r->given = FORMAT_HEADER + length;
    r->total++;
    r->count = kind == KIND_HEAD ? 0 : r->count + 1;
    r->state = kind == KIND_DONE ? ROWS_AT_MEMBER : ROWS_AT_RECORD;
    return GG_OK;
}

enum gg_status
gg_rows_read(struct gg_rows_reader *reader, struct gg_rows_record *record,
             struct gg_error *err)
{
    struct gg_rows_record out = { 0 };
    enum gg_status st = GG_OK;
    bool skipped = true;

    if (!reader || !record)
        return error_null(err);
    stream_in_use(&reader->in, reader->given);
    reader->given = 0;
    if (reader->state == ROWS_AT_START || reader->state == ROWS_AT_MEMBER)
        st = enter_rows(reader, err);
    while (st == GG_OK && skipped)
        st = read_rows_record(reader, &out, &skipped, err);
    gg_plant("rows stream");
    if (st != GG_OK)
        return st;
    out.head = reader->head;
    out.message = out.kind == GG_ROWS_ERROR ? reader->message : NULL;
    *record = out;
    return GG_OK;
}
