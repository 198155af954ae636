/* npz_write.c - records as an array of numpy, or an archive of such
 *
 * Headers of arrays, and with them the sizes, are known at the end only: each
 * array is gathered in a file without a name, deflated already where that is
 * wanted, and the archive is then written from front to back, so that it can
 * go through a pipe. Sizes have 64 bits throughout. */
#include <config.h>

#include "gg-logits/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <ggml.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/cli.h"
#include "common/npy.h"
#include "common/outside.h"

#include "gg-logits/npz.h"
#include "gg-logits/record_source.h"

enum {
    PART = 1 << 16,
    LOCAL = 30,
    ENTRY = 46,
    EXTRA = 28, /* of an entry: sizes and place; in front of it just sizes */
    STORED = 5, /* bytes in front of a stored block of deflate */
};

/* An array that grows. */
struct column {
    const char *name; /* "logits" */
    const char *type;
    FILE *file;
    uint64_t count, raw, packed; /* elements, bytes, bytes deflated */
    uint32_t crc;
    bool deflated;
    z_stream stream;
    int n_dims;
    uint64_t shape[2];
    size_t head; /* bytes of its header */
    uint64_t at; /* in the archive */
};

struct npz_writer {
    bool archive;
    int level;
    bool begun;
    struct gg_logit_head head; /* its numbers; pointers are not kept */
    uint64_t rows, values, ids, letters;
    struct column columns[NPZ_N];
};

CLI_NORETURN static void
die(const char *what)
{
    cli_die("%s: %s", what, strerror(errno));
}

/* ---- columns ---- */

const char *
npz_scratch_folder(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && *dir ? dir : "/tmp";
}

