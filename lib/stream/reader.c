/* reader.c - logit stream: bytes, which may be hostile, to records */
#include <config.h>

#include <gg.h>
#include <string.h>

#include "core/crc32.h"
#include "core/cursor.h"
#include "core/escape.h"
#include "core/half.h"
#include "core/mem.h"
#include "stream/format.h"
#include "stream/io.h"
#include "stream/text.h"

/* What comes next. */
enum state {
    AT_START,  /* a member, or the text form */
    AT_MEMBER, /* a member, or the end */
    AT_HEAD,
    AT_RECORD,
    AT_TEXT,
    AT_TEXT_END,
};

struct gg_logit_reader {
    struct stream_in in;
    enum state state;
    uint64_t total, count; /* records of the stream, of the member's body */
    size_t given;          /* bytes that the last result points into */
    struct gg_logit_head head;
    int32_t *eog_ids;
    char *writer;
    float *wide; /* half precision, widened */
    size_t wide_cap;
    char *message;
    struct text_reader text;
};

enum gg_status
gg_logit_reader_new(int fd, const char *name, struct gg_logit_reader **out,
                    struct gg_error *err)
{
    struct gg_logit_reader *r = mem_zalloc(sizeof(*r));
    enum gg_status st;

    if (!r)
        return error_nomem(err);
    st = stream_in_init(&r->in, fd, name, err);
    if (st == GG_OK)
        *out = r;
    else
        gg_logit_reader_free(r);
    return st;
}

void
gg_logit_reader_free(struct gg_logit_reader *reader)
{
    if (!reader)
        return;
    stream_in_clear(&reader->in);
    text_reader_clear(&reader->text);
    mem_free(reader->eog_ids);
    mem_free(reader->writer);
    mem_free(reader->wide);
    mem_free(reader->message);
    mem_free(reader);
}

/* ---- where a member begins ---- */

static enum gg_status
not_a_stream(struct gg_logit_reader *r, struct gg_error *err)
{
    size_t len = stream_in_left(&r->in);
    char shown[100];

    escape_bytes(shown, sizeof(shown), (const char *)stream_in_data(&r->in),
                 len > 60 ? 60 : len);
    return error_set(err, GG_ERR_FORMAT, "%s: %s \"%s\"", r->in.name,
                     r->state == AT_START ? "not a logit stream: begins with"
                                          : "stray bytes after the end record:",
                     shown);
}

/* The bytes so far could become a preamble. */
static bool
magic_begins(const struct stream_in *in)
{
    size_t n = stream_in_left(in);

    return memcmp(stream_in_data(in), FORMAT_MAGIC, n < 8 ? n : 8) == 0;
}

static bool
text_begins(const struct stream_in *in)
{
    uint8_t c = *stream_in_data(in);

    return (c >= '0' && c <= '9') || c == '-';
}

static enum gg_status
check_preamble(struct gg_logit_reader *r, struct gg_error *err)
{
    uint32_t rest[2];

    if (stream_in_left(&r->in) < FORMAT_PREAMBLE)
        return error_set(err, GG_ERR_TRUNCATED, "%s: cut off in its preamble",
                         r->in.name);
    memcpy(rest, stream_in_data(&r->in) + 8, 8);
    if (rest[0] != FORMAT_VERSION || rest[1] != 0)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%s: logit stream of version %lu, not %d", r->in.name,
                         (unsigned long)rest[0], FORMAT_VERSION);
    return GG_OK;
}

static enum gg_status
enter_member(struct gg_logit_reader *r, struct gg_error *err)
{
    struct stream_in *in = &r->in;
    enum gg_status st = stream_in_fill(in, 1, err);

    if (st != GG_OK)
        return st;
    if (stream_in_left(in) == 0)
        return r->state == AT_MEMBER ? GG_EOF
                                     : error_set(err, GG_ERR_TRUNCATED,
                                                 "%s: empty, without even a "
                                                 "head",
                                                 in->name);
    /* Stray text may be shorter than a preamble, and nothing follow it. */
    while (st == GG_OK && magic_begins(in) && !in->at_end &&
           stream_in_left(in) < FORMAT_PREAMBLE)
        st = stream_in_fill(in, stream_in_left(in) + 1, err);
    if (st != GG_OK)
        return st;
    if (r->state == AT_START && text_begins(in)) {
        r->state = AT_TEXT;
        return GG_OK;
    }
    if (!magic_begins(in))
        return not_a_stream(r, err);
    st = check_preamble(r, err);
    if (st == GG_OK) {
        stream_in_use(in, FORMAT_PREAMBLE);
        r->state = AT_HEAD;
    }
    return st;
}

