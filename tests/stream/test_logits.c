/* test_logits.c - the logit stream: there and back */
#include "core/half.h"
#include "core/mem.h"
#include "logit_member.h"

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

/* The part of a logit that is kept: all of it, or what half precision has. */
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
    must(gg_logit_reader_new(fd, "in", &reader, &err));
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

/* Ids that are never drawn come with the head, and with each record; a head
 * that follows has its own. */
static void
test_suppressed(void)
{
    static const int32_t never[] = { 0, 3, 4 };
    struct gg_logit_head head = head_of(GG_ENCODING_F32, false);
    struct gg_logit_record end = { .kind = GG_RECORD_END }, r = { 0 };
    struct gg_logit_reader *reader;
    struct gg_logit_writer *w;
    int fd = pipe_holding("", 0);
    uint8_t *bytes;
    size_t size;
    bool right;

    for (size_t n = 4; n-- > 2;) {
        head.suppressed = never;
        head.n_suppressed = n % 3 ? 0 : n;
        must(gg_logit_writer_new(fd, &head, &w, &err));
        must(gg_logit_write(w, &end, &err));
        gg_logit_writer_free(w);
    }
    bytes = pipe_contents(fd, &size);
    close(fd);
    fd = pipe_holding(bytes, size);
    must(gg_logit_reader_new(fd, "suppressed", &reader, &err));
    must(gg_logit_read(reader, &r, &err));
    right = r.kind == GG_RECORD_HEAD && r.head.n_suppressed == 3 &&
            memcmp(r.head.suppressed, never, sizeof(never)) == 0;
    must(gg_logit_read(reader, &r, &err));
    ok(right && r.kind == GG_RECORD_END && r.head.n_suppressed == 3,
       "suppressed ids are there and back");
    must(gg_logit_read(reader, &r, &err));
    right = r.kind == GG_RECORD_HEAD && r.head.n_suppressed == 0;
    must(gg_logit_read(reader, &r, &err));
    ok(right && gg_logit_read(reader, &r, &err) == GG_EOF,
       "the next head has none");
    gg_logit_reader_free(reader);
    free(bytes);
    close(fd);
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

    must(gg_logit_writer_new(fd, &head, &w, &err));
    must(gg_logit_write(w, &r, &err));
    r.kind = GG_RECORD_END;
    must(gg_logit_write(w, &r, &err));
    got = pipe_contents(fd, &size);
    ok(n == size && memcmp(got, want, n) == 0, "the manual's member");
    free(got);
    gg_logit_writer_free(w);
    close(fd);
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

int
main(void)
{
    for (int e = GG_ENCODING_F32; e <= GG_ENCODING_SPARSE; e++) {
        test_there_and_back((enum gg_vector_encoding)e, false);
        test_there_and_back((enum gg_vector_encoding)e, true);
    }
    test_begun();
    test_writer();
    test_suppressed();
    test_manual();
    test_no_memory();
    return tap_done();
}