static void
start_column(struct column *c, int i, const char *type, int level)
{
    int fd = outside_do(OUTSIDE_MAKE_SCRATCH, npz_scratch_folder(), 0);

    *c = (struct column){ .name = npz_arrays[i].name,
                          .type = type ? type : npz_arrays[i].type,
                          .n_dims = npz_arrays[i].scalar ? 0 : 1 };
    c->file = fd < 0 ? NULL : fdopen(fd, "w+b");
    if (!c->file)
        die("a temporary file");
    if (level == 0)
        return;
    if (deflateInit2(&c->stream, level, Z_DEFLATED, -MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        cli_die("out of memory");
    c->deflated = true;
}

static void
store_column(struct column *c, const void *data, size_t n)
{
    if (fwrite(data, 1, n, c->file) != n)
        die("a temporary file");
    c->packed += n;
}

static void
pack(struct column *c, const void *data, size_t n, int flush)
{
    uint8_t out[PART / 8];

    c->stream.next_in = (Bytef *)data;
    c->stream.avail_in = (uInt)n;
    do {
        c->stream.next_out = out;
        c->stream.avail_out = sizeof(out);
        deflate(&c->stream, flush);
        store_column(c, out, sizeof(out) - c->stream.avail_out);
    } while (c->stream.avail_out == 0);
}

static void
add_elements(struct column *c, const void *data, size_t count)
{
    size_t size = (size_t)(c->type[2] - '0'), n = count * size;
    const uint8_t *p = data;

    c->count += count;
    c->raw += n;
    while (n > 0) {
        size_t part = n < PART ? n : PART;

        c->crc = (uint32_t)crc32(c->crc, p, (uInt)part);
        if (c->deflated)
            pack(c, p, part, Z_NO_FLUSH);
        else
            store_column(c, p, part);
        p += part;
        n -= part;
    }
}

static void
add_u64(struct npz_writer *w, int column, uint64_t n)
{
    add_elements(&w->columns[column], &n, 1);
}

static void
add_u8(struct npz_writer *w, int column, unsigned n)
{
    uint8_t byte = (uint8_t)n;

    add_elements(&w->columns[column], &byte, 1);
}

/* ---- records ---- */

static bool
is_sparse(const struct npz_writer *w)
{
    return w->head.encoding == GG_ENCODING_SPARSE;
}

/* Arrays of sparse records are there where records are sparse. */
static bool
has_column(const struct npz_writer *w, int i)
{
    if (!w->archive)
        return i == NPZ_LOGITS;
    return is_sparse(w) ||
           (i != NPZ_LOGIT_IDS && i != NPZ_LOGITS_END && i != NPZ_LOG_SUM_EXP);
}

static void
put_head(struct npz_writer *w, const struct gg_logit_head *h)
{
    const char *type = h->encoding == GG_ENCODING_F16 ? "<f2" : "<f4";

    if (w->begun && w->archive)
        cli_die("another head follows: an archive holds one");
    if (w->begun &&
        (h->n_vocab != w->head.n_vocab || h->encoding != w->head.encoding))
        cli_die("another head follows, with vectors of another kind");
    if (!w->archive && h->encoding == GG_ENCODING_SPARSE)
        cli_die("sparse vectors make no array: --to npz has room for them");
    w->head = *h;
    if (w->begun)
        return;
    w->begun = true;
    for (int i = 0; i < NPZ_N; i++)
        if (has_column(w, i))
            start_column(&w->columns[i], i, i == NPZ_LOGITS ? type : NULL,
                         w->level);
    if (!w->archive)
        return;
    add_elements(&w->columns[NPZ_N_VOCAB], &h->n_vocab, 1);
    add_u64(w, NPZ_FINGERPRINT, h->fingerprint);
    add_u8(w, NPZ_KIND, h->kind);
    add_u8(w, NPZ_NUMBERED, h->numbered);
    add_elements(&w->columns[NPZ_EOG], h->eog_ids, h->n_eog);
    add_elements(&w->columns[NPZ_WRITER], h->writer, strlen(h->writer));
}

/* As the stream has them: a number beyond the largest becomes that, and not
 * infinite. */
static void
add_halves(struct column *c, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float y = x[i] > 65504 && !isinf(x[i])    ? 65504
                  : x[i] < -65504 && !isinf(x[i]) ? -65504
                                                  : x[i];
        ggml_fp16_t half = ggml_fp32_to_fp16(y);

        add_elements(c, &half, 1);
    }
}

static void
put_row(struct npz_writer *w, const struct gg_logit_record *r)
{
    w->rows++;
    w->values += r->n_logits;
    w->ids += r->n_ids;
    if (w->head.encoding == GG_ENCODING_F16)
        add_halves(&w->columns[NPZ_LOGITS], r->logits, r->n_logits);
    else
        add_elements(&w->columns[NPZ_LOGITS], r->logits, r->n_logits);
    if (!w->archive)
        return;
    add_u64(w, NPZ_SEQUENCE, r->sequence);
    add_u64(w, NPZ_POSITION, r->position);
    add_elements(&w->columns[NPZ_IDS], r->ids, r->n_ids);
    add_u64(w, NPZ_IDS_END, w->ids);
    if (is_sparse(w)) {
        add_elements(&w->columns[NPZ_LOGIT_IDS], r->logit_ids, r->n_logits);
        add_u64(w, NPZ_LOGITS_END, w->values);
        add_elements(&w->columns[NPZ_LOG_SUM_EXP], &r->log_sum_exp, 1);
    }
}

static void
put_event(struct npz_writer *w, const struct gg_logit_record *r)
{
    bool failed = r->kind == GG_RECORD_ERROR;
    size_t len = failed ? strlen(r->message) : 0;

    if (!w->archive) {
        if (failed)
            cli_warn("row %llu is missing: %s", (unsigned long long)w->rows + 1,
                     r->message);
        return;
    }
    w->letters += len;
    add_u64(w, NPZ_EVENT_ROW, w->rows);
    add_u8(w, NPZ_EVENT_KIND, failed ? 1 : 2);
    add_u64(w, NPZ_EVENT_SEQUENCE, r->sequence);
    add_elements(&w->columns[NPZ_EVENT_MESSAGE], r->message, len);
    add_u64(w, NPZ_EVENT_MESSAGE_END, w->letters);
}

struct npz_writer *
npz_writer_new(bool archive, int level)
{
    struct npz_writer *w = cli_alloc(NULL, 1, sizeof(*w));

    memset(w, 0, sizeof(*w));
    w->archive = archive;
    w->level = archive ? level : 0;
    return w;
}

void
npz_writer_put(struct npz_writer *w, const struct gg_logit_record *record)
{
    switch (record->kind) {
    case GG_RECORD_HEAD:
        put_head(w, &record->head);
        break;
    case GG_RECORD_LOGITS:
        put_row(w, record);
        break;
    case GG_RECORD_ERROR:
    case GG_RECORD_CLOSE:
        put_event(w, record);
        break;
    case GG_RECORD_END:
        break;
    }
}

/* ---- the file ---- */

struct archive {
    uint64_t at; /* bytes written */
};

static void
out(struct archive *a, const void *data, size_t n)
{
    fwrite(data, 1, n, stdout); /* checked at the end */
    a->at += n;
}

static void
set(uint8_t *p, uint64_t n, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        p[i] = (uint8_t)(n >> 8 * i);
}

static void
copy_column(struct archive *a, struct column *c)
{
    uint8_t *bytes = cli_alloc(NULL, PART, 1);
    size_t n;

    if (fflush(c->file) || fseek(c->file, 0, SEEK_SET))
        die("a temporary file");
    while ((n = fread(bytes, 1, PART, c->file)) > 0)
        out(a, bytes, n);
    if (ferror(c->file))
        die("a temporary file");
    free(bytes);
}

static void
describe(struct column *c, char header[NPY_HEADER])
{
    if (c->n_dims < 2)
        c->shape[0] = c->count;
    c->head = npy_header(header, c->type, c->shape, c->n_dims);
}

/* Header and data together: their sizes and CRC. */
static void
measure_column(struct column *c, const char header[NPY_HEADER])
{
    if (c->deflated)
        pack(c, NULL, 0, Z_FINISH);
    c->crc =
        (uint32_t)crc32_combine(crc32(0, (const Bytef *)header, (uInt)c->head),
                                c->crc, (z_off_t)c->raw);
    c->raw += c->head;
    c->packed += c->head + (c->deflated ? STORED : 0);
}

/* Sets the fields common to local header and directory, from version to the
 * length of the name. */
static void
set_common(uint8_t *p, const struct column *c)
{
    set(p, 45, 2); /* the version that has sizes of 64 bits */
    set(p + 2, 0, 2);
    set(p + 4, c->deflated ? 8 : 0, 2);
    set(p + 6, 0x00210000, 4); /* the first of January 1980, midnight */
    set(p + 10, c->crc, 4);
    set(p + 14, 0xffffffff, 4);
    set(p + 18, 0xffffffff, 4);
    set(p + 22, strlen(c->name) + 4, 2);
}

static void
set_extra(uint8_t *p, const struct column *c, unsigned size)
{
    set(p, 1, 2);
    set(p + 2, size, 2);
    set(p + 4, c->raw, 8);
    set(p + 12, c->packed, 8);
}

static void
put_member(struct archive *a, struct column *c)
{
    uint8_t local[LOCAL] = "PK\3\4", extra[EXTRA - 8];
    uint8_t block[STORED] = { 0 };
    char header[NPY_HEADER];

    describe(c, header);
    measure_column(c, header);
    set(block + 1, c->head, 2);
    set(block + 3, ~c->head, 2);
    c->at = a->at;
    set_common(local + 4, c);
    set(local + 28, sizeof(extra), 2);
    set_extra(extra, c, 16);
    out(a, local, sizeof(local));
    out(a, c->name, strlen(c->name));
    out(a, ".npy", 4);
    out(a, extra, sizeof(extra));
    if (c->deflated)
        out(a, block, sizeof(block));
    out(a, header, c->head);
    copy_column(a, c);
}

static void
put_entry(struct archive *a, const struct column *c)
{
    uint8_t entry[ENTRY] = "PK\1\2", extra[EXTRA];

    set(entry + 4, 45, 2);
    set_common(entry + 6, c);
    set(entry + 30, sizeof(extra), 2);
    set(entry + 42, 0xffffffff, 4);
    set_extra(extra, c, 24);
    set(extra + 20, c->at, 8);
    out(a, entry, sizeof(entry));
    out(a, c->name, strlen(c->name));
    out(a, ".npy", 4);
    out(a, extra, sizeof(extra));
}

static void
put_end(struct archive *a, uint64_t n, uint64_t directory)
{
    uint8_t end_64[56] = "PK\6\6", locator[20] = "PK\6\7", end[22] = "PK\5\6";
    uint64_t size = a->at - directory, end_at = a->at;

    set(end_64 + 4, sizeof(end_64) - 12, 8);
    set(end_64 + 12, 45, 2);
    set(end_64 + 14, 45, 2);
    set(end_64 + 24, n, 8);
    set(end_64 + 32, n, 8);
    set(end_64 + 40, size, 8);
    set(end_64 + 48, directory, 8);
    set(locator + 8, end_at, 8);
    set(locator + 16, 1, 4);
    set(end + 8, 0xffff, 2);
    set(end + 10, 0xffff, 2);
    set(end + 12, 0xffffffff, 4);
    set(end + 16, 0xffffffff, 4);
    out(a, end_64, sizeof(end_64));
    out(a, locator, sizeof(locator));
    out(a, end, sizeof(end));
}

void
npz_writer_finish(struct npz_writer *w)
{
    struct column *logits = &w->columns[NPZ_LOGITS];
    struct archive a = { 0 };
    uint64_t n = 0, directory;
    char header[NPY_HEADER];

    if (!is_sparse(w)) {
        logits->n_dims = 2;
        logits->shape[0] = w->rows;
        logits->shape[1] = w->head.n_vocab;
    }
    if (!w->archive) {
        describe(logits, header);
        out(&a, header, logits->head);
        copy_column(&a, logits);
        return;
    }
    for (int i = 0; i < NPZ_N; i++)
        if (has_column(w, i))
            put_member(&a, &w->columns[i]);
    directory = a.at;
    for (int i = 0; i < NPZ_N; i++)
        if (has_column(w, i)) {
            put_entry(&a, &w->columns[i]);
            n++;
        }
    put_end(&a, n, directory);
}

void
npz_writer_free(struct npz_writer *w)
{
    for (int i = 0; w && i < NPZ_N; i++) {
        struct column *c = &w->columns[i];

        if (c->file)
            fclose(c->file);
        if (c->deflated)
            deflateEnd(&c->stream);
    }
    free(w);
}
