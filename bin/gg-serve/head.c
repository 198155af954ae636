/* head.c - the head of a request, byte by byte */
#include <config.h>

#include "gg-serve/head.h"

#include <string.h>
#include <strings.h>

static void
refuse_head(struct head *h, int status, const char *why)
{
    h->at = HEAD_BAD;
    h->status = status;
    h->why = why;
}

static bool
is_decimal(unsigned char c)
{
    return c >= '0' && c <= '9';
}

/* A byte of a field's name: `tchar` of RFC 9110. */
static bool
is_token(unsigned char c)
{
    return c && (is_decimal(c) || (c >= 'a' && c <= 'z') ||
                 (c >= 'A' && c <= 'Z') || strchr("!#$%&'*+-.^_`|~", c));
}

static bool
is_space_in_head(unsigned char c)
{
    return c == ' ' || c == '\t';
}

/* ---- fields -------------------------------------------------------------- */

static bool
name_is(const struct head *h, const char *name)
{
    return h->n_name == strlen(name) &&
           strncasecmp(h->name, name, h->n_name) == 0;
}

/* The name is complete. */
static void
begin_value(struct head *h)
{
    h->in_value = true;
    h->is_length = name_is(h, "content-length");
    h->is_host = name_is(h, "host");
    if (h->n_name == 0)
        refuse_head(h, 400, "a field has no name");
    else if (name_is(h, "transfer-encoding"))
        refuse_head(h, 411, "a body comes with its Content-Length");
    else if (h->is_length && h->had_length)
        refuse_head(h, 400, "there are two lengths");
    else if (h->is_host && h->had_host)
        refuse_head(h, 400, "there are two Hosts");
    h->had_length |= h->is_length;
    h->had_host |= h->is_host;
}

/* A decimal number, with blanks around it alone. */
static void
take_length(struct head *h, unsigned char c)
{
    if (is_space_in_head(c)) {
        h->ended_digits = h->had_digit;
    } else if (!is_decimal(c) || h->ended_digits) {
        refuse_head(h, 400, "the length is no number");
    } else if (h->length > UINT64_MAX / 10 - 1) {
        refuse_head(h, 413, "the body is too long");
    } else {
        h->length = h->length * 10 + (c - '0');
        h->had_digit = true;
    }
}

static void
take_name(struct head *h, unsigned char c)
{
    if (c == ':')
        begin_value(h);
    else if (h->n_name == 0 && is_space_in_head(c))
        refuse_head(h, 400, "a line is folded");
    else if (!is_token(c))
        refuse_head(h, 400, "a field's name has a byte that no name has");
    else if (h->n_name == HEAD_MAX_NAME)
        refuse_head(h, 431, "a field's name is too long");
    else
        h->name[h->n_name++] = (char)c;
}

/* ---- lines --------------------------------------------------------------- */

static void
end_head(struct head *h, uint64_t max_body)
{
    if (h->length > max_body)
        refuse_head(h, 413, "the body is too long");
    h->body = h->length;
    if (h->at != HEAD_BAD)
        h->at = HEAD_BODY;
}

static void
end_line(struct head *h, uint64_t max_body)
{
    h->had_cr = false;
    if (h->n_line == 0) {
        end_head(h, max_body);
        return;
    }
    if (h->n_lines > 0 && !h->in_value)
        refuse_head(h, 400, "a line has no colon");
    else if (h->is_length && !h->had_digit)
        refuse_head(h, 400, "the length is no number");
    else if (++h->n_lines > HEAD_MAX_LINES + 1)
        refuse_head(h, 431, "there are too many lines");
    h->n_line = h->n_name = 0;
    h->in_value = h->is_length = h->is_host = false;
}

static void
take_byte_of_line(struct head *h, unsigned char c)
{
    if (++h->n_line > HEAD_MAX_LINE)
        refuse_head(h, 431, "a line is too long");
    else if ((c < ' ' && c != '\t') || c == 0x7f)
        refuse_head(h, 400, "the head has a control character");
    else if (h->n_lines == 0)
        return; /* the request line: the library reads it */
    else if (!h->in_value)
        take_name(h, c);
    else if (h->is_length)
        take_length(h, c);
}

static void
take_byte(struct head *h, unsigned char c, uint64_t max_body)
{
    if (h->at == HEAD_IDLE)
        h->at = HEAD_LINES;
    if (++h->n_bytes > HEAD_MAX_BYTES)
        refuse_head(h, 431, "the head is too long");
    else if (h->had_cr && c != '\n')
        refuse_head(h, 400, "CR stands without LF");
    else if (c == '\r')
        h->had_cr = true;
    else if (c == '\n' && !h->had_cr)
        refuse_head(h, 400, "a line ends with LF alone");
    else if (c == '\n' && h->n_line == 0 && h->n_lines == 0)
        refuse_head(h, 400, "the request line is empty");
    else if (c == '\n')
        end_line(h, max_body);
    else
        take_byte_of_line(h, c);
}

size_t
head_take(struct head *h, const char *bytes, size_t n, uint64_t max_body)
{
    size_t i = 0;

    while (i < n && (h->at == HEAD_IDLE || h->at == HEAD_LINES))
        take_byte(h, (unsigned char)bytes[i++], max_body);
    if (h->at == HEAD_BODY) {
        size_t m = n - i < h->body ? n - i : (size_t)h->body;

        h->body -= m;
        i += m;
    }
    return i;
}
