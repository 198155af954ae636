/* record.c - records of binary streams: kind, CRC, length, payload */
#include <config.h>

#include "stream/record.h"

#include <string.h>

#include "core/crc32.h"
#include "core/escape.h"
#include "core/mem.h"
#include "core/order.h"

/* ---- Writing ------------------------------------------------------------- */

void
stream_record_begin(struct stream_record *r, uint32_t kind)
{
    r->kind = kind;
    r->length = 0;
    r->n = 1;
    r->n_copies = 0;
    r->no_memory = false;
}

void
stream_record_add(struct stream_record *r, const void *data, size_t size)
{
    if (size == 0)
        return;
    r->parts[r->n++] = (struct iovec){ (void *)data, size };
    r->length += size;
}

void
stream_record_numbers(struct stream_record *r, const void *data, size_t n,
                      size_t size)
{
    void *copy;

    if (!CORE_BIG_ENDIAN || n == 0) {
        stream_record_add(r, data, n * size);
        return;
    }
    copy = mem_dup(data, n * size);
    r->copies[r->n_copies++] = copy;
    if (copy)
        core_le_array(copy, n, size);
    r->no_memory = r->no_memory || !copy;
    stream_record_add(r, copy, n * size);
}

void
stream_record_pad(struct stream_record *r)
{
    static const uint8_t zero[8];

    stream_record_add(
        r, zero, stream_format_padded((size_t)r->length) - (size_t)r->length);
}

static enum gg_status
send_parts(int fd, struct stream_record *r, struct gg_error *err)
{
    uint32_t crc = stream_format_crc(r->kind, r->length);

    for (int i = 1; i < r->n; i++)
        crc = crc32_bytes(crc, r->parts[i].iov_base, r->parts[i].iov_len);
    core_store_le32(r->header, r->kind);
    core_store_le32(r->header + 4, crc);
    core_store_le64(r->header + 8, r->length);
    r->parts[0] = (struct iovec){ r->header, FORMAT_HEADER };
    return stream_write(fd, r->parts, r->n, err);
}

enum gg_status
stream_record_send(int fd, struct stream_record *r, struct gg_error *err)
{
    enum gg_status st =
        r->no_memory ? error_nomem(err) : send_parts(fd, r, err);

    while (r->n_copies > 0)
        mem_free(r->copies[--r->n_copies]);
    return st;
}

enum gg_status
stream_record_number(int fd, uint32_t kind, uint64_t number,
                     struct gg_error *err)
{
    struct stream_record r;

    stream_record_begin(&r, kind);
    number = core_le64(number);
    stream_record_add(&r, &number, sizeof(number));
    return stream_record_send(fd, &r, err);
}

enum gg_status
stream_record_write_preamble(int fd, const char *magic, uint8_t version,
                             struct gg_error *err)
{
    uint8_t preamble[FORMAT_PREAMBLE] = { 0 };
    struct iovec part = { preamble, sizeof(preamble) };

    memcpy(preamble, magic, FORMAT_MAGIC_SIZE);
    preamble[FORMAT_MAGIC_SIZE] = version;
    return stream_write(fd, &part, 1, err);
}

/* ---- Reading ------------------------------------------------------------- */

bool
stream_record_begins(const struct stream_in *in, const char *magic)
{
    size_t n = stream_in_left(in);

    n = n < FORMAT_MAGIC_SIZE ? n : FORMAT_MAGIC_SIZE;
    return memcmp(stream_in_data(in), magic, n) == 0;
}

enum gg_status
stream_record_fill_preamble(struct stream_in *in, const char *magic,
                            struct gg_error *err)
{
    enum gg_status st = GG_OK;

    while (st == GG_OK && stream_record_begins(in, magic) && !in->at_end &&
           stream_in_left(in) < FORMAT_PREAMBLE)
        st = stream_in_fill(in, stream_in_left(in) + 1, err);
    return st;
}

enum gg_status
stream_record_preamble(struct stream_in *in, const char *what, uint64_t version,
                       struct gg_error *err)
{
    uint64_t found;

    if (stream_in_left(in) < FORMAT_PREAMBLE)
        return error_set(err, GG_ERR_TRUNCATED, "%s: cut off in its preamble",
                         in->name);
    found = core_load_le64(stream_in_data(in) + FORMAT_MAGIC_SIZE);
    if (found != version)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%s: %s of version %lu, not %d", in->name, what,
                         (unsigned long)(uint32_t)found, (int)version);
    stream_in_use(in, FORMAT_PREAMBLE);
    return GG_OK;
}

enum gg_status
stream_record_header(struct stream_in *in, uint32_t *kind, uint64_t *length,
                     struct gg_error *err)
{
    enum gg_status st = stream_in_fill(in, FORMAT_HEADER, err);

    if (st != GG_OK)
        return st;
    if (stream_in_left(in) == 0)
        return error_set(err, GG_ERR_TRUNCATED, "cut off before it");
    if (stream_in_left(in) < FORMAT_HEADER)
        return error_set(err, GG_ERR_TRUNCATED, "cut off in its middle");
    *kind = core_load_le32(stream_in_data(in));
    *length = core_load_le64(stream_in_data(in) + 8);
    return GG_OK;
}

enum gg_status
stream_record_check(uint32_t kind, uint64_t length, uint64_t shortest,
                    uint64_t longest, struct gg_error *err)
{
    uint32_t letters = core_le32(kind);
    char shown[20];

    escape_bytes(shown, sizeof(shown), (const char *)&letters, 4);
    if (longest == 0)
        return error_set(err, GG_ERR_FORMAT,
                         "damaged, or of a kind unknown here, \"%s\"", shown);
    if (length > longest || length < shortest || length % 8)
        return error_set(err, GG_ERR_FORMAT, "\"%s\" of %llu bytes", shown,
                         (unsigned long long)length);
    return GG_OK;
}

enum gg_status
stream_record_payload(struct stream_in *in, uint32_t kind, uint64_t length,
                      struct gg_error *err)
{
    enum gg_status st = stream_in_fill(in, FORMAT_HEADER + (size_t)length, err);
    const uint8_t *p;

    if (st != GG_OK)
        return st;
    if (stream_in_left(in) < FORMAT_HEADER + length)
        return error_set(err, GG_ERR_TRUNCATED, "cut off in its middle");
    p = stream_in_data(in);
    if (crc32_bytes(stream_format_crc(kind, length), p + FORMAT_HEADER,
                    (size_t)length) != core_load_le32(p + 4))
        return error_set(err, GG_ERR_FORMAT, "damaged: its CRC differs");
    return GG_OK;
}
