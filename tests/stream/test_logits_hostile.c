/* test_logits_hostile.c - the logit stream: cut, damaged, hostile */
#include <zlib.h>

#include "logit_member.h"

/* Reads all of it: GG_EOF, or how it failed. */
static enum gg_status
verdict(const uint8_t *data, size_t size)
{
    int fd = pipe_holding(data, size);
    struct gg_logit_reader *reader;
    struct gg_logit_record r;
    enum gg_status st;

    must(gg_logit_reader_new(fd, "in", &reader, &err));
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
           strcmp(
               err.message,
               "in: not a logit stream: begins with "
               "\"Welcome to host\\nLast login: \\x1b[1m\\n\"; this is text, "
               "of which gg-tokenize makes token ids") == 0,
       "stray text is quoted, and cannot write to a terminal");
    is(verdict((const uint8_t *)"x", 1), GG_ERR_FORMAT, "a stray byte");
    is(verdict(unix_ends, 16), GG_ERR_FORMAT, "line ends were changed");
    ok(verdict(newer, 16) == GG_ERR_UNSUPPORTED &&
           strstr(err.message, "version 2"),
       "a later version");
}

/* ---- what a sequence held before ---- */

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

    must(gg_logit_writer_new(fd, &head, &w, &err));
    r.past = past;
    r.n_past = 5;
    must(gg_logit_write(w, &r, &err));
    r.n_past = 0;
    must(gg_logit_write(w, &r, &err));
    r.mirostat = &learnt;
    must(gg_logit_write(w, &r, &err));
    r.kind = GG_RECORD_END;
    must(gg_logit_write(w, &r, &err));
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

    must(gg_logit_reader_new(fd, "in", &reader, &err));
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

/* A member whose head says this of sampling; its record is number 1. */
static uint8_t *
member_with_sampling(const char *line, size_t *size)
{
    static const int32_t never[] = { 1 };
    struct gg_logit_head head = {
        .n_vocab = 4, .suppressed = never, .n_suppressed = 1, .sampling = line
    };
    struct gg_logit_record end = { .kind = GG_RECORD_END };
    int fd = pipe_holding("", 0);
    struct gg_logit_writer *w;
    uint8_t *bytes;

    must(gg_logit_writer_new(fd, &head, &w, &err));
    must(gg_logit_write(w, &end, &err));
    gg_logit_writer_free(w);
    bytes = pipe_contents(fd, size);
    close(fd);
    return bytes;
}

static void
refuse_sampling(size_t at, uint8_t value, const char *name)
{
    size_t size;
    uint8_t *data = member_with_sampling("temp=0 top_k=20", &size);
    uint8_t *samp = data + record_at(data, 2);

    samp[16 + at] = value;
    sign(samp);
    is(verdict(data, size), GG_ERR_FORMAT, name);
    free(data);
}

static void
test_sampling(void)
{
    static const char line[] = "temp=0 top_k=20";
    struct gg_logit_head bad = { .n_vocab = 4, .sampling = "a\nb" };
    struct gg_logit_writer *w;
    struct gg_logit_reader *reader;
    struct gg_logit_record r;
    size_t size;
    uint8_t *data = member_with_sampling(line, &size);
    int fd = pipe_holding(data, size);

    must(gg_logit_reader_new(fd, "in", &reader, &err));
    must(gg_logit_read(reader, &r, &err));
    ok(r.head.n_suppressed == 1 && r.head.sampling &&
           strcmp(r.head.sampling, line) == 0,
       "what a head says of sampling is there and back");
    gg_logit_reader_free(reader);
    close(fd);
    free(data);
    refuse_sampling(0, 0, "sampling: an empty line");
    refuse_sampling(0, 7, "sampling: bytes after the line");
    refuse_sampling(3, 0xff, "sampling: a huge length");
    refuse_sampling(4, 1, "sampling: no zero");
    refuse_sampling(8, '\n', "sampling: a newline");
    refuse_sampling(8, 0x80, "sampling: no ASCII");
    refuse_sampling(8, 0, "sampling: a NUL");
    is(gg_logit_writer_new(STDOUT_FILENO, &bad, &w, &err), GG_ERR_ARG,
       "a line that is none is not written");
}

int
main(void)
{
    for (int e = GG_ENCODING_F32; e <= GG_ENCODING_SPARSE; e++) {
        test_cut((enum gg_vector_encoding)e);
        test_damaged((enum gg_vector_encoding)e);
    }
    test_hostile();
    test_lengths();
    test_kinds();
    test_members();
    test_stray();
    test_past();
    test_sampling();
    return tap_done();
}