/* ---- the payloads; `c` holds one of the right CRC ---- */

static enum gg_status
misfit(struct gg_error *err)
{
    return error_set(err, GG_ERR_FORMAT, "its length does not fit its content");
}

static enum gg_status
parse_head(struct gg_logit_reader *r, struct cursor *c, struct gg_error *err)
{
    struct gg_logit_head h = { 0 };
    uint32_t flags, n_eog, n_writer;
    const void *eog, *writer;

    h.fingerprint = cursor_u64(c);
    h.n_vocab = cursor_u32(c);
    h.kind = (enum gg_vector_kind)cursor_u32(c);
    h.encoding = (enum gg_vector_encoding)cursor_u32(c);
    flags = cursor_u32(c);
    h.n_eog = n_eog = cursor_u32(c);
    n_writer = cursor_u32(c);
    eog = cursor_take(c, 4 * (uint64_t)n_eog);
    writer = cursor_take(c, n_writer);
    if (c->bad || cursor_left(c) >= 8)
        return misfit(err);
    if (flags & ~(uint32_t)FORMAT_NUMBERED)
        return error_set(err, GG_ERR_UNSUPPORTED, "unknown flags 0x%lx",
                         (unsigned long)flags);
    if (memchr(writer, '\0', n_writer))
        return error_set(err, GG_ERR_FORMAT, "a NUL in the writer's name");
    mem_free(r->eog_ids);
    mem_free(r->writer);
    r->eog_ids = mem_dup(eog, 4 * (size_t)n_eog);
    r->writer = mem_strndup(writer, n_writer);
    if (!r->eog_ids || !r->writer)
        return error_nomem(err);
    h.numbered = flags & FORMAT_NUMBERED;
    h.eog_ids = r->eog_ids;
    h.writer = r->writer;
    r->head = h;
    return format_check_head(&h, GG_ERR_FORMAT, err);
}

static enum gg_status
widen(struct gg_logit_reader *r, const uint16_t *half, size_t n,
      const float **out, struct gg_error *err)
{
    if (!mem_grow(&r->wide, &r->wide_cap, n, sizeof(*r->wide)))
        return error_nomem(err);
    for (size_t i = 0; i < n; i++)
        r->wide[i] = half_to_float(half[i]);
    *out = r->wide;
    return GG_OK;
}

static bool
ids_below(const int32_t *ids, size_t n, uint32_t limit)
{
    uint32_t bad = 0;

    for (size_t i = 0; i < n; i++)
        bad |= (uint32_t)ids[i] >= limit;
    return !bad;
}

/* The values, for which the payload is known to have room. */
static enum gg_status
parse_values(struct gg_logit_reader *r, struct cursor *c,
             struct gg_logit_record *out, struct gg_error *err)
{
    size_t n = out->n_logits;

    if (r->head.encoding == GG_ENCODING_F16)
        return widen(r, cursor_take(c, 2 * n), n, &out->logits, err);
    if (r->head.encoding == GG_ENCODING_SPARSE) {
        out->logit_ids = cursor_take(c, format_padded(4 * n));
        if (!ids_below(out->logit_ids, n, r->head.n_vocab))
            return error_set(err, GG_ERR_FORMAT,
                             "an id that is not in the vocabulary");
    }
    out->logits = cursor_take(c, 4 * n);
    return GG_OK;
}

static enum gg_status
parse_vector(struct gg_logit_reader *r, struct cursor *c, size_t length,
             struct gg_logit_record *out, struct gg_error *err)
{
    uint32_t n_ids, n;

    out->kind = GG_RECORD_LOGITS;
    out->sequence = cursor_u64(c);
    out->position = cursor_u64(c);
    n_ids = cursor_u32(c);
    n = cursor_u32(c);
    out->log_sum_exp = cursor_f64(c);
    if (n_ids > FORMAT_IDS_MAX || n > r->head.n_vocab ||
        (r->head.encoding != GG_ENCODING_SPARSE && n != r->head.n_vocab) ||
        length != format_vector(r->head.encoding, n_ids, n))
        return misfit(err);
    out->n_ids = n_ids;
    out->n_logits = n;
    out->ids = cursor_take(c, format_padded(4 * (size_t)n_ids));
    if (!ids_below(out->ids, n_ids, UINT32_C(1) << 31))
        return error_set(err, GG_ERR_FORMAT, "a negative token id");
    return parse_values(r, c, out, err);
}

static enum gg_status
parse_failure(struct gg_logit_reader *r, struct cursor *c,
              struct gg_logit_record *out, struct gg_error *err)
{
    uint32_t len, zero;
    const char *message;

