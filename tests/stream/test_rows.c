/* test_rows.c - the rows stream: there and back, cut, damaged, hostile */
#include "core/mem.h"
#include "fixtures/logit_stream.h"
#include "fixtures/rows_stream.h"
#include "harness/tap.h"
#include "stream_pipe.h"

static struct gg_error err;

static void
must(enum gg_status st)
{
    if (st != GG_OK)
        abort();
}

static uint8_t *
rows_member(size_t *size)
{
    int fd = pipe_holding("", 0);
    uint8_t *data;

    rows_stream_write(fd);
    data = pipe_contents(fd, size);
    close(fd);
    return data;
}

/* ---- there and back ---- */

static bool
same_text(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

static bool
same_piece(const struct gg_piece *a, const struct gg_piece *b)
{
    return a->kind == b->kind && same_text(a->text, b->text) &&
           a->first == b->first && a->n == b->n &&
           a->n_positions == b->n_positions && a->width == b->width &&
           a->height == b->height && a->block == b->block;
}

static bool
same_numbers(const void *a, const void *b, size_t n)
{
    return !a || !b ? a == b : memcmp(a, b, 4 * n) == 0;
}

static bool
same_rows(const struct gg_media_rows *a, const struct gg_media_rows *b)
{
    const struct gg_medium *m = &a->medium, *o = &b->medium;
    bool same = a->kind == b->kind && a->n_pieces == b->n_pieces &&
                m->n == o->n && m->width == o->width &&
                m->n_deeper == o->n_deeper &&
                memcmp(m->hash, o->hash, GG_MEDIUM_HASH) == 0;

    for (size_t i = 0; same && i < a->n_pieces; i++)
        same = same_piece(&a->pieces[i], &b->pieces[i]);
    return same && same_numbers(m->rows, o->rows, m->n * m->width) &&
           same_numbers(m->deeper, o->deeper, m->n_deeper * m->n * m->width) &&
           same_numbers(m->positions, o->positions, 3 * m->n) &&
           same_numbers(m->blocks, o->blocks, m->n);
}

static bool
same_rows_head(const struct gg_rows_head *a, const struct gg_rows_head *b)
{
    return a->first == b->first && a->width == b->width &&
           a->n_deeper == b->n_deeper &&
           memcmp(a->projector, b->projector, GG_MEDIUM_HASH) == 0 &&
           strcmp(a->writer, b->writer) == 0;
}

static void
expect_member(struct gg_rows_reader *reader)
{
    struct gg_media_rows image = rows_stream_image();
    struct gg_media_rows sound = rows_stream_noise();
    struct gg_rows_head head = rows_stream_head();
    struct gg_rows_record r;

    ok(gg_rows_read(reader, &r, &err) == GG_OK && r.kind == GG_ROWS_HEAD &&
           same_rows_head(&r.head, &head),
       "head");
    ok(gg_rows_read(reader, &r, &err) == GG_OK && r.kind == GG_ROWS_MEDIUM &&
           same_rows(r.rows, &image) && same_rows_head(&r.head, &head),
       "an image with all that a medium can have");
    ok(gg_rows_read(reader, &r, &err) == GG_OK && r.kind == GG_ROWS_ERROR &&
           strcmp(r.message, "went wrong") == 0,
       "a medium that failed");
    ok(gg_rows_read(reader, &r, &err) == GG_OK && r.kind == GG_ROWS_MEDIUM &&
           same_rows(r.rows, &sound),
       "a sound of rows alone");
    ok(gg_rows_read(reader, &r, &err) == GG_OK && r.kind == GG_ROWS_END, "end");
}

/* Twice, as `cat` joins streams. */
static void
test_rows_back(bool dripping)
{
    struct gg_rows_reader *reader;
    struct gg_rows_record r;
    size_t size;
    uint8_t *data = rows_member(&size);
    int fd;

    is(size % 8, 0, "all of it is a multiple of 8");
    data = realloc(data, 2 * size);
    memcpy(data + size, data, size);
    fd =
        dripping ? pipe_dripping(data, 2 * size) : pipe_holding(data, 2 * size);
    must(gg_rows_reader_new(fd, "in", &reader, &err));
    expect_member(reader);
    expect_member(reader);
    is(gg_rows_read(reader, &r, &err), GG_EOF, "nothing more");
    gg_rows_reader_free(reader);
    close(fd);
    free(data);
}

/* ---- what is refused ---- */

static enum gg_status
rows_verdict(const uint8_t *data, size_t size)
{
    int fd = pipe_holding(data, size);
    struct gg_rows_reader *reader;
    struct gg_rows_record r;
    enum gg_status st;

    must(gg_rows_reader_new(fd, "in", &reader, &err));
    while ((st = gg_rows_read(reader, &r, &err)) == GG_OK)
        ;
    gg_rows_reader_free(reader);
    close(fd);
    return st;
}

static void
test_rows_cut(void)
{
    size_t size, wrong = 0;
    uint8_t *data = rows_member(&size);

    for (size_t n = 0; n < size; n++)
        if (rows_verdict(data, n) != GG_ERR_TRUNCATED) {
            printf("# cut after %zu: %s\n", n, err.message);
            wrong++;
        }
    ok(wrong == 0 && rows_verdict(data, size) == GG_EOF, "cut after any byte");
    free(data);
}

static void
test_rows_damaged(void)
{
    size_t size, wrong = 0;
    uint8_t *data = rows_member(&size);

    for (size_t i = 0; i < size; i++)
        for (int bit = 1; bit < 256; bit *= 2) {
            data[i] ^= (uint8_t)bit;
            wrong += rows_verdict(data, size) == GG_EOF;
            data[i] ^= (uint8_t)bit;
        }
    is(wrong, 0, "each flipped bit is noticed");
    free(data);
}

/* Where record `n` begins, the head being 0. */
static size_t
rows_record_at(const uint8_t *data, int n)
{
    size_t at = 16;

    while (n--) {
        uint64_t length;

        memcpy(&length, data + at + 8, 8);
        at += 16 + (size_t)length;
    }
    return at;
}

/* Puts a number into a payload of record `n`, rightly signed. */
static void
refuses(int n, size_t at, uint32_t value, const char *name)
{
    size_t size;
    uint8_t *data = rows_member(&size);
    enum gg_status st;

    memcpy(data + rows_record_at(data, n) + 16 + at, &value, 4);
    logit_stream_sign(data, size);
    st = rows_verdict(data, size);
    ok(st == GG_ERR_FORMAT || st == GG_ERR_UNSUPPORTED, name);
    if (st == GG_EOF || st == GG_ERR_NOMEM)
        printf("# status %d\n", st);
    free(data);
}

/* Offsets in the image's payload: 56 to its pieces, 5 of these of 32 bytes,
 * texts of 16, rows of 60 and deeper rows of 60, padded. */
enum {
    PIECES = 56,
    TEXTS = PIECES + 5 * 32,
    VALUES = TEXTS + 16,
    POSITIONS = VALUES + 2 * 64,
    BLOCKS = POSITIONS + 64,
};

static void
test_rows_heads(void)
{
    refuses(0, 32, 0, "head: rows begin at id 0");
    refuses(0, 32, 0xffffffff, "head: at id -1");
    refuses(0, 32, 0x7fffffff, "head: where no room is left");
    refuses(0, 36, 0, "head: no width");
    refuses(0, 36, 0xffffffff, "head: a huge width");
    refuses(0, 36, 4, "head: another width than the rows have");
    refuses(0, 40, 0xffffffff, "head: huge count of deeper rows");
    refuses(0, 40, 0, "head: fewer deeper rows than there are");
    refuses(0, 44, 0xffffffff, "head: huge writer");
    refuses(0, 44, 0, "head: bytes that are nothing");
    refuses(0, 48, 0, "head: NUL in the writer");
    refuses(2, 8, 0xffffffff, "error: huge message");
    refuses(2, 0, 1, "error: reserved bytes");
    refuses(2, 12, 1, "error: more of them");
    refuses(2, 16, 0, "error: NUL in the message");
    refuses(4, 0, 4, "end: not the number of records");
}

static void
test_rows_media(void)
{
    refuses(1, 32, 2, "medium: unknown kind");
    refuses(1, 36, 0, "medium: no pieces");
    refuses(1, 36, 0xffffffff, "medium: huge count of pieces");
    refuses(1, 40, 0, "medium: no rows");
    refuses(1, 40, 0xffffffff, "medium: huge count of rows");
    refuses(1, 40, 4, "medium: fewer rows than bytes");
    refuses(1, 44, 4, "medium: unknown flag");
    refuses(1, 44, 1, "medium: blocks that it says it has not");
    refuses(1, 44, 2, "medium: positions, too");
    refuses(1, 48, 0xffffffff, "medium: huge texts");
    refuses(1, 48, 15, "medium: texts shorter than their pieces");
    refuses(1, 48, 17, "medium: longer ones");
    refuses(1, 52, 1, "medium: reserved bytes");
    refuses(1, VALUES, 0x7fc00000, "rows: NaN");
    refuses(1, VALUES + 64, 0x7f800000, "deeper rows: infinity");
    refuses(1, POSITIONS, 0xffffffff, "position -1");
    refuses(1, POSITIONS, 0x7fffffff, "a huge position");
    refuses(1, POSITIONS, 9, "not the position that the piece says");
    refuses(1, BLOCKS, 0xfffffffe, "block -2");
    refuses(1, BLOCKS, 1, "a block of two numbers");
}

static void
test_rows_pieces(void)
{
    refuses(1, PIECES, 4, "piece: unknown kind");
    refuses(1, PIECES, 2, "piece: text in a run of rows");
    refuses(1, PIECES + 4, 0, "piece: a marker without text");
    refuses(1, PIECES + 4, 0xffffffff, "piece: huge text");
    refuses(1, PIECES + 12, 1, "piece: a marker with rows");
    refuses(1, PIECES + 32 + 4, 1, "piece: rows with text");
    refuses(1, PIECES + 32 + 8, 1, "piece: rows that begin late");
    refuses(1, PIECES + 32 + 12, 2, "piece: rows in none");
    refuses(1, PIECES + 32 + 12, 0xffffffff, "piece: huge count of rows");
    refuses(1, PIECES + 32 + 16, 0xffffffff, "piece: positions -1");
    refuses(1, PIECES + 32 + 28, 0, "piece: a block that is none");
    refuses(1, PIECES + 32 + 28, 2, "piece: unknown flag");
    refuses(1, TEXTS, 0x41004141, "piece: NUL in its text");
}

/* Two members for different models. */
static void
test_rows_other_head(void)
{
    size_t size;
    uint8_t *data = rows_member(&size);

    data = realloc(data, 2 * size);
    memcpy(data + size, data, size);
    data[size + 16 + 16 + 32] ^= 1;
    logit_stream_sign(data + size, size);
    is(rows_verdict(data, 2 * size), GG_ERR_FORMAT,
       "a member for another model");
    memcpy(data + size, data, size);
    data[size + 16 + 16] ^= 1;
    logit_stream_sign(data + size, size);
    is(rows_verdict(data, 2 * size), GG_ERR_FORMAT,
       "a member of another projector");
    free(data);
}

static void
test_rows_kinds(void)
{
    size_t size;
    uint8_t *data = rows_member(&size);

    memcpy(data + rows_record_at(data, 2), "fail", 4);
    logit_stream_sign(data, size);
    is(rows_verdict(data, size), GG_EOF, "an optional kind is skipped");
    memcpy(data + rows_record_at(data, 2), "FALL", 4);
    logit_stream_sign(data, size);
    is(rows_verdict(data, size), GG_ERR_FORMAT, "another one is refused");
    data[8] = 2;
    is(rows_verdict(data, size), GG_ERR_UNSUPPORTED, "a later version");
    is(rows_verdict((const uint8_t *)"1 2\n", 4), GG_ERR_FORMAT, "ids");
    ok(strstr(err.message, "token ids") != NULL, "which the message says");
    free(data);
}

/* A length of terabytes is refused before a byte of it is waited for. */
static void
test_rows_lengths(void)
{
    static const uint64_t lengths[] = { UINT64_MAX, UINT64_MAX - 7,
                                        (uint64_t)1 << 60, 33, 0 };
    size_t size;
    int wrong = 0;

    for (int n = 0; n < 5; n++)
        for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
            uint8_t *data = rows_member(&size);

            memcpy(data + rows_record_at(data, n) + 8, &lengths[i], 8);
            wrong += rows_verdict(data, size) != GG_ERR_FORMAT;
            free(data);
        }
    is(wrong, 0, "wrong lengths");
}

