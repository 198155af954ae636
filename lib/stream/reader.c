/* reader.c - logit stream: bytes, which may be hostile, to records */
#include <config.h>

#include <gg-stream.h>
#include <string.h>

#include "core/escape.h"
#include "core/mem.h"
#include "core/order.h"
#include "core/plant.h"
#include "stream/format.h"
#include "stream/kind.h"
#include "stream/payload.h"
#include "stream/record.h"
#include "stream/text.h"

/* The next part of the input. */
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
    const float *logits;   /* of the last result */
    struct payload payload;
    struct text_reader text;
};

enum gg_status
gg_logit_reader_new(int fd, const char *name, struct gg_logit_reader **out,
                    struct gg_error *err)
{
    struct gg_logit_reader *r;
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
        gg_logit_reader_free(r);
    return st;
}

void
gg_logit_reader_free(struct gg_logit_reader *reader)
{
    if (!reader)
        return;
    stream_in_clear(&reader->in);
    stream_text_reader_clear(&reader->text);
    stream_payload_clear(&reader->payload);
    mem_free(reader);
}

enum gg_status
gg_logit_reader_begin(struct gg_logit_reader *reader, const void *data,
                      size_t n, struct gg_error *err)
{
    if (!reader || (!data && n))
        return error_null(err);
    return stream_in_begin(&reader->in, data, n, err);
}

/* ---- where a member begins ---- */

static enum gg_status
not_a_stream(struct gg_logit_reader *r, struct gg_error *err)
{
    size_t len = stream_in_left(&r->in);
    char shown[100];

    escape_bytes(shown, sizeof(shown), (const char *)stream_in_data(&r->in),
                 len > 60 ? 60 : len);
    if (r->state != AT_START)
        return error_set(err, GG_ERR_FORMAT,
                         "%s: stray bytes after the end record: \"%s\"",
                         r->in.name, shown);
    error_set(err, GG_ERR_FORMAT, "%s: not a logit stream: begins with \"%s\"",
              r->in.name, shown);
    stream_add_kind(stream_in_data(&r->in), len, NULL, err);
    return GG_ERR_FORMAT;
}

static bool
text_begins(const struct stream_in *in)
{
    const uint8_t *p = stream_in_data(in);
    size_t n = stream_in_left(in), mark = stream_mark(p, n);
    uint8_t c = n > mark ? p[mark] : 0;

    return (c >= '0' && c <= '9') || c == '-';
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
    if (r->state == AT_START && *stream_in_data(in) == 0xef) /* a mark's */
        st = stream_in_fill(in, 4, err);
    /* Stray text may be shorter than a preamble, and nothing follow it. */
    if (st == GG_OK)
        st = stream_record_fill_preamble(in, FORMAT_MAGIC, err);
    if (st != GG_OK)
        return st;
    if (r->state == AT_START && text_begins(in)) {
        stream_in_use(in, stream_mark(stream_in_data(in), stream_in_left(in)));
        r->state = AT_TEXT;
        return GG_OK;
    }
    if (!stream_record_begins(in, FORMAT_MAGIC))
        return not_a_stream(r, err);
    st = stream_record_preamble(in, "logit stream", FORMAT_VERSION, err);
    if (st == GG_OK)
        r->state = AT_HEAD;
    return st;
}

/* ---- records ---- */

/* Waits until the next record is there as a whole; *length gets that of its
 * payload. */
static enum gg_status
fetch(struct gg_logit_reader *r, uint32_t *kind, size_t *length,
      struct gg_error *err)
{
    bool body = r->state == AT_RECORD;
    uint64_t claimed = 0;
    enum gg_status st = stream_record_header(&r->in, kind, &claimed, err);

    if (st == GG_OK)
        st = stream_record_check(
            *kind, claimed, stream_payload_shortest(*kind),
            stream_payload_longest(&r->payload, *kind, body), err);
    if (st == GG_OK)
        st = stream_record_payload(&r->in, *kind, claimed, err);
    *length = (size_t)claimed;
    return st;
}

/* A record of this member; *skipped: it was one that need not be known. */
static enum gg_status
read_record(struct gg_logit_reader *r, struct gg_logit_record *out,
            bool *skipped, struct gg_error *err)
{
    uint32_t kind = 0;
    size_t length = 0;
    uint64_t claimed = r->count;
    enum gg_status st = fetch(r, &kind, &length, err);

    if (st == GG_OK)
        st = stream_payload_parse(&r->payload, kind,
                                  stream_in_data(&r->in) + FORMAT_HEADER,
                                  length, out, &claimed, err);
    if (st == GG_OK && claimed != r->count)
        st = error_set(err, GG_ERR_FORMAT,
                       "records are missing or too many: %llu, not %llu",
                       (unsigned long long)r->count,
                       (unsigned long long)claimed);
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
    size_t typical = stream_format_vector(r->payload.head.encoding, 1,
                                          r->payload.head.n_vocab);

    stream_pipe_capacity(r->in.fd, typical + FORMAT_HEADER);
    r->count = 0;
    r->state = AT_RECORD;
}

/* The next record is one of those that belong to a head. */
static bool
belongs_to_head(const struct stream_in *in)
{
    uint32_t kind;

    if (stream_in_left(in) < FORMAT_HEADER)
        return false;
    kind = core_load_le32(stream_in_data(in));
    return kind == KIND_SUPP || kind == KIND_SAMP;
}

/* Records that may follow a head belong to it. Where a signal comes, the next
 * call waits for them. */
static enum gg_status
read_rest_of_head(struct gg_logit_reader *r, struct gg_error *err)
{
    struct gg_logit_record none;
    enum gg_status st;
    bool skipped;

    for (;;) {
        stream_in_use(&r->in, r->given);
        r->given = 0;
        st = stream_in_fill(&r->in, FORMAT_HEADER, err);
        if (st != GG_OK || !belongs_to_head(&r->in))
            break;
        st = read_record(r, &none, &skipped, err);
        if (st != GG_OK)
            break;
    }
    return st == GG_ERR_ABORTED ? GG_OK : st;
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
    if (st == GG_OK && out->kind == GG_RECORD_HEAD) {
        leave_head(r);
        st = read_rest_of_head(r, err);
    }
    if (st == GG_OK && out->kind == GG_RECORD_END)
        r->state = AT_MEMBER;
    return st;
}

/* ---- the text form: its head and end are not written ---- */

static enum gg_status
read_text(struct gg_logit_reader *r, struct gg_logit_record *out,
          struct gg_error *err)
{
    enum gg_status st;

    if (r->state == AT_TEXT_END)
        return GG_EOF;
    st = stream_text_read(&r->text, &r->in, out, err);
    if (st == GG_EOF) {
        r->state = AT_TEXT_END;
        *out = (struct gg_logit_record){ .kind = GG_RECORD_END };
        return GG_OK;
    }
    return st;
}

/* The first byte tells whether sequences are numbered. */
static void
give_text_head(struct gg_logit_reader *r, struct gg_logit_record *out)
{
    r->payload.head = (struct gg_logit_head){
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

    if (!reader || !record)
        return error_null(err);
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
    gg_plant("logit stream");
    reader->logits = st == GG_OK ? out.logits : NULL;
    if (st == GG_OK) {
        *record = out;
        record->head = reader->payload.head;
    }
    return st;
}

/* They lie in what this reader allocated. */
float *
gg_logit_reader_logits(struct gg_logit_reader *reader)
{
    return reader ? (float *)reader->logits : NULL;
}
