/* test_logits.c - the logit stream: there and back, cut, damaged, hostile */
#include <gg-stream.h>
#include <math.h>
#include <zlib.h>

#include "core/half.h"
#include "core/mem.h"
#include "stream_pipe.h"
#include "harness/tap.h"

enum {
    N = 11, /* odd: parts must be padded */
    K = 3,
};

static struct gg_error err;
static const int32_t eog[] = { 2, 7 };
static const int32_t ids[] = { 5, 6, 10 };
static const float logits[N] = { 0.5f, -1, 2.25f, -INFINITY, 1e30f, -70000,
                                 0,    1,  65504, 3.0001f,   NAN };
static const float top[K] = { 4, 3, -1 };
static const int32_t top_ids[K] = { 8, 0, 10 };

static struct gg_logit_head
head_of(enum gg_vector_encoding encoding, bool numbered)
{
    return (struct gg_logit_head){
        .n_vocab = N,
        .fingerprint = UINT64_C(0x1122334455667788),
        .encoding = encoding,
        .numbered = numbered,
        .eog_ids = eog,
        .n_eog = 2,
        .writer = "test 1",
    };
}

static struct gg_logit_record
vector_of(enum gg_vector_encoding encoding)
{
    bool sparse = encoding == GG_ENCODING_SPARSE;

    return (struct gg_logit_record){
        .kind = GG_RECORD_LOGITS,
        .sequence = UINT64_MAX,
        .position = 77,
        .ids = ids,
        .n_ids = 3,
        .logits = sparse ? top : logits,
        .logit_ids = sparse ? top_ids : NULL,
        .n_logits = sparse ? K : N,
        .log_sum_exp = sparse ? 4.5 : 0,
    };
}

/* A member of each kind of record, to the end of the file. */
static void
write_member(int fd, enum gg_vector_encoding encoding)
{
    struct gg_logit_head head = head_of(encoding, true);
    struct gg_logit_record vector = vector_of(encoding), other;
    struct gg_logit_writer *w;

    if (gg_logit_writer_new(fd, &head, &w, &err) != GG_OK ||
        gg_logit_write(w, &vector, &err) != GG_OK)
        abort();
    other = (struct gg_logit_record){ .kind = GG_RECORD_ERROR,
                                      .sequence = 3,
                                      .message = "went wrong" };
    if (gg_logit_write(w, &other, &err) != GG_OK)
        abort();
    other = (struct gg_logit_record){ .kind = GG_RECORD_CLOSE, .sequence = 9 };
    if (gg_logit_write(w, &other, &err) != GG_OK)
        abort();
    other = (struct gg_logit_record){ .kind = GG_RECORD_END };
    if (gg_logit_write(w, &other, &err) != GG_OK)
        abort();
    gg_logit_writer_free(w);
}

static uint8_t *
member(enum gg_vector_encoding encoding, size_t *size)
{
    int fd = pipe_holding("", 0);
    uint8_t *data;

    write_member(fd, encoding);
    data = pipe_contents(fd, size);
    close(fd);
    return data;
}

/* ---- there and back ---- */

static bool
same_head(const struct gg_logit_head *a, const struct gg_logit_head *b)
{
    return a->n_vocab == b->n_vocab && a->fingerprint == b->fingerprint &&
           a->kind == b->kind && a->encoding == b->encoding &&
           a->numbered == b->numbered && a->n_eog == b->n_eog &&
           memcmp(a->eog_ids, b->eog_ids, 4 * a->n_eog) == 0 &&
           strcmp(a->writer, b->writer) == 0;
}

