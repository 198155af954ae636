/* zip.c - archives of numpy: reading */
#include <config.h>

#include "gg-logits/zip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    END = 22,     /* bytes of the record at the end */
    END_64 = 56,  /* of that with 64 bits, */
    LOCATOR = 20, /* and of what tells where that is */
    ENTRY = 46,   /* of an entry in the directory, at least */
    LOCAL = 30,   /* of what stands in front of a member, at least */
    COMMENT_MAX = 65535,
    DIRECTORY_MAX = 1 << 20,
    PART = 1 << 16,
};

struct zip {
    int fd;
    const char *name;
    uint64_t size;
    uint8_t *directory;
    size_t directory_size;
    struct zip_member *members;
};

struct zip_member {
    struct zip_member *next;
    struct zip *zip;
    char *name;
    uint64_t at, packed; /* of what is left in the file */
    uint64_t left;       /* bytes not given */
    uint32_t crc, wanted;
    bool deflated;
    z_stream stream;
    uint8_t in[PART];
};

static uint64_t
number(const uint8_t *p, unsigned bytes)
{
    uint64_t n = 0;

    memcpy(&n, p, bytes);
    return n;
}

static enum gg_status
bad(const char *name, const char *why, struct gg_error *err)
{
    return fail(err, GG_ERR_FORMAT, "%s: %s", name, why);
}