/* ---- what is not written ---- */

static void
not_written(const struct gg_media_rows *rows, const char *name)
{
    struct gg_rows_record r = { .kind = GG_ROWS_MEDIUM, .rows = rows };
    struct gg_rows_head head = rows_stream_head();
    int fd = pipe_holding("", 0);
    struct gg_rows_writer *w;
    size_t before, after;

    must(gg_rows_writer_new(fd, &head, &w, &err));
    free(pipe_contents(fd, &before));
    is(gg_rows_write(w, &r, &err), GG_ERR_ARG, name);
    free(pipe_contents(fd, &after));
    is(after, before, "and nothing is written");
    gg_rows_writer_free(w);
    close(fd);
}

static void
test_rows_writer(void)
{
    struct gg_rows_record r = { .kind = GG_ROWS_HEAD };
    struct gg_rows_head head = rows_stream_head();
    struct gg_media_rows rows = rows_stream_image();
    float values[ROWS_IMAGE * ROWS_WIDTH] = { 0 };
    int fd = pipe_holding("", 0);
    struct gg_rows_writer *w;

    not_written(NULL, "no medium");
    rows.medium.width = 2;
    not_written(&rows, "another width");
    rows = rows_stream_image();
    rows.n_pieces = 3;
    not_written(&rows, "rows in no piece");
    rows = rows_stream_image();
    rows.medium.blocks = NULL;
    not_written(&rows, "blocks of pieces alone");
    rows = rows_stream_image();
    values[7] = 1.0f / values[0];
    rows.medium.rows = values;
    not_written(&rows, "infinity");
    must(gg_rows_writer_new(fd, &head, &w, &err));
    is(gg_rows_write(w, &r, &err), GG_ERR_ARG, "a second head");
    gg_rows_writer_free(w);
    head.width = 0;
    is(gg_rows_writer_new(fd, &head, &w, &err), GG_ERR_ARG, "a wrong head");
    close(fd);
}