static bool
same_float(float a, float b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* What is left of a logit: all of it, or what half precision keeps. */
static float
kept(float x, enum gg_vector_encoding encoding)
{
    if (encoding != GG_ENCODING_F16)
        return x;
    if (isfinite(x) && fabsf(x) > 65504)
        return x > 0 ? 65504 : -65504;
    return half_to_float(half_from_float(x));
}

static bool
same_vector(const struct gg_logit_record *a, const struct gg_logit_record *b,
            enum gg_vector_encoding encoding)
{
    bool same = a->kind == b->kind && a->sequence == b->sequence &&
                a->position == b->position && a->n_ids == b->n_ids &&
                a->n_logits == b->n_logits &&
                a->log_sum_exp == b->log_sum_exp &&
                !a->logit_ids == !b->logit_ids &&
                memcmp(a->ids, b->ids, 4 * a->n_ids) == 0;

    for (size_t i = 0; same && i < a->n_logits; i++)
        same = same_float(kept(a->logits[i], encoding), b->logits[i]) &&
               (!a->logit_ids || a->logit_ids[i] == b->logit_ids[i]);
    return same;
}

static void
test_there_and_back(enum gg_vector_encoding encoding, bool dripping)
{
    struct gg_logit_head head = head_of(encoding, true);
    struct gg_logit_record want = vector_of(encoding), r = { 0 };
    struct gg_logit_reader *reader;
    size_t size;
    uint8_t *data = member(encoding, &size);
    int fd = dripping ? pipe_dripping(data, size) : pipe_holding(data, size);

    is(size % 8, 0, "all of it is a multiple of 8");
    if (gg_logit_reader_new(fd, "in", &reader, &err) != GG_OK)
        abort();
    ok(gg_logit_read(reader, &r, &err) == GG_OK && r.kind == GG_RECORD_HEAD &&
           same_head(&r.head, &head),
       "head");
    ok(!gg_logit_reader_logits(reader), "which has no logits");
    ok(gg_logit_read(reader, &r, &err) == GG_OK &&
           same_vector(&want, &r, encoding) && same_head(&r.head, &head),
       "vector");
    ok(gg_logit_reader_logits(reader) == r.logits, "which can be changed");
    memset(gg_logit_reader_logits(reader), 255, r.n_logits * sizeof(*r.logits));
    ok(gg_logit_read(reader, &r, &err) == GG_OK && r.kind == GG_RECORD_ERROR &&
           r.sequence == 3 && strcmp(r.message, "went wrong") == 0,
       "error");
    ok(gg_logit_read(reader, &r, &err) == GG_OK && r.kind == GG_RECORD_CLOSE &&
           r.sequence == 9,
       "close");
    ok(gg_logit_read(reader, &r, &err) == GG_OK && r.kind == GG_RECORD_END,
       "end");
    ok(gg_logit_read(reader, &r, &err) == GG_EOF &&
           gg_logit_read(reader, &r, &err) == GG_EOF,
       "and nothing more, however often one asks");
    gg_logit_reader_free(reader);
    close(fd);
    free(data);
}

/* ---- what is wrong with it? ---- */

/* Reads all of it: GG_EOF, or how it failed. */
static enum gg_status
verdict(const uint8_t *data, size_t size)
{
    int fd = pipe_holding(data, size);
    struct gg_logit_reader *reader;
    struct gg_logit_record r;
    enum gg_status st;

    if (gg_logit_reader_new(fd, "in", &reader, &err) != GG_OK)
        abort();
    while ((st = gg_logit_read(reader, &r, &err)) == GG_OK)
        ;
    gg_logit_reader_free(reader);
    close(fd);
    return st;
}

static void
test_cut(enum gg_vector_encoding encoding)
{
    size_t size, wrong = 0;
    uint8_t *data = member(encoding, &size);

    for (size_t n = 0; n < size; n++)
        if (verdict(data, n) != GG_ERR_TRUNCATED) {
            printf("# cut after %zu: %s\n", n, err.message);
            wrong++;
        }
    ok(wrong == 0 && verdict(data, size) == GG_EOF, "cut after any byte");
    free(data);
}

static void
test_damaged(enum gg_vector_encoding encoding)
{
    size_t size, wrong = 0;
    uint8_t *data = member(encoding, &size);

    for (size_t i = 0; i < size; i++)
        for (int bit = 1; bit < 256; bit *= 2) {
            data[i] ^= (uint8_t)bit;
            wrong += verdict(data, size) == GG_EOF;
            data[i] ^= (uint8_t)bit;
        }
    is(wrong, 0, "each flipped bit is noticed");
    free(data);
}

/* Where record `n` begins, the head being 0. */
static size_t
record_at(const uint8_t *data, int n)
{
    size_t at = 16;

    while (n--) {
        uint64_t length;

        memcpy(&length, data + at + 8, 8);
        at += 16 + (size_t)length;
    }
    return at;
}

/* Makes the CRC right again: the input is wicked, not damaged. */
static void
sign(uint8_t *record)
{
    uint64_t length;
    uLong crc = crc32(0, record, 4);
    uint32_t value;

    memcpy(&length, record + 8, 8);
    crc = crc32(crc, record + 8, 8);
    value = (uint32_t)crc32(crc, record + 16, (uInt)length);
    memcpy(record + 4, &value, 4);
}

/* Puts a number into a payload of record `n`, rightly signed. */
static void
expect_refused(enum gg_vector_encoding encoding, int n, size_t at,
               uint32_t value, const char *name)
{
    size_t size;
    uint8_t *data = member(encoding, &size);
    uint8_t *record = data + record_at(data, n);
    enum gg_status st;

    memcpy(record + 16 + at, &value, 4);
    sign(record);
    st = verdict(data, size);
    ok(st == GG_ERR_FORMAT || st == GG_ERR_UNSUPPORTED, name);
    if (st == GG_EOF || st == GG_ERR_NOMEM)
        printf("# status %d\n", st);
    free(data);
}

static void
test_hostile(void)
{
    enum gg_vector_encoding dense = GG_ENCODING_F32;
    enum gg_vector_encoding sparse = GG_ENCODING_SPARSE;

    expect_refused(dense, 0, 8, 0, "head: no vocabulary");
    expect_refused(dense, 0, 8, 0xffffffff, "head: a huge vocabulary");
    expect_refused(dense, 0, 12, 2, "head: unknown kind of vectors");
    expect_refused(dense, 0, 16, 3, "head: unknown encoding");
    expect_refused(dense, 0, 20, 2, "head: unknown flag");
    expect_refused(dense, 0, 24, 0xffffffff, "head: huge count of ids");
    expect_refused(dense, 0, 28, 0xffffffff, "head: huge writer");
    expect_refused(dense, 0, 28, 0, "head: bytes that are nothing");
    expect_refused(dense, 0, 32, 11, "head: end id not in vocabulary");
    expect_refused(dense, 0, 32, 0x80000000, "head: negative end id");
    expect_refused(dense, 0, 40, 0, "head: NUL in the writer");
    expect_refused(dense, 1, 16, 0xffffffff, "vector: huge count of ids");
    expect_refused(dense, 1, 16, 0x40000003, "vector: count that wraps");
    expect_refused(dense, 1, 16, 5, "vector: more ids than bytes");
    expect_refused(dense, 1, 20, 10, "vector: not the vocabulary's length");
    expect_refused(dense, 1, 20, 0xffffffff, "vector: huge length");
    expect_refused(dense, 1, 32, 0x80000000, "vector: negative id");
    expect_refused(sparse, 1, 20, 12, "sparse: more than the vocabulary");
    expect_refused(sparse, 1, 20, 2, "sparse: fewer than the bytes");
    expect_refused(sparse, 1, 48, 11, "sparse: id not in the vocabulary");
    expect_refused(sparse, 1, 48, 0xffffffff, "sparse: id -1");
    expect_refused(dense, 2, 8, 0xffffffff, "error: huge message");
    expect_refused(dense, 2, 8, 2, "error: bytes that are nothing");
    expect_refused(dense, 2, 12, 1, "error: reserved bytes");
    expect_refused(dense, 2, 16, 0, "error: NUL in the message");
    expect_refused(dense, 4, 0, 4, "end: not the number of records");
}

/* A length of terabytes is refused before a byte of it is waited for. */
static void
test_lengths(void)
{
    size_t size;
    uint8_t *data = member(GG_ENCODING_F32, &size);
    static const uint64_t lengths[] = {
        UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 60, 1 << 30, 33, 24, 0
    };
    int wrong = 0;

    for (int n = 0; n < 5; n++)
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            uint8_t *record = data + record_at(data, n);
            uint64_t saved;

            memcpy(&saved, record + 8, 8);
            memcpy(record + 8, &lengths[i], 8);
            wrong += verdict(data, size) == GG_EOF;
            if (lengths[i] > 1 << 29)
                wrong += verdict(data, size) != GG_ERR_FORMAT;
            memcpy(record + 8, &saved, 8);
        }
    is(wrong, 0, "lengths that lie");
    free(data);
}

