/* line_rows.c - the line of a token stream that names media */
#include "stream/line_rows.h"

#include <string.h>

#include "core/check.h"
#include "core/escape.h"
#include "core/mem.h"
#include "stream/io.h"

enum {
    HASH = GG_MEDIUM_HASH,
    DIGITS = 2 * HASH,
};

static const char word[] = "#rows";

void
stream_rows_clear(struct line_rows *r)
{
    mem_free(r->hashes);
    *r = (struct line_rows){ 0 };
}

bool
stream_rows_begins(const char *s, size_t len)
{
    size_t n = sizeof(word) - 1;

    return len >= n && memcmp(s, word, n) == 0 && (len == n || s[n] == ' ');
}

static int
digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
read_hash(const char *s, size_t len, uint8_t *hash)
{
    if (len != DIGITS)
        return false;
    for (size_t i = 0; i < HASH; i++) {
        int high = digit_of(s[2 * i]), low = digit_of(s[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        hash[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* The i-th medium of the line. */
static enum gg_status
check_medium(const struct line_rows *r, size_t i, const char *s, size_t len,
             struct gg_error *err)
{
    uint8_t hash[HASH];
    char shown[80];

    escape_bytes(shown, sizeof(shown), s, len);
    if (!read_hash(s, len, hash))
        return error_set(err, GG_ERR_FORMAT, "\"%s\" is no SHA-256 of a medium",
                         shown);
    if (r->any)
        return GG_OK;
    if (i >= r->n)
        return error_set(err, GG_ERR_FORMAT,
                         "medium %zu, %s, is not given: there are %zu", i + 1,
                         shown, r->n);
    if (memcmp(hash, r->hashes + i * HASH, HASH) != 0)
        return error_set(err, GG_ERR_FORMAT,
                         "medium %zu is %s, and another one is given", i + 1,
                         shown);
    return GG_OK;
}

enum gg_status
stream_rows_read(struct line_rows *r, const char *s, size_t len,
                 struct gg_error *err)
{
    const char *end = s + len;
    enum gg_status st = GG_OK;
    size_t n = 0;

    if (!r->taken)
        return error_set(err, GG_ERR_FORMAT,
                         "the ids have rows of images or sounds among them "
                         "(#rows), which are not taken here");
    for (s += sizeof(word) - 1; st == GG_OK;) {
        const char *begin;

        while (s < end && *s == ' ')
            s++;
        begin = s;
        while (s < end && *s != ' ')
            s++;
        if (s == begin)
            break;
        st = check_medium(r, n++, begin, (size_t)(s - begin), err);
    }
    if (st == GG_OK && !r->any && n < r->n)
        return error_set(err, GG_ERR_FORMAT,
                         "%zu media are named, and %zu given", n, r->n);
    r->named = st == GG_OK;
    return st;
}

size_t
stream_rows_stray(const struct line_rows *r, const int32_t *ids, size_t n)
{
    size_t i = 0;

    if (!r->taken || r->named)
        return n;
    while (i < n && ids[i] < r->first)
        i++;
    return i;
}

/* ---- writing ------------------------------------------------------------- */

static char *
put_hash(char *p, const uint8_t *hash)
{
    static const char digits[] = "0123456789abcdef";

    *p++ = ' ';
    for (size_t i = 0; i < HASH; i++) {
        *p++ = digits[hash[i] >> 4];
        *p++ = digits[hash[i] & 15];
    }
    return p;
}

enum gg_status
gg_line_write_rows(int fd, const uint8_t *hashes, size_t n,
                   struct gg_error *err)
{
    size_t size;
    struct iovec part;
    enum gg_status st;
    char *text, *p;

    if (!hashes && n)
        return error_null(err);
    if (!check_mul(n, DIGITS + 1, &size) ||
        !check_add(size, sizeof(word), &size))
        return error_nomem(err);
    text = mem_alloc(size);
    if (!text)
        return error_nomem(err);
    memcpy(text, word, sizeof(word) - 1);
    p = text + sizeof(word) - 1;
    for (size_t i = 0; i < n; i++)
        p = put_hash(p, hashes + i * HASH);
    *p++ = '\n';
    part = (struct iovec){ text, (size_t)(p - text) };
    st = stream_write(fd, &part, 1, err);
    mem_free(text);
    return st;
}