static void
test_rows_named(void)
{
    size_t size;
    uint8_t *data = rows_member(&size);
    bool is_text = true;
    const char *kind = gg_stream_kind(data, size, &is_text);

    ok(kind && strstr(kind, "rows of images") && !is_text, "its kind is known");
    free(data);
}

static void
test_rows_no_memory(void)
{
    struct gg_rows_head head = rows_stream_head();
    struct gg_media_rows image = rows_stream_image();
    struct gg_rows_record medium = { .kind = GG_ROWS_MEDIUM, .rows = &image };
    int failed = 0, wrong = 0;
    size_t size;
    uint8_t *data = rows_member(&size);

    for (long n = 0; n < 40; n++) {
        int fd = pipe_holding(data, size);
        struct gg_rows_reader *reader = NULL;
        struct gg_rows_writer *writer = NULL;
        struct gg_rows_record r;
        enum gg_status st;

        mem_fail_after(n);
        st = gg_rows_reader_new(fd, "in", &reader, &err);
        while (st == GG_OK)
            st = gg_rows_read(reader, &r, &err);
        failed += st == GG_ERR_NOMEM;
        wrong += st != GG_ERR_NOMEM && st != GG_EOF;
        gg_rows_reader_free(reader);
        mem_fail_after(n);
        st = gg_rows_writer_new(fd, &head, &writer, &err);
        if (st == GG_OK)
            st = gg_rows_write(writer, &medium, &err);
        wrong += st != GG_ERR_NOMEM && st != GG_OK;
        gg_rows_writer_free(writer);
        mem_fail_after(-1);
        close(fd);
    }
    ok(wrong == 0 && failed > 5 && failed < 40, "each allocation may fail");
    free(data);
}

int
main(void)
{
    test_rows_back(false);
    test_rows_back(true);
    test_rows_cut();
    test_rows_damaged();
    test_rows_heads();
    test_rows_media();
    test_rows_pieces();
    test_rows_other_head();
    test_rows_kinds();
    test_rows_lengths();
    test_rows_writer();
    test_rows_named();
    test_rows_no_memory();
    return tap_done();
}