static void
test_kinds(void)
{
    size_t size;
    uint8_t *data = member(GG_ENCODING_F32, &size);
    uint8_t *close_record = data + record_at(data, 3);

    memcpy(close_record, "xTRA", 4);
    sign(close_record);
    is(verdict(data, size), GG_EOF, "an optional kind is skipped");
    memcpy(close_record, "XTRA", 4);
    sign(close_record);
    ok(verdict(data, size) == GG_ERR_FORMAT &&
           strstr(err.message, "record 4") && strstr(err.message, "\"XTRA\""),
       "an unknown kind that matters is named");
    memcpy(close_record, "HEAD", 4);
    sign(close_record);
    is(verdict(data, size), GG_ERR_FORMAT, "a head in the middle");
    free(data);
}

static void
test_members(void)
{
    size_t a, b;
    uint8_t *first = member(GG_ENCODING_F32, &a);
    uint8_t *second = member(GG_ENCODING_SPARSE, &b);
    uint8_t *both = malloc(a + b + 4);
    int wrong = 0;

    memcpy(both, first, a);
    memcpy(both + a, second, b);
    is(verdict(both, a + b), GG_EOF, "two members, one after the other");
    for (size_t n = 1; n < b; n++)
        wrong += verdict(both, a + n) != GG_ERR_TRUNCATED;
    is(wrong, 0, "the second one cut");
    memcpy(both + a, "bye\n", 4);
    ok(verdict(both, a + 4) == GG_ERR_FORMAT &&
           strstr(err.message, "after the end record: \"bye\\n\""),
       "stray bytes after the end");
    free(first);
    free(second);
    free(both);
}

