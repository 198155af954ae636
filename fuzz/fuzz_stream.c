/* fuzz_stream.c - token, logit and rows streams: whatever comes in, a word at
 * most; what is accepted can be written, and is the same when it is read again
 *
 * The first byte says what the rest is: lines, a logit stream or its text, a
 * rows stream, or one of these whose CRCs are made right before it is read. */
#define _GNU_SOURCE
#include <gg-stream.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "fixtures/logit_stream.h"
#include "fixtures/rows_stream.h"
#include "fuzz.h"

const char fuzz_name[] = "stream";

enum {
    LINES = 'l',
    LOGITS = 'v',
    SIGNED = 's',
    ROWS = 'r',
    ROWS_SIGNED = 'R',
};

static struct gg_error err;

static void
check(bool right)
{
    if (!right)
        abort();
}

static int
file_of(const void *data, size_t size)
{
    int fd = memfd_create("fuzz", 0);

    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    check(lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* Must be as it may be used: readable to its end. */
static uint64_t
sum_of(uint64_t sum, const void *data, size_t size)
{
    return sum * 31 + (size ? crc32(1, data, (uInt)size) : 0);
}

/* ---- lines ---- */

/* A sum over all that is read from fd; writes it to `copy` as well. */
static uint64_t
read_lines(int fd, int copy)
{
    struct gg_line_reader *r;
    struct gg_line line;
    uint64_t sum = 1;

    check(gg_line_reader_new(fd, "in", &r, &err) == GG_OK);
    err.message[0] = '\0';
    while (gg_line_read(r, &line, &err) == GG_OK) {
        sum = sum * 31 + (uint64_t)line.kind + line.numbered * 7u;
        sum = sum * 31 + line.sequence;
        if (line.kind == GG_LINE_IDS)
            sum = sum_of(sum, line.ids, 4 * line.n_ids);
        if (line.kind == GG_LINE_ERROR)
            sum = sum * 31 + strlen(line.message);
        for (size_t i = 0; line.kind == GG_LINE_IDS && i < line.n_ids; i++)
            check(line.ids[i] >= 0);
        check(copy < 0 || gg_line_write(copy, &line, &err) == GG_OK);
    }
    gg_line_reader_free(r);
    return sum;
}

/* ---- logits ---- */

static uint64_t
sum_of_record(uint64_t sum, const struct gg_logit_record *r)
{
    sum = sum * 31 + (uint64_t)r->kind;
    sum = sum * 31 + r->sequence + 17 * r->position;
    sum = sum_of(sum, r->ids, 4 * r->n_ids);
    sum = sum_of(sum, r->logit_ids, r->logit_ids ? 4 * r->n_logits : 0);
    for (size_t i = 0; i < r->n_logits; i++) /* a NaN may change its bits */
        sum = sum * 31 + (isnan(r->logits[i]) ? 1 : isinf(r->logits[i]));
    if (r->kind == GG_RECORD_ERROR)
        sum = sum * 31 + strlen(r->message);
    sum = sum_of(sum, r->head.eog_ids, 4 * r->head.n_eog);
    sum = sum_of(sum, r->head.suppressed, 4 * r->head.n_suppressed);
    return sum * 31 + r->head.n_vocab + strlen(r->head.writer);
}

static void
copy_record(int copy, struct gg_logit_writer **w,
            const struct gg_logit_record *r)
{
    if (copy < 0 || r->head.n_vocab == 0) /* text has no head to write */
        return;
    if (r->kind == GG_RECORD_HEAD) {
        gg_logit_writer_free(*w);
        *w = NULL;
        check(gg_logit_writer_new(copy, &r->head, w, &err) == GG_OK);
    } else {
        check(gg_logit_write(*w, r, &err) == GG_OK);
    }
}

static uint64_t
read_logits(int fd, int copy)
{
    struct gg_logit_writer *w = NULL;
    struct gg_logit_reader *r;
    struct gg_logit_record record;
    uint64_t sum = 1;

    check(gg_logit_reader_new(fd, "in", &r, &err) == GG_OK);
    err.message[0] = '\0';
    while (gg_logit_read(r, &record, &err) == GG_OK) {
        sum = sum_of_record(sum, &record);
        for (size_t i = 0; record.logit_ids && i < record.n_logits; i++)
            check(record.logit_ids[i] >= 0);
        copy_record(copy, &w, &record);
    }
    gg_logit_reader_free(r);
    gg_logit_writer_free(w);
    return sum;
}

/* ---- rows ---- */

static uint64_t
sum_of_rows(uint64_t sum, const struct gg_media_rows *rows)
{
    const struct gg_medium *m = &rows->medium;
    size_t n = m->n * m->width;

    sum = sum_of(sum * 31 + (uint64_t)rows->kind, m->hash, GG_MEDIUM_HASH);
    sum = sum_of(sum, m->rows, 4 * n);
    sum = sum_of(sum, m->deeper, 4 * n * m->n_deeper);
    sum = sum_of(sum, m->positions, m->positions ? 12 * m->n : 0);
    sum = sum_of(sum, m->blocks, m->blocks ? 4 * m->n : 0);
    for (size_t i = 0; i < rows->n_pieces; i++) {
        const struct gg_piece *p = &rows->pieces[i];

        sum = sum_of(sum, p->text, p->text ? strlen(p->text) : 0);
        sum = sum * 31 + p->n + 7 * p->first + p->width + 3 * p->height;
        check(p->kind != GG_PIECE_ROWS || p->first + p->n <= m->n);
    }
    return sum;
}

static void
copy_rows(int copy, struct gg_rows_writer **w, const struct gg_rows_record *r)
{
    if (copy < 0)
        return;
    if (r->kind == GG_ROWS_HEAD) {
        gg_rows_writer_free(*w);
        *w = NULL;
        check(gg_rows_writer_new(copy, &r->head, w, &err) == GG_OK);
    } else {
        check(gg_rows_write(*w, r, &err) == GG_OK);
    }
}

static uint64_t
read_rows(int fd, int copy)
{
    struct gg_rows_writer *w = NULL;
    struct gg_rows_reader *r;
    struct gg_rows_record record;
    uint64_t sum = 1;

    check(gg_rows_reader_new(fd, "in", &r, &err) == GG_OK);
    err.message[0] = '\0';
    while (gg_rows_read(r, &record, &err) == GG_OK) {
        sum = sum * 31 + (uint64_t)record.kind + strlen(record.head.writer);
        if (record.kind == GG_ROWS_MEDIUM)
            sum = sum_of_rows(sum, record.rows);
        if (record.kind == GG_ROWS_ERROR)
            sum = sum * 31 + strlen(record.message);
        copy_rows(copy, &w, &record);
    }
    gg_rows_reader_free(r);
    gg_rows_writer_free(w);
    return sum;
}

static uint64_t
read_stream(uint8_t kind, int fd, int copy)
{
    if (kind == LINES)
        return read_lines(fd, copy);
    if (kind == ROWS || kind == ROWS_SIGNED)
        return read_rows(fd, copy);
    return read_logits(fd, copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *input = malloc(size + 1);
    int fd, copy;
    uint64_t sum;

    check(input != NULL);
    if (size > 0) {
        memcpy(input, data + 1, size - 1);
        if (data[0] == SIGNED || data[0] == ROWS_SIGNED)
            logit_stream_sign(input, size - 1);
        fd = file_of(input, size - 1);
        copy = file_of("", 0);
        sum = read_stream(data[0], fd, copy);
        lseek(fd, 0, SEEK_SET);
        lseek(copy, 0, SEEK_SET);
        if (data[0] == LINES)
            check(read_lines(copy, -1) == sum);
        else if (lseek(copy, 0, SEEK_END) > 0 && lseek(copy, 0, SEEK_SET) == 0)
            check(read_stream(data[0], copy, -1) == sum);
        close(fd);
        close(copy);
    }
    free(input);
    return 0;
}

/* ---- the corpus ---- */

static const char *const texts[] = {
    "l1 2 3\n4\n!bad\n\n 5  6\n",
    "l7\t1 2\n8\t\n7\t!bad\n7\t3",
    "v-\t5\t1\t11\t-0.25\t,\n-\t5\t2\t67\t-1e1\t\\n\n\n-\t!no\n",
    "v3\t5\t1\t11\t-inf\n\n4\t1\t1\t2\t0\tx\ty\n\n",
    "vWelcome\n",
};

static uint8_t *
contents(int fd, uint8_t first, size_t *size)
{
    off_t end = lseek(fd, 0, SEEK_END);
    uint8_t *data = malloc((size_t)end + 1);

    check(end >= 0 && data && pread(fd, data + 1, (size_t)end, 0) == end);
    data[0] = first;
    *size = (size_t)end + 1;
    close(fd);
    return data;
}

static void
write_member(int fd, enum gg_vector_encoding encoding)
{
    enum gg_record_kind kinds[GG_RECORD_END - GG_RECORD_LOGITS + 1];
    size_t n = 0;

    for (int kind = GG_RECORD_LOGITS; kind <= GG_RECORD_END; kind++)
        kinds[n++] = (enum gg_record_kind)kind;
    logit_stream_write(fd, true, encoding, kinds, n);
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    size_t n = sizeof(texts) / sizeof(texts[0]);
    int fd;

    if (i < n) {
        *size = strlen(texts[i]);
        return memcpy(malloc(*size), texts[i], *size);
    }
    i -= n;
    if (i >= 10)
        return NULL;
    fd = file_of("", 0);
    if (i >= 8) {
        rows_stream_write(fd);
        return contents(fd, i % 2 ? ROWS_SIGNED : ROWS, size);
    }
    write_member(fd, (enum gg_vector_encoding)(i / 2 % 3));
    if (i >= 6)
        write_member(fd, GG_ENCODING_F16);
    return contents(fd, i % 2 ? SIGNED : LOGITS, size);
}
