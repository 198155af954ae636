/* fuzz_logits.c - what gg-logits reads: whatever the form, sound records or a
 * word, and what was read can be written as a logit stream */
#include <config.h>

#include <gg-stream.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "fuzz.h"
#include "gg-logits/npy.h"
#include "gg-logits/source.h"

const char fuzz_name[] = "logits";
const char cli_name[] = "fuzz_logits";

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

    check(fd >= 0 && write(fd, data, size) == (ssize_t)size &&
          lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

static void
check_record(const struct gg_logit_record *r)
{
    check(r->head.n_vocab > 0 && r->head.writer);
    for (size_t i = 0; i < r->n_ids; i++)
        check(r->ids[i] >= 0);
    for (size_t i = 0; i < r->n_logits && r->logit_ids; i++)
        check((uint32_t)r->logit_ids[i] < r->head.n_vocab);
    check(r->kind != GG_RECORD_LOGITS || r->logit_ids ||
          r->n_logits == r->head.n_vocab);
    check(r->kind != GG_RECORD_ERROR || r->message);
}

static void
copy(struct gg_logit_writer **w, int fd, const struct gg_logit_record *r)
{
    struct gg_error err;

    if (r->kind == GG_RECORD_HEAD) {
        gg_logit_writer_free(*w);
        *w = NULL;
        check(gg_logit_writer_new(fd, &r->head, w, &err) == GG_OK);
    } else {
        check(gg_logit_write(*w, r, &err) == GG_OK);
    }
}

/* The name must be in what is said. */
static void
read_all(int fd, bool deep)
{
    int out = deep ? file_of("", 0) : -1;
    struct gg_logit_writer *w = NULL;
    struct gg_logit_record r;
    struct source *s = NULL;
    struct gg_error err = { "" };
    enum gg_status st = source_open(&s, fd, "in", &err);
    size_t n = 0;

    while (st == GG_OK && (st = source_read(s, &r, &err)) == GG_OK) {
        check_record(&r);
        if (deep && r.head.n_vocab < 4096)
            copy(&w, out, &r);
        n++;
    }
    check(st == GG_EOF || err.message[0]);
    source_close(s);
    gg_logit_writer_free(w);
    if (deep) {
        lseek(out, 0, SEEK_SET);
        if (st == GG_EOF && n > 0 && r.head.n_vocab < 4096)
            read_all(out, false);
        close(out);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = file_of(data, size);

    read_all(fd, true);
    close(fd);
    return 0;
}

/* ---- the corpus ---- */

static const char *const texts[] = {
    "head\tlogits\t3\t0123456789abcdef\tf32\tnumbered\t2\tgg\\x01\n\n"
    "record\t7\t1\t5 6\n0\t1\n2\t-inf\n1\t2.5\n\nfailed\t8\tbad\\n\n\n"
    "closed\t7\n\nend\n\n",
    "head\tlogits\t3\t0123456789abcdef\tsparse\t-\t\t\n\n"
    "record\t-\t1\t\t1.5\n2\t0\n\nend\n",
    "head\tembeddings\t2\t0000000000000000\tf16\t-\t\tx\n"
    "record\t-\t9\t1\n0\t1\n1\tnan\n\nend\n",
    "{\"head\":{\"kind\":\"logits\",\"n_vocab\":3,\"fingerprint\":"
    "\"0123456789abcdef\",\"encoding\":\"f32\",\"numbered\":true,"
    "\"eog\":[2],\"writer\":\"x\"}}\n"
    "{\"sequence\":7,\"position\":1,\"ids\":[4],\"logits\":[1,\"NaN\",-Infinity"
    "]}\n{\"sequence\":8,\"error\":\"b\"}\n{\"sequence\":7,\"closed\":true}\n"
    "{\"end\":true}\n",
    "{\"head\":{\"kind\":\"logits\",\"n_vocab\":3,\"fingerprint\":"
    "\"0123456789abcdef\",\"encoding\":\"sparse\",\"numbered\":false,"
    "\"eog\":[],\"writer\":\"\"}}\n"
    "{\"position\":1,\"ids\":[],\"log_sum_exp\":2,\"logit_ids\":[2,0],"
    "\"logits\":[1,null]}\n{\"end\":true}\n",
    "Welcome\n",
};

struct archive {
    uint8_t bytes[8192];
    size_t n, directory_n;
    uint8_t directory[2048];
    unsigned members;
};

static void
put(uint8_t *p, uint64_t n, unsigned bytes)
{
    memcpy(p, &n, bytes);
}

/* An array as a member, stored or deflated. */
static void
add(struct archive *a, const char *name, const char *type, int n_dims,
    uint64_t rows, uint64_t columns, const void *data, size_t size,
    bool deflated)
{
    uint8_t raw[1024], packed[1024], head[46] = "PK\3\4";
    uint64_t shape[2] = { rows, columns };
    size_t len = strlen(name), n = NPY_HEADER + size;
    uLongf out = n;
    z_stream z = { 0 };

    npy_header((char *)raw, type, shape, n_dims);
    memcpy(raw + NPY_HEADER, data, size);
    memcpy(packed, raw, n);
    if (deflated) {
        check(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, 0) == Z_OK);
        z.next_in = raw;
        z.avail_in = (uInt)n;
        z.next_out = packed;
        z.avail_out = sizeof(packed);
        check(deflate(&z, Z_FINISH) == Z_STREAM_END);
        out = z.total_out;
        deflateEnd(&z);
    }
    put(head + 8, deflated ? 8 : 0, 2);
    put(head + 14, crc32(0, raw, (uInt)n), 4);
    put(head + 18, out, 4);
    put(head + 22, n, 4);
    put(head + 26, len, 2);
    memcpy(a->bytes + a->n, head, 30);
    memcpy(a->bytes + a->n + 30, name, len);
    memcpy(a->bytes + a->n + 30 + len, packed, out);
    memmove(head + 6, head + 4, 26);
    memcpy(head, "PK\1\2", 4);
    put(head + 32, 0, 8);
    put(head + 40, 0, 2);
    put(head + 42, a->n, 4);
    memcpy(a->directory + a->directory_n, head, 46);
    memcpy(a->directory + a->directory_n + 46, name, len);
    a->directory_n += 46 + len;
    a->n += 30 + len + out;
    a->members++;
}

static uint8_t *
finish(struct archive *a, size_t *size)
{
    uint8_t end[22] = "PK\5\6", *data;

    put(end + 8, a->members, 2);
    put(end + 10, a->members, 2);
    put(end + 12, a->directory_n, 4);
    put(end + 16, a->n, 4);
    memcpy(a->bytes + a->n, a->directory, a->directory_n);
    memcpy(a->bytes + a->n + a->directory_n, end, sizeof(end));
    *size = a->n + a->directory_n + sizeof(end);
    data = malloc(*size);
    check(data != NULL);
    return memcpy(data, a->bytes, *size);
}

static uint8_t *
make_archive(bool sparse, bool deflated, size_t *size)
{
    static const float values[] = { 1, 2, 3, 4, 5, 6 };
    static const double sums[] = { 7, 8 };
    static const uint64_t numbers[] = { 1, 2, 3, 6 };
    static const int32_t ids[] = { 0, 2, 1, 2, 1, 0 };
    static const uint8_t letters[] = { 1, 2, 'b' };
    struct archive a = { .n = 0 };

    add(&a, "logits.npy", "<f4", sparse ? 1 : 2, sparse ? 6 : 2, 3, values,
        sizeof(values), deflated);
    if (sparse) {
        uint64_t ends[] = { 3, 6 };

        add(&a, "logit_ids.npy", "<i4", 1, 6, 0, ids, sizeof(ids), deflated);
        add(&a, "logits_end.npy", "<u8", 1, 2, 0, ends, 16, false);
        add(&a, "log_sum_exp.npy", "<f8", 1, 2, 0, sums, 16, deflated);
        add(&a, "n_vocab.npy", "<u8", 0, 0, 0, &numbers[2], 8, false);
    }
    add(&a, "numbered.npy", "|b1", 0, 0, 0, letters, 1, false);
    add(&a, "sequence.npy", "<u8", 1, 2, 0, numbers, 16, deflated);
    add(&a, "position.npy", "<u8", 1, 2, 0, numbers, 16, false);
    add(&a, "ids.npy", "<i4", 1, 2, 0, ids, 8, false);
    add(&a, "ids_end.npy", "<u8", 1, 2, 0, numbers, 16, deflated);
    add(&a, "event_row.npy", "<u8", 1, 2, 0, numbers, 16, deflated);
    add(&a, "event_kind.npy", "|u1", 1, 2, 0, letters, 2, false);
    add(&a, "event_sequence.npy", "<u8", 1, 2, 0, numbers, 16, deflated);
    add(&a, "event_message.npy", "|u1", 1, 1, 0, letters + 2, 1, false);
    add(&a, "event_message_end.npy", "<u8", 1, 2, 0, (const uint64_t[]){ 1, 1 },
        16, false);
    add(&a, "writer.npy", "|u1", 1, 1, 0, letters + 2, 1, false);
    return finish(&a, size);
}

/* A single array of halves. */
static uint8_t *
make_array(size_t *size)
{
    static const uint16_t halves[] = { 0x3c00, 0, 0x4000, 0xfc00, 0x1, 0x7bff };
    uint64_t shape[] = { 2, 3 };
    uint8_t *data = malloc(NPY_HEADER + sizeof(halves));

    check(data != NULL);
    npy_header((char *)data, "<f2", shape, 2);
    memcpy(data + NPY_HEADER, halves, sizeof(halves));
    *size = NPY_HEADER + sizeof(halves);
    return data;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    size_t n = sizeof(texts) / sizeof(texts[0]);

    if (i < n) {
        *size = strlen(texts[i]);
        return memcpy(malloc(*size), texts[i], *size);
    }
    i -= n;
    if (i < 4)
        return make_archive(i & 1, i & 2, size);
    return i == 4 ? make_array(size) : NULL;
}