static void
test_stray(void)
{
    static const char banner[] = "Welcome to host\nLast login: \x1b[1m\n";
    static const uint8_t newer[16] = "\x8bGGL\r\n\x1a\n\x02";
    static const uint8_t unix_ends[16] = "\x8bGGL\n\x1a\n\x01";

    ok(verdict((const uint8_t *)banner, sizeof(banner) - 1) == GG_ERR_FORMAT &&
           strcmp(err.message,
                  "in: not a logit stream: begins with "
                  "\"Welcome to host\\nLast login: \\x1b[1m\\n\"") == 0,
       "stray text is quoted, and cannot write to a terminal");
    is(verdict((const uint8_t *)"x", 1), GG_ERR_FORMAT, "a stray byte");
    is(verdict(unix_ends, 16), GG_ERR_FORMAT, "line ends were changed");
    ok(verdict(newer, 16) == GG_ERR_UNSUPPORTED &&
           strstr(err.message, "version 2"),
       "a later version");
}

/* ---- what must not be written ---- */

static void
test_writer(void)
{
    struct gg_logit_head head = head_of(GG_ENCODING_F32, false);
    struct gg_logit_record r = vector_of(GG_ENCODING_F32);
    struct gg_logit_writer *w = NULL;
    int fd = pipe_holding("", 0);

    head.n_vocab = 0;
    ok(gg_logit_writer_new(fd, &head, &w, &err) == GG_ERR_ARG && !w,
       "no vocabulary");
    head.n_vocab = 7;
    is(gg_logit_writer_new(fd, &head, &w, &err), GG_ERR_ARG,
       "an end id that is not in it");
    head.n_vocab = N;
    is(gg_logit_writer_new(-1, &head, &w, &err), GG_ERR_IO,
       "a descriptor that is none");
    is(gg_logit_writer_new(fd, &head, &w, &err), GG_OK, "a head");
    r.n_logits--;
    is(gg_logit_write(w, &r, &err), GG_ERR_ARG, "a vector too short");
    r = vector_of(GG_ENCODING_SPARSE);
    is(gg_logit_write(w, &r, &err), GG_ERR_ARG, "sparse where it is dense");
    r.kind = GG_RECORD_HEAD;
    is(gg_logit_write(w, &r, &err), GG_ERR_ARG, "a head as a record");
    gg_logit_writer_free(w);
    gg_logit_writer_free(NULL);
    close(fd);
}