    out->kind = GG_RECORD_ERROR;
    out->sequence = cursor_u64(c);
    len = cursor_u32(c);
    zero = cursor_u32(c);
    message = cursor_take(c, len);
    if (c->bad || zero || cursor_left(c) >= 8)
        return misfit(err);
    if (memchr(message, '\0', len))
        return error_set(err, GG_ERR_FORMAT, "a message with a NUL");
    mem_free(r->message);
    r->message = mem_strndup(message, len);
    out->message = r->message;
    return r->message ? GG_OK : error_nomem(err);
}

static enum gg_status
parse_end(struct gg_logit_reader *r, struct cursor *c,
          struct gg_logit_record *out, struct gg_error *err)
{
    uint64_t count = cursor_u64(c);

    out->kind = GG_RECORD_END;
    if (count != r->count)
        return error_set(err, GG_ERR_FORMAT,
                         "records are missing or too many: %llu, not %llu",
                         (unsigned long long)r->count,
                         (unsigned long long)count);
    r->state = AT_MEMBER;
    return GG_OK;
}

static enum gg_status
parse_payload(struct gg_logit_reader *r, uint32_t kind, const void *payload,
              size_t length, struct gg_logit_record *out, struct gg_error *err)
{
    struct cursor c = cursor_over(payload, length);
    enum gg_status st = GG_OK;

    switch (kind) {
    case KIND_HEAD:
        out->kind = GG_RECORD_HEAD;
        st = parse_head(r, &c, err);
        break;
    case KIND_VECT:
        st = parse_vector(r, &c, length, out, err);
        break;
    case KIND_FAIL:
        st = parse_failure(r, &c, out, err);
        break;
    case KIND_CLOS:
        out->kind = GG_RECORD_CLOSE;
        out->sequence = cursor_u64(&c);
        break;
    case KIND_DONE:
        st = parse_end(r, &c, out, err);
        break;
    }
    return st;
}

/* ---- records ---- */

/* The longest payload that a record of the kind can have here; 0: there can
 * be no such record. */
static uint64_t
longest(const struct gg_logit_reader *r, uint32_t kind)
{
    bool body = r->state == AT_RECORD;

    switch (kind) {
    case KIND_HEAD:
        return body ? 0
                    : FORMAT_HEAD + 4 * (uint64_t)FORMAT_EOG_MAX +
                          FORMAT_WRITER_MAX;
    case KIND_VECT:
        return body ? format_vector(r->head.encoding, FORMAT_IDS_MAX,
                                    r->head.n_vocab)
                    : 0;
    case KIND_FAIL:
        return body ? FORMAT_FAIL + FORMAT_MESSAGE_MAX : 0;
    case KIND_CLOS:
        return body ? FORMAT_CLOSE : 0;
    case KIND_DONE:
        return body ? FORMAT_DONE : 0;
    default:
        return KIND_IS_OPTIONAL(kind) && body ? FORMAT_OPTIONAL_MAX : 0;
    }
}

static uint64_t
shortest(uint32_t kind)
{
    return kind == KIND_HEAD   ? FORMAT_HEAD
           : kind == KIND_VECT ? FORMAT_VECTOR
           : kind == KIND_FAIL ? FORMAT_FAIL
           : kind == KIND_CLOS ? FORMAT_CLOSE
           : kind == KIND_DONE ? FORMAT_DONE
                               : 0;
}

static enum gg_status
check_header(const struct gg_logit_reader *r, uint32_t kind, uint64_t length,
             struct gg_error *err)
{
    uint64_t max = longest(r, kind);
    char shown[20];

    escape_bytes(shown, sizeof(shown), (const char *)&kind, 4);
    if (max == 0)
        return error_set(err, GG_ERR_FORMAT,
                         "damaged, or of a kind unknown here, \"%s\"", shown);
    if (length > max || length < shortest(kind) || length % 8)
        return error_set(err, GG_ERR_FORMAT, "\"%s\" of %llu bytes", shown,
                         (unsigned long long)length);
    return GG_OK;
}

/* Waits until the next record is there as a whole; *length gets that of its
 * payload. */
static enum gg_status
fetch(struct gg_logit_reader *r, uint32_t *kind, size_t *length,
      struct gg_error *err)
{
    struct stream_in *in = &r->in;
    enum gg_status st = stream_in_fill(in, FORMAT_HEADER, err);
    uint64_t claimed = 0;

