/* fuzz_logits.c - what gg-logits reads: whatever the form, sound records or a
 * word, and what was read can be written as a logit stream */
#include <config.h>

#include <gg-stream.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/npy.h"
#include "fuzz.h"

#include "gg-logits/record_source.h"

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
    struct record_source *s = NULL;
    struct gg_error err = { "" };
    enum gg_status st = record_source_open(&s, fd, "in", &err);
    size_t n = 0;

    while (st == GG_OK && (st = record_source_read(s, &r, &err)) == GG_OK) {
        check_record(&r);
        if (deep && r.head.n_vocab < 4096)
            copy(&w, out, &r);
        n++;
    }
    check(st == GG_EOF || err.message[0]);
    record_source_close(s);
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

/* An array of halves, or of floats with a header of version 2. */
static uint8_t *
make_array(bool floats, size_t *size)
{
    static const uint16_t halves[] = { 0x3c00, 0, 0x4000, 0xfc00, 0x1, 0x7bff };
    static const float values[] = { 1, -2.5F, INFINITY, 1e38F, 0, NAN };
    uint64_t shape[] = { 2, 3 };
    char head[NPY_HEADER];
    size_t n = npy_header(head, floats ? "<f4" : "<f2", shape, 2);
    size_t bytes = floats ? sizeof(values) : sizeof(halves), extra = floats * 2;
    uint8_t *data = malloc(n + extra + bytes);

    check(data != NULL);
    memcpy(data, head, 10);
    data[6] = floats ? 2 : 1;
    memset(data + 10, 0, extra);
    memcpy(data + 10 + extra, head + 10, n - 10);
    memcpy(data + n + extra, floats ? (const void *)values : halves, bytes);
    *size = n + extra + bytes;
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
    return i - n < 2 ? make_array(i - n, size) : NULL;
}