/* ---- the text of gg-eval --top ---- */

static const char *
read_text(const char *text)
{
    static char all[1024];
    int fd = pipe_holding(text, strlen(text)), n = 0;
    struct gg_logit_reader *reader;
    struct gg_logit_record r;
    enum gg_status st;

    if (gg_logit_reader_new(fd, "in", &reader, &err) != GG_OK)
        abort();
    while ((st = gg_logit_read(reader, &r, &err)) == GG_OK) {
        n += sprintf(all + n, "%s%d:", r.head.numbered ? "#" : "", r.kind);
        if (r.kind == GG_RECORD_ERROR)
            n += sprintf(all + n, "%llu %s", (unsigned long long)r.sequence,
                         r.message);
        else if (r.kind == GG_RECORD_LOGITS)
            n += sprintf(all + n, "%llu@%llu", (unsigned long long)r.sequence,
                         (unsigned long long)r.position);
        for (size_t i = 0; r.kind == GG_RECORD_LOGITS && i < r.n_logits; i++)
            n += sprintf(all + n, " %ld=%g", (long)r.logit_ids[i], r.logits[i]);
        n += sprintf(all + n, "|");
    }
    sprintf(all + n, "%s", st == GG_EOF ? "eof" : err.message);
    gg_logit_reader_free(reader);
    close(fd);
    return all;
}

static void
expect_text(const char *text, const char *want)
{
    const char *got = read_text(text);
    bool same = strcmp(got, want) == 0;

    if (!same)
        printf("# got %s\n", got);
    ok(same, want);
}

static void
test_text(void)
{
    expect_text("-\t5\t1\t11\t-0.25\t,\n-\t5\t2\t67\t-1e1\t\\n\n\n",
                "0:|1:0@5 11=-0.25 67=-10|4:|eof");
    expect_text("3\t5\t1\t11\t-0.25\n\n4\t1\t1\t2\t-inf\tx\ty\n\n",
                "#0:|#1:3@5 11=-0.25|#1:4@1 2=-inf|#4:|eof");
    expect_text("3\t!went wrong\n3\t5\t1\t11\t0\n\n",
                "#0:|#2:3 went wrong|#1:3@5 11=0|#4:|eof");
    expect_text("-\t5\t1\t11\t-0.25\t,\n",
                "0:|in: line 1: cut off in the middle of a record");
    expect_text("-\t5\t1\t11\t-0.2",
                "0:|in: line 1: cut off in the middle of a record");
    expect_text("-\t5\t2\t11\t0\t,\n\n",
                "0:|in: line 1: \"2\" is not the next rank");
    expect_text("-\t5\t1\t11\t0\t,\n-\t6\t2\t1\t0\n\n",
                "0:|in: line 2: \"6\" is not the record's position");
    expect_text("1\t5\t1\t11\t0\n2\t5\t2\t1\t0\n\n",
                "#0:|in: line 2: \"2\" is another sequence within a record");
    expect_text("1\t5\t1\t11\t0\n\n-\t5\t1\t1\t0\n\n",
                "#0:|#1:1@5 11=0|in: line 3: \"-\" is unlike the sequences "
                "before");
    expect_text("1\t5\t1\t2147483648\t0\n\n",
                "#0:|in: line 1: \"2147483648\" is no token id");
    expect_text("1\t5\t1\t1\tnan\n\n",
                "#0:|in: line 1: \"nan\" is no log-probability");
    expect_text("2026-11-20 Welcome\n",
                "#0:|in: line 1: \"2026-11-20 Welcome\" is no sequence");
    expect_text("15 5 1\n", "#0:|in: line 1: \"15 5 1\" is no sequence");
    expect_text("15\t5\t1\n",
                "#0:|in: line 1: \"15\\t5\\t1\" has not the fields of --top");
}

