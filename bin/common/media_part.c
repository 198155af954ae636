/* media_part.c - the bytes that a part of a message names
 *
 * Text of a message is written by anybody. It names bytes within itself, or a
 * file of the folder that the user has named for that. */
#include <config.h>

#include "common/media_part.h"

#include <string.h>
#include <strings.h>

#include "common/base64.h"
#include "common/media_folder.h"

enum {
    SHOWN = 80, /* bytes of a URL in messages */
};

/* ---- texts --------------------------------------------------------------- */

/* The text after the prefix, in capitals or not; NULL: it is not there. */
static const char *
after_prefix(const struct media_part *p, const char *prefix)
{
    size_t n = strlen(prefix);

    return p->len >= n && strncasecmp(p->text, prefix, n) == 0 ? p->text + n
                                                               : NULL;
}

/* Whether it begins as "scheme://", by RFC 3986. */
static bool
has_scheme(const char *text, size_t len)
{
    size_t n = 0;

    while (n < len && (((text[n] | 32) >= 'a' && (text[n] | 32) <= 'z') ||
                       (n && ((text[n] >= '0' && text[n] <= '9') ||
                              memchr("+-.", text[n], 3)))))
        n++;
    return n && len - n >= 3 && memcmp(text + n, "://", 3) == 0;
}

static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Adds a text in which %41 stands for "A". False: it is none. */
static bool
add_unescaped(const char *text, size_t n, struct buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        int high = -1, low = -1;

        if (text[i] != '%') {
            buffer_char(out, text[i]);
            continue;
        }
        if (n - i > 2) {
            high = hex_digit(text[i + 1]);
            low = hex_digit(text[i + 2]);
        }
        if (high < 0 || low < 0)
            return false;
        buffer_char(out, (char)(high << 4 | low));
        i += 2;
    }
    return true;
}

/* ---- data: URLs ---------------------------------------------------------- */

static bool
ends_with_base64(const char *text, size_t n)
{
    static const char end[] = ";base64";
    size_t m = sizeof(end) - 1;

    return n >= m && strncasecmp(text + n - m, end, m) == 0;
}

/* Bytes in base64, of which some may be escaped. */
static bool
add_base64(const char *text, size_t n, struct buffer *out)
{
    struct buffer plain = { 0 };
    bool good;

    if (n == 0 || !memchr(text, '%', n))
        return base64_add(text, n, out);
    good =
        add_unescaped(text, n, &plain) && base64_add(plain.p, plain.len, out);
    buffer_clear(&plain);
    return good;
}

/* The text after "data:" is text[0..n): RFC 2397. */
static enum gg_status
add_data(const char *text, size_t n, struct buffer *out, struct gg_error *err)
{
    const char *comma = n ? memchr(text, ',', n) : NULL;
    size_t head = comma ? (size_t)(comma - text) : 0;
    bool base64 = ends_with_base64(text, head);
    bool good;

    if (!comma)
        return cli_error(err, GG_ERR_FORMAT, "a data: URL without a comma");
    good = base64 ? add_base64(comma + 1, n - head - 1, out)
                  : add_unescaped(comma + 1, n - head - 1, out);
    if (!good)
        return cli_error(err, GG_ERR_FORMAT, "a data: URL that is no %s",
                         base64 ? "base64" : "escaped text");
    return GG_OK;
}

/* ---- files --------------------------------------------------------------- */

static enum gg_status
add_named(const char *name, size_t n, const char *folder, struct buffer *out,
          struct gg_error *err)
{
    char *copy;
    enum gg_status st;

    if (n && memchr(name, '\0', n))
        return cli_error(err, GG_ERR_FORMAT, "a name of a file with NUL in it");
    copy = cli_copy(name, n);
    if (folder)
        st = media_folder_read(folder, copy, MEDIA_PART_MOST, out, err);
    else
        st = cli_error(err, GG_ERR_ARG,
                       "%.200s: no file is opened for a message without "
                       "--media-dir, which names its folder",
                       copy);
    free(copy);
    return st;
}

/* The name after "file:". One that is relative may stand after slashes, as
 * other programs have it: file://cat.png. */
static enum gg_status
add_file_url(const char *text, size_t n, const char *folder, struct buffer *out,
             struct gg_error *err)
{
    static const char here[] = "//localhost";
    size_t skipped = 0;
    struct buffer name = { 0 };
    enum gg_status st;

    if (n >= sizeof(here) - 1 && strncasecmp(text, here, sizeof(here) - 1) == 0)
        skipped = sizeof(here) - 1;
    else if (n > 1 && memcmp(text, "//", 2) == 0)
        skipped = 2;
    if (add_unescaped(text + skipped, n - skipped, &name))
        st = add_named(name.p, name.len, folder, out, err);
    else
        st = cli_error(err, GG_ERR_FORMAT, "a file: URL with a bad escape");
    buffer_clear(&name);
    return st;
}

static enum gg_status
refuse_url(const struct media_part *p, struct gg_error *err)
{
    char shown[4 * SHOWN + 1];

    gg_escape(shown, sizeof(shown), p->text, p->len < SHOWN ? p->len : SHOWN);
    return cli_error(err, GG_ERR_UNSUPPORTED,
                     "no URL is fetched: %s%s (bytes come in a data: URL, or "
                     "in a file below --media-dir)",
                     shown, p->len > SHOWN ? "..." : "");
}

static enum gg_status
add_located(const struct media_part *p, const char *folder, struct buffer *out,
            struct gg_error *err)
{
    const char *end = p->text + p->len, *rest;

    if ((rest = after_prefix(p, "data:")))
        return add_data(rest, (size_t)(end - rest), out, err);
    if ((rest = after_prefix(p, "file:")))
        return add_file_url(rest, (size_t)(end - rest), folder, out, err);
    if (has_scheme(p->text, p->len))
        return refuse_url(p, err);
    return add_named(p->text, p->len, folder, out, err);
}

enum gg_status
media_part_bytes(const struct media_part *part, const char *folder,
                 struct buffer *out, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (!part->base64)
        st = add_located(part, folder, out, err);
    else if (!base64_add(part->text, part->len, out))
        st = cli_error(err, GG_ERR_FORMAT, "data that is no base64");
    if (st == GG_OK && out->len == 0)
        st = cli_error(err, GG_ERR_FORMAT, "no bytes");
    if (st == GG_OK && out->len > MEDIA_PART_MOST)
        st = cli_error(err, GG_ERR_FORMAT, "more than %d MiB",
                       MEDIA_PART_MOST >> 20);
    return st;
}