    if (st == GG_OK && stream_in_left(in) == 0)
        return error_set(err, GG_ERR_TRUNCATED, "cut off before it");
    if (st == GG_OK && stream_in_left(in) >= FORMAT_HEADER) {
        memcpy(kind, stream_in_data(in), 4);
        memcpy(&claimed, stream_in_data(in) + 8, 8);
        st = check_header(r, *kind, claimed, err);
    }
    if (st == GG_OK)
        st = stream_in_fill(in, FORMAT_HEADER + (size_t)claimed, err);
    if (st == GG_OK && stream_in_left(in) < FORMAT_HEADER + claimed)
        return error_set(err, GG_ERR_TRUNCATED, "cut off in its middle");
    *length = (size_t)claimed;
    return st;
}

static enum gg_status
check_crc(const struct stream_in *in, uint32_t kind, size_t length,
          struct gg_error *err)
{
    const uint8_t *p = stream_in_data(in);
    uint32_t crc;

    memcpy(&crc, p + 4, 4);
    if (crc32_bytes(format_crc(kind, length), p + FORMAT_HEADER, length) != crc)
        return error_set(err, GG_ERR_FORMAT, "damaged: its CRC differs");
    return GG_OK;
}

/* A record of this member; *skipped: it was one that need not be known. */
static enum gg_status
read_record(struct gg_logit_reader *r, struct gg_logit_record *out,
            bool *skipped, struct gg_error *err)
{
    uint32_t kind = 0;
    size_t length = 0;
    enum gg_status st = fetch(r, &kind, &length, err);

    if (st == GG_OK)
        st = check_crc(&r->in, kind, length, err);
    if (st == GG_OK)
        st = parse_payload(r, kind, stream_in_data(&r->in) + FORMAT_HEADER,
                           length, out, err);
    if (st == GG_OK) {
        *skipped = KIND_IS_OPTIONAL(kind);
        r->given = FORMAT_HEADER + length;
        r->total++;
        r->count++;
    } else if (st == GG_ERR_FORMAT || st == GG_ERR_TRUNCATED ||
               st == GG_ERR_UNSUPPORTED) {
        error_prefix(err, st, "%s: record %llu", r->in.name,
                     (unsigned long long)r->total + 1);
    }
    return st;
}

static void
leave_head(struct gg_logit_reader *r)
{
    size_t typical = format_vector(r->head.encoding, 1, r->head.n_vocab);

    stream_pipe_capacity(r->in.fd, typical + FORMAT_HEADER);
    r->count = 0;
    r->state = AT_RECORD;
}

static enum gg_status
read_binary(struct gg_logit_reader *r, struct gg_logit_record *out,
            struct gg_error *err)
{
    enum gg_status st = GG_OK;
    bool skipped = true;

    while (st == GG_OK && skipped) {
        stream_in_use(&r->in, r->given);
        r->given = 0;
        *out = (struct gg_logit_record){ 0 };
        st = read_record(r, out, &skipped, err);
    }
    if (st == GG_OK && out->kind == GG_RECORD_HEAD)
        leave_head(r);
    return st;
}

/* ---- the text form: its head and end are not written ---- */

/* What comes before the first record, which tells whether it is numbered. */
static enum gg_status
read_text(struct gg_logit_reader *r, struct gg_logit_record *out,
          struct gg_error *err)
{
    enum gg_status st;

    if (r->state == AT_TEXT_END)
        return GG_EOF;
    st = text_read(&r->text, &r->in, out, err);
    if (st == GG_EOF) {
        r->state = AT_TEXT_END;
        *out = (struct gg_logit_record){ .kind = GG_RECORD_END };
        return GG_OK;
    }
    return st;
}

static void
give_text_head(struct gg_logit_reader *r, struct gg_logit_record *out)
{
    r->head = (struct gg_logit_head){
        .encoding = GG_ENCODING_SPARSE,
        .numbered = *stream_in_data(&r->in) != '-',
        .writer = "",
    };
    *out = (struct gg_logit_record){ .kind = GG_RECORD_HEAD };
}

enum gg_status
gg_logit_read(struct gg_logit_reader *reader, struct gg_logit_record *record,
              struct gg_error *err)
{
    struct gg_logit_record out = { 0 };
    enum gg_status st = GG_OK;

    if (reader->state == AT_TEXT || reader->state == AT_TEXT_END) {
        st = read_text(reader, &out, err);
    } else {
        stream_in_use(&reader->in, reader->given);
        reader->given = 0;
        if (reader->state == AT_START || reader->state == AT_MEMBER)
            st = enter_member(reader, err);
        if (st == GG_OK && reader->state == AT_TEXT)
            give_text_head(reader, &out);
        else if (st == GG_OK)
            st = read_binary(reader, &out, err);
    }
    if (st == GG_OK) {
        *record = out;
        record->head = reader->head;
    }
    return st;
}