/* ---- what gg-stream(5) shows ---- */

/* The bytes of the page's lines that are nothing but bytes. */
static size_t
documented(uint8_t *out, size_t cap)
{
    const char *folder = getenv("top_srcdir");
    char path[4096], line[256];
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/man/gg-stream.5", folder ? folder : "..");
    f = fopen(path, "r");
    while (f && fgets(line, sizeof(line), f)) {
        const char *s = line;
        unsigned byte;
        int used = 0;

        if (strspn(line, "0123456789abcdef ") != strlen(line) - 1 ||
            line[2] != ' ')
            continue;
        for (; n < cap && sscanf(s, "%2x%n", &byte, &used) == 1; s += used)
            out[n++] = (uint8_t)byte;
    }
    if (f)
        fclose(f);
    return n;
}

static void
test_manual(void)
{
    static const int32_t end = 2, chunk = 7;
    static const float values[] = { 0, 1, -1 };
    struct gg_logit_head head = { .n_vocab = 3,
                                  .fingerprint = UINT64_C(0x0123456789abcdef),
                                  .eog_ids = &end,
                                  .n_eog = 1,
                                  .writer = "gg" };
    struct gg_logit_record r = { .kind = GG_RECORD_LOGITS,
                                 .position = 1,
                                 .ids = &chunk,
                                 .n_ids = 1,
                                 .logits = values,
                                 .n_logits = 3 };
    int fd = pipe_holding("", 0);
    struct gg_logit_writer *w;
    uint8_t want[1024], *got;
    size_t n = documented(want, sizeof(want)), size;

    if (gg_logit_writer_new(fd, &head, &w, &err) != GG_OK ||
        gg_logit_write(w, &r, &err) != GG_OK)
        abort();
    r.kind = GG_RECORD_END;
    if (gg_logit_write(w, &r, &err) != GG_OK)
        abort();
    got = pipe_contents(fd, &size);
    ok(n == size && memcmp(got, want, n) == 0, "the manual's member");
    free(got);
    gg_logit_writer_free(w);
    close(fd);
}

/* ---- what a sequence held before ---- */

static void
check_ok(enum gg_status st)
{
    if (st != GG_OK)
        abort();
}

/* A record with a past, one without, one with no more than Mirostat's value. */
static uint8_t *
member_with_past(size_t *size)
{
    static const int32_t past[] = { 4, 0, 9, 9, 1 };
    static const double learnt = 3.25;
    struct gg_logit_head head = head_of(GG_ENCODING_F32, true);
    struct gg_logit_record r = vector_of(GG_ENCODING_F32);
    struct gg_logit_writer *w;
    int fd = pipe_holding("", 0);
    uint8_t *data;

    check_ok(gg_logit_writer_new(fd, &head, &w, &err));
    r.past = past;
    r.n_past = 5;
    check_ok(gg_logit_write(w, &r, &err));
    r.n_past = 0;
    check_ok(gg_logit_write(w, &r, &err));
    r.mirostat = &learnt;
    check_ok(gg_logit_write(w, &r, &err));
    r.kind = GG_RECORD_END;
    check_ok(gg_logit_write(w, &r, &err));
    gg_logit_writer_free(w);
    data = pipe_contents(fd, size);
    close(fd);
    return data;
}

static bool
past_is_right(const struct gg_logit_record *r, int i)
{
    if (r->kind != GG_RECORD_LOGITS)
        return r->n_past == 0 && !r->mirostat;
    return r->n_past == (i == 1 ? 5 : 0) &&
           (i != 1 || (r->past[0] == 4 && r->past[4] == 1)) &&
           (i == 3 ? r->mirostat && *r->mirostat == 3.25 : !r->mirostat);
}