static enum gg_status
read_at(struct zip *z, uint64_t at, void *out, size_t n, struct gg_error *err)
{
    uint8_t *to = out;

    if (at > z->size || n > z->size - at)
        return fail(err, GG_ERR_TRUNCATED, "%s: cut off, or no archive",
                    z->name);
    while (n > 0) {
        ssize_t got = pread(z->fd, to, n, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(err, GG_ERR_IO, "%s: %s", z->name,
                        got < 0 ? strerror(errno) : "it was cut meanwhile");
        to += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return GG_OK;
}

/* ---- the directory ---- */

/* Where the record at the end is: the last place that looks like it. */
static enum gg_status
find_end(struct zip *z, uint64_t *at, uint8_t *end, struct gg_error *err)
{
    size_t n =
        z->size < END + COMMENT_MAX ? (size_t)z->size : END + COMMENT_MAX;
    uint8_t *tail = malloc(n + 1);
    enum gg_status st;
    size_t i;

    if (!tail)
        return fail(err, GG_ERR_NOMEM, "out of memory");
    st = read_at(z, z->size - n, tail, n, err);
    for (i = n < END ? 0 : n - END + 1; st == GG_OK && i > 0; i--)
        if (memcmp(tail + i - 1, "PK\5\6", 4) == 0)
            break;
    if (st == GG_OK && i == 0)
        st = fail(err, GG_ERR_TRUNCATED,
                  "%s: cut off, or no archive: it has no directory", z->name);
    if (st == GG_OK) {
        memcpy(end, tail + i - 1, END);
        *at = z->size - n + i - 1;
    }
    free(tail);
    return st;
}

/* Size and place of the directory, of 64 bits if there is such a record. */
static enum gg_status
find_directory(struct zip *z, uint64_t *at, uint64_t *size,
               struct gg_error *err)
{
    uint8_t end[END] = { 0 }, locator[LOCATOR], wide[END_64];
    uint64_t end_at = 0;
    enum gg_status st = find_end(z, &end_at, end, err);

    if (st != GG_OK)
        return st;
    *size = number(end + 12, 4);
    *at = number(end + 16, 4);
    if (end_at < LOCATOR)
        return GG_OK;
    st = read_at(z, end_at - LOCATOR, locator, LOCATOR, err);
    if (st != GG_OK || memcmp(locator, "PK\6\7", 4))
        return st;
    st = read_at(z, number(locator + 8, 8), wide, END_64, err);
    if (st == GG_OK && memcmp(wide, "PK\6\6", 4))
        return bad(z->name, "damaged: its end", err);
    *size = number(wide + 40, 8);
    *at = number(wide + 48, 8);
    return st;
}

enum gg_status
zip_open(struct zip **out, int fd, const char *name, struct gg_error *err)
{
    struct zip *z = calloc(1, sizeof(*z));
    off_t size = lseek(fd, 0, SEEK_END);
    uint64_t at = 0, n = 0;
    enum gg_status st;

    if (!z)
        return fail(err, GG_ERR_NOMEM, "out of memory");
    z->fd = fd;
    z->name = name;
    z->size = size > 0 ? (uint64_t)size : 0;
    st = find_directory(z, &at, &n, err);
    if (st == GG_OK && n > DIRECTORY_MAX)
        st = bad(name, "its directory is too long", err);
    if (st == GG_OK && !(z->directory = malloc(n + 1)))
        st = fail(err, GG_ERR_NOMEM, "out of memory");
    if (st == GG_OK)
        st = read_at(z, at, z->directory, (size_t)n, err);
    z->directory_size = (size_t)n;
    if (st == GG_OK)
        *out = z;
    else
        zip_close(z);
    return st;
}

void
zip_close(struct zip *z)
{
    if (!z)
        return;
    while (z->members) {
        struct zip_member *m = z->members;

        z->members = m->next;
        if (m->deflated)
            inflateEnd(&m->stream);
        free(m->name);
        free(m);
    }
    free(z->directory);
    free(z);
}

/* ---- a member ---- */

/* Sizes and place that did not fit into 32 bits stand in the extra field of
 * kind 1, those that did not fit and no others. */
static bool
widen(const uint8_t *extra, size_t n, uint64_t *numbers[3])
{
    while (n >= 4) {
        size_t size = (size_t)number(extra + 2, 2);
        bool wanted = number(extra, 2) == 1;

        extra += 4;
        n -= 4;
        if (size > n)
            return false;
        for (int i = 0; wanted && i < 3; i++)
            if (*numbers[i] == 0xffffffff) {
                if (size < 8)
                    return false;
                *numbers[i] = number(extra, 8);
                extra += 8;
                size -= 8;
                n -= 8;
            }
        if (wanted)
            return true;
        extra += size;
        n -= size;
    }
    return true;
}

static enum gg_status
start(struct zip_member *m, uint64_t local, unsigned method,
      struct gg_error *err)
{
    uint8_t head[LOCAL];
    enum gg_status st = read_at(m->zip, local, head, LOCAL, err);

    if (st != GG_OK)
        return st;
    if (memcmp(head, "PK\3\4", 4))
        return bad(m->name, "damaged: it is not where it should be", err);
    m->at = local + LOCAL + number(head + 26, 2) + number(head + 28, 2);
    if (m->at > m->zip->size || m->packed > m->zip->size - m->at)
        return fail(err, GG_ERR_TRUNCATED, "%s: cut off", m->name);
    if (method == 0)
        return m->packed == m->left ? GG_OK : bad(m->name, "damaged", err);
    if (inflateInit2(&m->stream, -MAX_WBITS) != Z_OK)
        return fail(err, GG_ERR_NOMEM, "out of memory");
    m->deflated = true;
    return GG_OK;
}

/* The directory's entry at p[0..n), which is whole. */
static enum gg_status
open_entry(struct zip *z, const uint8_t *p, size_t name_size, size_t extra_size,
           struct zip_member **out, struct gg_error *err)
{
    struct zip_member *m = calloc(1, sizeof(*m));
    uint64_t local = number(p + 42, 4);
    uint64_t *numbers[3];
    size_t room = strlen(z->name) + name_size + 3;

    if (!m || !(m->name = malloc(room))) {
        free(m);
        return fail(err, GG_ERR_NOMEM, "out of memory");
    }
    snprintf(m->name, room, "%s: %.*s", z->name, (int)name_size,
             (const char *)p + ENTRY);
    m->zip = z;
    m->next = z->members;
    z->members = m;
    m->wanted = (uint32_t)number(p + 16, 4);
    m->packed = number(p + 20, 4);
    m->left = number(p + 24, 4);
    numbers[0] = &m->left;
    numbers[1] = &m->packed;
    numbers[2] = &local;
    if (!widen(p + ENTRY + name_size, extra_size, numbers))
        return bad(m->name, "damaged: its entry in the directory", err);
    if (number(p + 8, 2) & 1)
        return bad(m->name, "is encrypted", err);
    if (number(p + 10, 2) != 0 && number(p + 10, 2) != 8)
        return bad(m->name, "is neither stored nor deflated", err);
    *out = m;
    return start(m, local, (unsigned)number(p + 10, 2), err);
}

enum gg_status
zip_find(struct zip *z, const char *name, struct zip_member **out,
         struct gg_error *err)
{
    const uint8_t *p = z->directory;
    size_t n = z->directory_size;

    *out = NULL;
    while (n >= ENTRY && memcmp(p, "PK\1\2", 4) == 0) {
        size_t name_size = (size_t)number(p + 28, 2);
        size_t extra_size = (size_t)number(p + 30, 2);
        size_t all = ENTRY + name_size + extra_size + (size_t)number(p + 32, 2);

        if (all > n)
            break;
        if (name_size == strlen(name) && !memcmp(p + ENTRY, name, name_size))
            return open_entry(z, p, name_size, extra_size, out, err);
        p += all;
        n -= all;
    }
    return n > 0 ? bad(z->name, "damaged: its directory", err) : GG_OK;
}

uint64_t
zip_left(const struct zip_member *m)
{
    return m->left;
}

const char *
zip_name(const struct zip_member *m)
{
    return m->name;
}

/* More of the file into m->in; *n gets how much. */
static enum gg_status
refill(struct zip_member *m, size_t *n, struct gg_error *err)
{
    enum gg_status st;

    *n = m->packed < PART ? (size_t)m->packed : PART;
    st = read_at(m->zip, m->at, m->in, *n, err);
    m->at += *n;
    m->packed -= *n;
    return st;
}

static enum gg_status
inflate_some(struct zip_member *m, uint8_t *out, size_t n, struct gg_error *err)
{
    z_stream *s = &m->stream;
    enum gg_status st = GG_OK;

    s->next_out = out;
    s->avail_out = (uInt)n;
    while (st == GG_OK && s->avail_out > 0) {
        size_t more = 0;
        int code;

        if (s->avail_in == 0) {
            st = refill(m, &more, err);
            s->next_in = m->in;
            s->avail_in = (uInt)more;
        }
        if (st != GG_OK)
            break;
        code = inflate(s, Z_NO_FLUSH);
        if ((code != Z_OK && code != Z_STREAM_END) ||
            (code == Z_STREAM_END && s->avail_out > 0))
            st = bad(m->name, "damaged: it cannot be inflated", err);
    }
    return st;
}

enum gg_status
zip_read(void *member, void *out, size_t n, struct gg_error *err)
{
    struct zip_member *m = member;
    enum gg_status st = GG_OK;
    uint8_t *to = out;

    if (n > m->left)
        return bad(m->name, "is shorter than it says", err);
    while (st == GG_OK && n > 0) {
        size_t part = n < PART ? n : PART;

        if (m->deflated) {
            st = inflate_some(m, to, part, err);
        } else {
            st = read_at(m->zip, m->at, to, part, err);
            m->at += part;
        }
        if (st == GG_OK)
            m->crc = (uint32_t)crc32(m->crc, to, (uInt)part);
        m->left -= part;
        to += part;
        n -= part;
    }
    if (st == GG_OK && m->left == 0 && m->crc != m->wanted)
        return bad(m->name, "damaged: its CRC differs", err);
    return st;
}