static void
test_past(void)
{
    size_t size;
    uint8_t *data = member_with_past(&size), *past = data + record_at(data, 1);
    int fd = pipe_holding(data, size), n = 0;
    struct gg_logit_reader *reader;
    struct gg_logit_record r;
    bool right = true;

    check_ok(gg_logit_reader_new(fd, "in", &reader, &err));
    for (; gg_logit_read(reader, &r, &err) == GG_OK; n++)
        right = right && past_is_right(&r, n);
    ok(right && n == 5, "what a sequence held comes with its first record");
    gg_logit_reader_free(reader);
    close(fd);

    ok(memcmp(past, "past", 4) == 0, "as a record of an optional kind");
    past[16 + 20] = 2; /* flags */
    sign(past);
    is(verdict(data, size), GG_ERR_FORMAT, "its flags are checked");
    past[16 + 20] = 0;
    past[16 + 16] = 200; /* ids */
    sign(past);
    is(verdict(data, size), GG_ERR_FORMAT, "and its length");
    past[16 + 16] = 5;
    past[16 + 24 + 3] = 0x80;
    sign(past);
    is(verdict(data, size), GG_ERR_FORMAT, "and its ids");
    past[16 + 24 + 3] = 0;
    past[16] ^= 1; /* sequence */
    sign(past);
    is(verdict(data, size), GG_EOF, "one of another sequence is left");
    past[16 + 20] = 1;
    past[16 + 14] = 0xf0;
    past[16 + 15] = 0x7f;
    sign(past);
    is(verdict(data, size), GG_ERR_FORMAT, "an infinite value is refused");
    free(data);
}

/* ---- no memory ---- */

static void
test_no_memory(void)
{
    size_t size;
    uint8_t *data = member(GG_ENCODING_F16, &size);
    struct gg_logit_head head = head_of(GG_ENCODING_F16, true);
    int failed = 0, wrong = 0;

    for (long n = 0; n < 40; n++) {
        int fd = pipe_holding(data, size);
        struct gg_logit_reader *reader = NULL;
        struct gg_logit_writer *writer = NULL;
        struct gg_logit_record r;
        enum gg_status st;

        mem_fail_after(n);
        st = gg_logit_reader_new(fd, "in", &reader, &err);
        while (st == GG_OK)
            st = gg_logit_read(reader, &r, &err);
        failed += st == GG_ERR_NOMEM;
        wrong += st != GG_ERR_NOMEM && st != GG_EOF;
        gg_logit_reader_free(reader);
        mem_fail_after(n);
        st = gg_logit_writer_new(fd, &head, &writer, &err);
        wrong += st != GG_ERR_NOMEM && st != GG_OK;
        gg_logit_writer_free(writer);
        mem_fail_after(-1);
        close(fd);
    }
    ok(wrong == 0 && failed > 5 && failed < 40, "each allocation may fail");
    free(data);
}

/* The first n bytes were read before the reader was there. */
static void
test_begun(void)
{
    size_t size, lengths[] = { 0, 1, 16, 100 };
    uint8_t *data = member(GG_ENCODING_F32, &size);
    struct gg_logit_record record;
    struct gg_logit_reader *r;

    for (size_t i = 0; i < 5; i++) {
        size_t n = i < 4 ? lengths[i] : size;
        int fd = pipe_holding(data + n, size - n), records = 0;
        enum gg_status st = gg_logit_reader_new(fd, "in", &r, &err);

        if (st == GG_OK)
            st = gg_logit_reader_begin(r, data, n, &err);
        while (st == GG_OK && (st = gg_logit_read(r, &record, &err)) == GG_OK)
            records++;
        ok(st == GG_EOF && records == 5, "some was read before");
        gg_logit_reader_free(r);
        close(fd);
    }
    free(data);
}

int
main(void)
{
    for (int e = GG_ENCODING_F32; e <= GG_ENCODING_SPARSE; e++) {
        test_there_and_back((enum gg_vector_encoding)e, false);
        test_there_and_back((enum gg_vector_encoding)e, true);
        test_cut((enum gg_vector_encoding)e);
        test_damaged((enum gg_vector_encoding)e);
    }
    test_hostile();
    test_lengths();
    test_kinds();
    test_members();
    test_stray();
    test_writer();
    test_text();
    test_manual();
    test_begun();
    test_past();
    test_no_memory();
    return tap_done();
}
